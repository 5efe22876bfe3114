"""Real empty rooms, and people composited into them."""
