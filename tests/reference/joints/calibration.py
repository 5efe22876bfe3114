"""Naive twin of posepipe/joints/calibration.py, number by number."""

from __future__ import annotations

import math

import numpy as np


def logistic(log_odds):
    return 1 / (1 + math.exp(-log_odds))


def log_odds(share):
    return math.log(float(share) / (1 - float(share)))


def confidence_of_mass(masses_m2, confidence):
    """1 / (1 + exp(-(offset + slope ln mass))) of every mode, 0 where there is none."""
    out = np.zeros(np.shape(masses_m2))
    for landmark, mode in np.ndindex(np.shape(masses_m2)):
        offset, slope = (float(value) for value in confidence[landmark])
        if masses_m2[landmark, mode] > 0:
            out[landmark, mode] = logistic(offset + slope * math.log(float(masses_m2[landmark, mode])))
    return out


def probability_within(sigma_m, radius_m, steps=20_000):
    """The density of the length of a 3D Gaussian error, 4 pi r^2 times the Gaussian's, summed up to the radius."""
    out = []
    for sigma in sigma_m:
        r = (np.arange(steps) + 0.5) * radius_m / steps
        density = 4 * math.pi * r**2 * np.exp(-(r**2) / (2 * sigma**2)) / (2 * math.pi * sigma**2) ** 1.5
        out.append(density.sum() * radius_m / steps)
    return np.array(out)


def calibrate(share, calibration):
    """1 / (1 + exp(-(offset + slope log-odds))) of every joint's share (N, J), with (J, 2)."""
    out = np.zeros(np.shape(share))
    for row, joint in np.ndindex(np.shape(share)):
        offset, slope = (float(value) for value in calibration[joint])
        out[row, joint] = logistic(offset + slope * log_odds(share[row, joint]))
    return out


def fusion_terms(expected, corrected, most_apart_m):
    """1, both log-odds, and these times the distance in tenths of a metre, of (N, J) joints."""
    out = []
    for row, joint in np.ndindex(np.shape(expected[1])):
        apart = min(math.dist(expected[0][row, joint], corrected[0][row, joint]), most_apart_m) / 0.1
        own = [1, log_odds(expected[1][row, joint]), log_odds(corrected[1][row, joint])]
        out.append(own + [apart * term for term in own])
    return np.reshape(out, (*np.shape(expected[1]), 6))


def fuse(weights, expected, corrected, full_margin, most_apart_m):
    """Joints between the two, by the margin of the first one's confidence, and the confidence by their fusion_terms."""
    terms = fusion_terms(expected, corrected, most_apart_m)
    joints, confidence = np.zeros(np.shape(expected[0])), np.zeros(np.shape(expected[1]))
    for row, joint in np.ndindex(confidence.shape):
        first = min(max((expected[1][row, joint] - corrected[1][row, joint]) / full_margin, 0), 1)
        joints[row, joint] = first * expected[0][row, joint] + (1 - first) * corrected[0][row, joint]
        mixed = [first * float(a) + (1 - first) * float(b) for a, b in weights[:, joint].T]
        confidence[row, joint] = logistic(sum(m * t for m, t in zip(mixed, terms[row, joint], strict=True)))
    return joints, confidence
