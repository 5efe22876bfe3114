"""Bodies: mesh, skeleton and skin; creatures."""
