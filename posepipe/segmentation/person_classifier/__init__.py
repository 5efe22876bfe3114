"""Person classifier: a forest that judges a whole candidate by its evidence."""
