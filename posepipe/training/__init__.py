"""Training of a model: forest, votes, joint parameters, second pass, segmentation and person filter."""
