"""Find people's 3D joints in the stream of any depth camera, on a CPU, from depth alone."""

__version__ = "0.1.0"
