"""What every source of frames is."""
