"""Evaluation of models: poses, tracks and people compared with the truth."""
