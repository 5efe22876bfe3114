"""Forests from and for other programs: the tree files of the Point Cloud Library, JSON, and C."""
