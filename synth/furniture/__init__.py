"""Models of furniture: a bank of real ones, catalogues that it is built from, and things made by code."""
