"""Results into files."""
