"""Person classifier: boosted trees that judge a whole candidate by its evidence."""
