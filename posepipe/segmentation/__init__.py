"""Which pixels are people: foreground, person filter, learned segmentation, head split, rotated views."""
