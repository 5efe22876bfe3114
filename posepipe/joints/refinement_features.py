"""Kernel: what the network sees of people, in numbers, and what its numbers say of their joints."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

SIGMAS_M = (0.01, 1.0)
"""Standard deviations are seen as logarithms, from a centimetre to a metre."""


@njit(cache=True)
def _add_places(places, confidence, middle, row, at):
    """Places about a middle, 0 for those of no confidence; where the next numbers go."""
    for n in range(len(confidence)):
        for axis in range(3):
            row[at + axis] = places[n, axis] - middle[axis] if confidence[n] > 0 else 0
        at += 3
    return at


@njit(cache=True)
def _add(numbers, row, at):
    for n in range(len(numbers)):
        row[at + n] = numbers[n]
    return at + len(numbers)


@njit(cache=True)
def _encode_features(joints, sigma, alternatives, alternatives_confidence, chosen, chosen_confidence, out):
    everywhere, log_sigma = np.ones(joints.shape[1]), np.empty(joints.shape[1])
    for p in range(len(joints)):
        middle = np.zeros(3)
        for joint in range(joints.shape[1]):
            log_sigma[joint] = math.log(min(max(sigma[p, joint], SIGMAS_M[0]), SIGMAS_M[1]))
            for axis in range(3):
                middle[axis] += joints[p, joint, axis] / joints.shape[1]
        distance = max(math.sqrt((middle**2).sum()), 1e-6)
        row = out[p]
        at = _add_places(joints[p], everywhere, middle, row, 0)
        at = _add(log_sigma, row, at)
        at = _add_places(alternatives[p], alternatives_confidence[p], middle, row, at)
        at = _add(alternatives_confidence[p], row, at)
        at = _add_places(chosen[p], chosen_confidence[p], middle, row, at)
        at = _add(chosen_confidence[p], row, at)
        _add(middle / distance, row, at)


def encode_features(
    joints_m: np.ndarray,
    sigma_m: np.ndarray,
    alternatives_m: np.ndarray,
    alternatives_confidence: np.ndarray,
    chosen_m: np.ndarray,
    chosen_confidence: np.ndarray,
) -> np.ndarray:
    """What the network sees of P people: places about the middle of the expected joints, and how certain they are.

    And the ray to that middle: from where a person is looked at decides what he hides.

    Parameters
    ----------
    joints_m : float (P, J, 3), camera axes, metres, as the Gaussian expects them
    sigma_m : float (P, J), its standard deviation an axis
    alternatives_m, alternatives_confidence : float (P, L, R, 3) and (P, L, R), proposals of each landmark; 0 = none
    chosen_m, chosen_confidence : float (P, L, 3) and (P, L), those that were chosen; 0 = none

    Returns
    -------
    float32 (P, 4 J + 4 L R + 4 L + 3): joints, log of their deviations, alternatives and their confidences,
    those chosen and theirs, the ray; x, y, z of a place side by side

    References
    ----------
    Naive twin: tests/reference/joints/refinement_features.py
    """
    n_joints, n_alternatives, n_chosen = joints_m.shape[1], alternatives_confidence[0].size, chosen_m.shape[1]
    out = np.empty((len(joints_m), 4 * (n_joints + n_alternatives + n_chosen) + 3), np.float32)
    each = len(joints_m), n_alternatives
    _encode_features(
        joints_m,
        sigma_m,
        alternatives_m.reshape(*each, 3),
        alternatives_confidence.reshape(each),
        chosen_m,
        chosen_confidence,
        out,
    )
    return out


@njit(cache=True)
def _decode_output(answers, expected, mirrored_joints, joints, share):
    n_people, n_joints = share.shape
    own_weight = 0.5 if len(mirrored_joints) else 1.0
    for p in range(n_people):
        for joint in range(n_joints):
            own = answers[p]
            share[p, joint] = own_weight / (1 + math.exp(-own[3 * n_joints + joint]))
            for axis in range(3):
                joints[p, joint, axis] = expected[p, joint, axis] + own_weight * own[3 * joint + axis]
            if len(mirrored_joints):
                image, other = answers[n_people + p], mirrored_joints[joint]
                share[p, joint] += 0.5 / (1 + math.exp(-image[3 * n_joints + other]))
                joints[p, joint, 0] -= 0.5 * image[3 * other]
                joints[p, joint, 1] += 0.5 * image[3 * other + 1]
                joints[p, joint, 2] += 0.5 * image[3 * other + 2]


def decode_output(
    answers: np.ndarray, joints_m: np.ndarray, mirrored_joints: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the network's answers say of P people's joints.

    Parameters
    ----------
    answers : float32 (P, 4 J): corrections x, y, z of every joint, metres, then J log-odds; of people with mirror
        images (2 P, 4 J), those of the images, left for right and x the other way, after the others
    joints_m : float (P, J, 3), metres, that are corrected
    mirrored_joints : int (J,), the joint of each joint's image, which is heard as much; empty = there are no images

    Returns
    -------
    joints_m : float32 (P, J, 3), metres
    share : float32 (P, J), how likely each lies right by the network's own opinion

    Raises
    ------
    ValueError
        For another number of answers.

    References
    ----------
    Naive twin: tests/reference/joints/refinement_features.py
    """
    n_people, n_joints = joints_m.shape[:2]
    wanted = n_people * (2 if len(mirrored_joints) else 1), 4 * n_joints
    if answers.shape != wanted or len(mirrored_joints) not in (0, n_joints):
        raise ValueError(
            f"{n_people} people need answers {wanted}, got {answers.shape}, {len(mirrored_joints)} mirrored"
        )
    joints, share = np.empty(joints_m.shape, np.float32), np.empty(joints_m.shape[:2], np.float32)
    _decode_output(answers, joints_m, mirrored_joints, joints, share)
    return joints, share
