"""Catalogues of furniture models, from which banks are built: Wavefront files, made coarser."""
