"""Boosted trees on named numbers, for the stages that judge candidates and views of them."""
