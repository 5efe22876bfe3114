"""Results as images of labels: which person, and which part of the body, each pixel shows."""
