"""Naive twin of posepipe/joints/pose_prior.py.

The conditional Gaussian of Bishop 2006, eq. 2.81-2.82, by plain inverses.
"""

from __future__ import annotations

import numpy as np


def infer_joints(landmarks_m, found, noise_m2, mean_m, covariance_m2, translation_variance_m2):
    """Joints (J, 3) and their standard deviation an axis (J,): the root of the three axes' mean variance.

    Where the person stands is one more Gaussian unknown, added to every landmark and joint of an axis.
    """
    landmarks = len(found)
    seen = np.flatnonzero(found)
    joints = np.arange(landmarks, mean_m.shape[1])
    places, variances = np.zeros((len(joints), 3)), np.zeros((len(joints), 3))
    for axis in range(3):
        mean = mean_m[axis].astype(float)
        covariance = covariance_m2[axis].astype(float) + translation_variance_m2
        observed = covariance[np.ix_(seen, seen)] + np.diag(noise_m2[seen].astype(float))
        gain = covariance[np.ix_(joints, seen)] @ np.linalg.inv(observed)
        places[:, axis] = mean[joints] + gain @ (landmarks_m[seen, axis] - mean[seen])
        left_over = covariance[np.ix_(joints, joints)] - gain @ covariance[np.ix_(seen, joints)]
        variances[:, axis] = np.diag(left_over)
    return places, np.sqrt(variances.mean(1))


def expect_landmarks(landmarks_m, found, noise_m2, mean_m, covariance_m2, translation_variance_m2):
    """Each landmark (L, 3) and its variance (L, 3) as if it alone had not been found; 0 for those that were not."""
    landmarks = len(found)
    places, variances = np.zeros((landmarks, 3)), np.zeros((landmarks, 3))
    for own in np.flatnonzero(found):
        others = np.flatnonzero(found)
        others = others[others != own]
        for axis in range(3):
            mean, covariance = mean_m[axis].astype(float), covariance_m2[axis].astype(float)
            observed = covariance[np.ix_(others, others)] + np.diag(noise_m2[others].astype(float))
            precision = np.linalg.inv(observed)
            offset = landmarks_m[others, axis] - mean[others]
            shift = precision.sum(0) @ offset / precision.sum()
            places[own, axis] = mean[own] + shift + covariance[own, others] @ precision @ (offset - shift)
            widened = covariance[own, others] + translation_variance_m2
            gain = widened @ np.linalg.inv(observed + translation_variance_m2)
            variances[own, axis] = covariance[own, own] + translation_variance_m2 - gain @ widened
    return places, variances


def improve_choice(places_m, confidence, mean_m, covariance_m2, translation_variance_m2, ranks, passes):
    """Which proposal of each landmark: in turn the one that fits all others best, until none changes."""
    best = list(ranks)
    found = confidence.max(1) > 0
    highest = confidence.max(1)
    noise = (1 - highest) / np.maximum(highest, 0.05) * 0.03**2 + 1e-6
    for _ in range(passes):
        before = list(best)
        for row in np.flatnonzero(found):
            places = np.array([own[k] for own, k in zip(places_m, best, strict=True)])
            expected, variance = expect_landmarks(places, found, noise, mean_m, covariance_m2, translation_variance_m2)
            scores = []
            for place, c in zip(places_m[row], confidence[row], strict=True):
                distance = ((place - expected[row]) ** 2 / (variance[row] + 0.05**2)).sum()
                scores.append(np.log(c) - 0.25 * min(distance, 30) if c > 0 else -np.inf)
            best[row] = int(np.argmax(scores))
        if best == before:
            break
    return np.array(best)


def infer_joints_placed_freely(landmarks_m, found, noise_m2, mean_m, covariance_m2):
    """The same with a truly flat prior on where the person stands: the translation by generalised least squares."""
    landmarks = len(found)
    seen = np.flatnonzero(found)
    joints = np.arange(landmarks, mean_m.shape[1])
    places = np.zeros((len(joints), 3))
    for axis in range(3):
        mean, covariance = mean_m[axis].astype(float), covariance_m2[axis].astype(float)
        precision = np.linalg.inv(covariance[np.ix_(seen, seen)] + np.diag(noise_m2[seen].astype(float)))
        offset = landmarks_m[seen, axis] - mean[seen]
        shift = precision.sum(0) @ offset / precision.sum()
        places[:, axis] = mean[joints] + shift + covariance[np.ix_(joints, seen)] @ precision @ (offset - shift)
    return places
