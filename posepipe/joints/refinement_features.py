"""Kernel: encodes network features of people, and decodes network outputs to joints."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.joints.part_moments import N_MOMENTS

SIGMAS_M = (0.01, 1.0)
"""Standard deviations are clipped to this range, a centimetre to a metre, and encoded as logarithms."""
SMALL_SURFACE_M2 = 1e-3
"""Added to the surface of a part before its logarithm is taken: a part that is not there has one, too."""
MIN_VARIANCE_M2 = 1e-6
"""Variances of a part below a square millimetre are noise: correlations are taken relative to this at least."""


@njit(cache=True, inline="always")
def _write_places(places, confidence, p, centre, out, column):
    """Write a person's places relative to their centre, 0 where the confidence is 0; return the next column."""
    for n in range(places.shape[1]):
        for axis in range(3):
            out[p, column + axis] = places[p, n, axis] - centre[axis] if confidence[p, n] > 0 else 0
        column += 3
    for n in range(places.shape[1]):
        out[p, column + n] = confidence[p, n]
    return column + places.shape[1]


@njit(cache=True, inline="always")
def _write_moments(moments, p, centre, out, column):
    """Write the features of a person's parts: surface, centre, standard deviations and correlations."""
    for part in range(moments.shape[1]):
        own = moments[p, part]
        out[p, column] = math.log(own[0] + SMALL_SURFACE_M2)
        for k in range(1, N_MOMENTS):
            out[p, column + k] = 0
        if own[0] > 0:
            for axis in range(3):
                out[p, column + 1 + axis] = own[1 + axis] - centre[axis]
                out[p, column + 4 + axis] = math.sqrt(max(own[4 + axis], MIN_VARIANCE_M2))
            for k, (i, j) in enumerate(((4, 5), (4, 6), (5, 6))):
                scale = math.sqrt(max(own[i], MIN_VARIANCE_M2) * max(own[j], MIN_VARIANCE_M2))
                out[p, column + 7 + k] = min(max(own[7 + k] / scale, -1.0), 1.0)
        column += N_MOMENTS


@compiled_for("f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f4[:,::1]")
@njit(cache=True)
def _encode_features(joints, sigma, alternatives, alternatives_confidence, chosen, chosen_confidence, moments, out):
    centre = np.empty(3)
    n_joints = joints.shape[1]
    for p in range(len(joints)):
        squared = 0.0
        for axis in range(3):
            centre[axis] = 0.0
            for joint in range(n_joints):
                centre[axis] += joints[p, joint, axis] / n_joints
            squared += centre[axis] ** 2
        for joint in range(n_joints):
            for axis in range(3):
                out[p, 3 * joint + axis] = joints[p, joint, axis] - centre[axis]
            out[p, 3 * n_joints + joint] = math.log(min(max(sigma[p, joint], SIGMAS_M[0]), SIGMAS_M[1]))
        column = _write_places(alternatives, alternatives_confidence, p, centre, out, 4 * n_joints)
        column = _write_places(chosen, chosen_confidence, p, centre, out, column)
        distance = max(math.sqrt(squared), 1e-6)
        for axis in range(3):
            out[p, column + axis] = centre[axis] / distance
        _write_moments(moments, p, centre, out, column + 3)


def encode_features(
    joints_m: np.ndarray,
    sigma_m: np.ndarray,
    alternatives_m: np.ndarray,
    alternatives_confidence: np.ndarray,
    chosen_m: np.ndarray,
    chosen_confidence: np.ndarray,
    moments: np.ndarray,
) -> np.ndarray:
    """Encode the network features of P people.

    Features are places relative to the centre of the expected joints, their confidences, the ray to that centre, since
    the viewing direction decides what is hidden, and what the parts' moments say of them.

    Parameters
    ----------
    joints_m : float (P, J, 3), camera axes, metres, inferred by the prior
    sigma_m : float (P, J), metres, standard deviation along an axis, by the prior
    alternatives_m, alternatives_confidence : float (P, L, R, 3) and (P, L, R), proposals of each landmark; 0 = none
    chosen_m, chosen_confidence : float (P, L, 3) and (P, L), chosen proposals; 0 = none
    moments : float (P, K, N_MOMENTS), of the parts, from `part_moments`

    Returns
    -------
    float32 (P, 4 J + 4 L R + 4 L + 3 + N_MOMENTS K): joints, logarithms of their standard deviations, alternatives and
    their confidences, chosen proposals and their confidences, the ray; then of each part the logarithm of its surface,
    its centre, standard deviations, and correlations xy, xz, yz. x, y, z of a place are adjacent

    References
    ----------
    Naive twin: tests/reference/joints/refinement_features.py
    """
    n_joints, n_alternatives, n_chosen = joints_m.shape[1], alternatives_confidence[0].size, chosen_m.shape[1]
    n_moments = moments[0].size
    out = np.empty((len(joints_m), 4 * (n_joints + n_alternatives + n_chosen) + 3 + n_moments), np.float32)
    each = len(joints_m), n_alternatives
    _encode_features(
        joints_m,
        sigma_m,
        alternatives_m.reshape(*each, 3),
        alternatives_confidence.reshape(each),
        chosen_m,
        chosen_confidence,
        moments,
        out,
    )
    return out


@compiled_for("f4[:,::1], f8[:,:,::1], i8[::1], f4[:,:,::1], f4[:,::1]")
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
