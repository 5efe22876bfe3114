"""The 3D scene of the page."""
