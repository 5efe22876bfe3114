"""Meshes and rotations."""
