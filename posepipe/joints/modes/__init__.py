"""Modes: the densest places of weighted points and of votes, and from the surface into the body."""
