"""Tree learners on tables."""
