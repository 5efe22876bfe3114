"""Domain gap: sources of cut-out people compared, such as rendered ones and those of your camera."""
