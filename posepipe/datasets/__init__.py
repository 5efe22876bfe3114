"""Labelled frames: dataset folders, and frames of several in a row."""
