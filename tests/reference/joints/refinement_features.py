"""Naive twin of posepipe/joints/refinement_features.py, person by person."""

from __future__ import annotations

import math

import numpy as np


def encode_features(joints_m, sigma_m, alternatives_m, alternatives_confidence, chosen_m, chosen_confidence, moments):
    out = []
    for joints, sigma, *proposed, parts in zip(
        joints_m, sigma_m, alternatives_m, alternatives_confidence, chosen_m, chosen_confidence, moments, strict=True
    ):
        middle = sum(joints.astype(float)) / len(joints)
        numbers = [joint - middle for joint in joints] + [math.log(min(max(s, 0.01), 1)) for s in sigma]
        for places, confidences in (proposed[:2], proposed[2:]):
            rows = zip(places.reshape(-1, 3), confidences.ravel(), strict=True)
            numbers += [place - middle if confidence > 0 else np.zeros(3) for place, confidence in rows]
            numbers += list(confidences.ravel())
        numbers.append(middle / math.dist(middle, (0, 0, 0)))
        for surface, *rest in parts.astype(float):
            centre, variances, covariances = np.split(np.array(rest), [3, 6])
            deviations = np.sqrt(np.maximum(variances, 1e-6))
            scales = [deviations[i] * deviations[j] for i, j in ((0, 1), (0, 2), (1, 2))]
            known = np.hstack([centre - middle, deviations, np.clip(covariances / scales, -1, 1)])
            numbers += [math.log(surface + 1e-3), known if surface > 0 else np.zeros(9)]
        out.append(np.hstack(numbers))
    return np.array(out)


def decode_output(answers, joints_m, mirrored_joints):
    people, n_joints = joints_m.shape[:2]
    joints, share = np.zeros(joints_m.shape), np.zeros((people, n_joints))
    for p, joint in np.ndindex(share.shape):
        fusion_terms = [(answers[p], joint, 1)]
        if len(mirrored_joints):
            fusion_terms.append((answers[people + p], mirrored_joints[joint], -1))
        for answer, own, x in fusion_terms:
            correction = answer[3 * own : 3 * own + 3] * [x, 1, 1]
            joints[p, joint] += (joints_m[p, joint] + correction) / len(fusion_terms)
            share[p, joint] += 1 / (1 + math.exp(-answer[3 * n_joints + own])) / len(fusion_terms)
    return joints, share
