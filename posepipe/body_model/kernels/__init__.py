"""Kernels of the fit: where a body is, how badly it explains a person, and the steps that improve it."""
