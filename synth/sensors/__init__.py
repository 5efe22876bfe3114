"""Simulated depth cameras."""
