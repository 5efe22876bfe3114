"""A report on models as one HTML file that needs no other file and no network."""
