"""Programs that build the data files of this package."""
