"""Objects in people's hands: they occlude the body and are no part of it."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN
from synth.geometry.mesh import HELD, Mesh, box, capsule, rings_mesh

KINDS = ("bag", "cup", "stick", "ball")


def draw_held_object(joints_m: np.ndarray, rng: np.random.Generator) -> Mesh:
    """Draw an object in one hand: a hanging bag, a cup, a stick or a ball.

    Parameters
    ----------
    joints_m : float (20, 3), metres
        In the order of HUMAN.joints, body axes, y up.
    rng : numpy.random.Generator

    Returns
    -------
    Mesh
        In the same axes, labelled HELD.
    """
    side = str(rng.choice(["left", "right"]))
    hand, wrist = (joints_m[HUMAN.joint_index(f"{side}_{name}")].astype(np.float64) for name in ("hand", "wrist"))
    kind = str(rng.choice(KINDS))
    if kind == "bag":
        size = rng.uniform([0.08, 0.15, 0.15], [0.16, 0.4, 0.4])
        top = hand - [0, rng.uniform(0.05, 0.3), 0]
        return box(top - size * [0.5, 1, 0.5], top + size * [0.5, 0, 0.5], HELD)
    along = hand - wrist
    along /= max(float(np.linalg.norm(along)), 1e-9)
    palm = hand + 0.04 * np.cross(along, [0, 0, 1.0])
    if kind == "ball":
        return _rounded(palm, palm, float(rng.uniform(0.05, 0.15)))
    across = rng.normal(size=3)
    across -= along * (across @ along)
    across /= max(float(np.linalg.norm(across)), 1e-9)
    if kind == "cup":
        return _rounded(palm - 0.05 * across, palm + 0.05 * across, 0.04)
    reach = rng.uniform(0.3, 1.2)
    grip = rng.uniform(0.1, 0.9)
    return _rounded(hand - grip * reach * across, hand + (1 - grip) * reach * across, float(rng.uniform(0.01, 0.025)))


def _rounded(start: np.ndarray, end: np.ndarray, radius: float) -> Mesh:
    rings = capsule(start, end, (radius, radius))
    return rings_mesh(rings, np.full((len(rings) - 1, rings.shape[1]), HELD, np.uint8))
