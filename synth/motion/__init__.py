"""Poses and motions."""
