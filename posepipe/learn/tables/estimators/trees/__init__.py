"""Single trees: ID3, C4.5, CART, and CART pruned by cross-validation."""
