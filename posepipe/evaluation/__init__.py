"""Evaluation of models: poses and tracks compared with the truth."""
