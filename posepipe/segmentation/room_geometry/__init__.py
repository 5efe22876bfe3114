"""Geometry of a room: its planes, the depth-connected surfaces before them, and the background behind people."""
