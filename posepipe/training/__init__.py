"""Training of a model: forest, votes, joint parameters."""
