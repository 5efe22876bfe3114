"""Kernel: encodes network features of people, and decodes network outputs to joints."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit

SIGMAS_M = (0.01, 1.0)
"""Standard deviations are clipped to this range, a centimetre to a metre, and encoded as logarithms."""


@njit(cache=True)
def _write_places(places, confidence, centre, row, column):
    """Write places relative to a centre, 0 where the confidence is 0; return the next column."""
    for n in range(len(confidence)):
        for axis in range(3):
            row[column + axis] = places[n, axis] - centre[axis] if confidence[n] > 0 else 0
        column += 3
    return column


@njit(cache=True)
def _write(values, row, column):
    for n in range(len(values)):
        row[column + n] = values[n]
    return column + len(values)


@njit(cache=True)
def _encode_features(joints, sigma, alternatives, alternatives_confidence, chosen, chosen_confidence, out):
    ones, log_sigma = np.ones(joints.shape[1]), np.empty(joints.shape[1])
    for p in range(len(joints)):
        centre = np.zeros(3)
        for joint in range(joints.shape[1]):
            log_sigma[joint] = math.log(min(max(sigma[p, joint], SIGMAS_M[0]), SIGMAS_M[1]))
            for axis in range(3):
                centre[axis] += joints[p, joint, axis] / joints.shape[1]
        distance = max(math.sqrt((centre**2).sum()), 1e-6)
        row = out[p]
        column = _write_places(joints[p], ones, centre, row, 0)
        column = _write(log_sigma, row, column)
        column = _write_places(alternatives[p], alternatives_confidence[p], centre, row, column)
        column = _write(alternatives_confidence[p], row, column)
        column = _write_places(chosen[p], chosen_confidence[p], centre, row, column)
        column = _write(chosen_confidence[p], row, column)
        _write(centre / distance, row, column)


def encode_features(
    joints_m: np.ndarray,
    sigma_m: np.ndarray,
    alternatives_m: np.ndarray,
    alternatives_confidence: np.ndarray,
    chosen_m: np.ndarray,
    chosen_confidence: np.ndarray,
) -> np.ndarray:
    """Encode the network features of P people.

    Features are places relative to the centre of the expected joints, their confidences, and the ray to that centre:
    the viewing direction decides what is hidden.

    Parameters
    ----------
    joints_m : float (P, J, 3), camera axes, metres, inferred by the prior
    sigma_m : float (P, J), metres, standard deviation along an axis, by the prior
    alternatives_m, alternatives_confidence : float (P, L, R, 3) and (P, L, R), proposals of each landmark; 0 = none
    chosen_m, chosen_confidence : float (P, L, 3) and (P, L), chosen proposals; 0 = none

    Returns
    -------
    float32 (P, 4 J + 4 L R + 4 L + 3): joints, logarithms of their standard deviations, alternatives and their
    confidences, chosen proposals and their confidences, the ray; x, y, z of a place are adjacent

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
def _decode_output(outputs, expected, mirrored_joints, joints, share):
    n_people, n_joints = share.shape
    own_weight = 0.5 if len(mirrored_joints) else 1.0
    for p in range(n_people):
        for joint in range(n_joints):
            own = outputs[p]
            share[p, joint] = own_weight / (1 + math.exp(-own[3 * n_joints + joint]))
            for axis in range(3):
                joints[p, joint, axis] = expected[p, joint, axis] + own_weight * own[3 * joint + axis]
            if len(mirrored_joints):
                image, other = outputs[n_people + p], mirrored_joints[joint]
                share[p, joint] += 0.5 / (1 + math.exp(-image[3 * n_joints + other]))
                joints[p, joint, 0] -= 0.5 * image[3 * other]
                joints[p, joint, 1] += 0.5 * image[3 * other + 1]
                joints[p, joint, 2] += 0.5 * image[3 * other + 2]


def decode_output(
    outputs: np.ndarray, joints_m: np.ndarray, mirrored_joints: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Decode network outputs to corrected joints of P people.

    Parameters
    ----------
    outputs : float32 (P, 4 J), corrections x, y, z of every joint, metres, then J log-odds; with mirror images
        (2 P, 4 J), the outputs of the mirror images after the others
    joints_m : float (P, J, 3), metres, to be corrected
    mirrored_joints : int (J,), mirrored joint of each joint, averaged with equal weight; empty = no mirror images

    Returns
    -------
    joints_m : float32 (P, J, 3), metres
    share : float32 (P, J), probability, by the network, that each joint is right; not calibrated

    Raises
    ------
    ValueError
        For another number of outputs.

    References
    ----------
    Naive twin: tests/reference/joints/refinement_features.py
    """
    n_people, n_joints = joints_m.shape[:2]
    wanted = n_people * (2 if len(mirrored_joints) else 1), 4 * n_joints
    if outputs.shape != wanted or len(mirrored_joints) not in (0, n_joints):
        raise ValueError(
            f"{n_people} people need outputs {wanted}, got {outputs.shape}, {len(mirrored_joints)} mirrored"
        )
    joints, share = np.empty(joints_m.shape, np.float32), np.empty(joints_m.shape[:2], np.float32)
    _decode_output(outputs, joints_m, mirrored_joints, joints, share)
    return joints, share
