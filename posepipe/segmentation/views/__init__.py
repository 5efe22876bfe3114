"""Views of a candidate: the image as it is or rotated, and which of them shows the person best."""
