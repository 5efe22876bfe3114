"""What the page shows next, and how it is analysed."""
