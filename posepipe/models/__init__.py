"""Trained models: object, file, card and registry of the shipped ones."""
