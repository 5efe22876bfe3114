"""Random forests on depth differences, for body parts and joint votes."""
