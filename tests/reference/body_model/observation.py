"""The capsules that pixels may lie on, by a matrix product and a stable sort."""

from __future__ import annotations

import numpy as np


def sample(points_m, probabilities, part_capsules, count, choices_each, min_probability):
    """Points at even steps, shares of the surface, most probable capsules of each, and -2 log probability."""
    rows = (np.arange(count) * len(points_m)) // count
    areas = points_m[rows, 2] ** 2
    choices, costs = choose_capsules(probabilities[rows], part_capsules, choices_each, min_probability)
    return points_m[rows], areas / areas.sum(), choices, costs


def choose_capsules(probabilities, part_capsules, count, min_probability):
    """Most probable capsules of each point, and -2 log probability."""
    likely = probabilities[:, 1:].astype(float) @ part_capsules[1:]
    choices = np.argsort(-likely, axis=1, kind="stable")[:, :count]
    chosen = np.take_along_axis(likely, choices, axis=1)
    return choices, -2 * np.log(np.clip(chosen, min_probability, 1))
