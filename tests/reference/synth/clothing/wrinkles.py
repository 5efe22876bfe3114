"""Naive twin of synth/clothing/wrinkles.py: each vertex moved along its normal, by the definition, in float64."""

import math

import numpy as np


def push_out(vertices_m, normals, stand_off, waves, phases):
    out = np.zeros(np.shape(vertices_m))
    for v, vertex in enumerate(np.asarray(vertices_m, float)):
        wrinkles = [
            math.sin(2 * math.pi * (vertex @ wave + phase)) for wave, phase in zip(waves.T, phases, strict=True)
        ]
        out[v] = vertex + normals[v] * float(stand_off[v]) * (1 + sum(wrinkles) / len(wrinkles))
    return out
