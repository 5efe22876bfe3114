"""How nodes of a table are split, and rows sent down a tree."""
