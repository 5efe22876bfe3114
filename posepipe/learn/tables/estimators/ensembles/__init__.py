"""Estimators of many trees: bagging, random forests, extremely randomised trees, isolation forests."""
