"""Files: read with clear errors, replaced whole, never unpickled."""
