"""Subjects, their placement, furniture and rooms."""
