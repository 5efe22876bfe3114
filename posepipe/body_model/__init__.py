"""A body of capsules, and its fit to the pixels of a person."""
