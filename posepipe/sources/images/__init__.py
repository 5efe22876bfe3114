"""Single depth images of folders: PNG, NumPy, PGM and TIFF."""
