"""Postures that are rare in motion capture and common in rooms: sitting, lying, rotated as a whole.

A pose is the global rotation of each bone, float (20, 4), quaternions xyzw, in the order of
`synth.body.skinning.POSED_BONES`; y is up and the body faces +z.
"""

from __future__ import annotations

import numpy as np

from synth.body.skinning import POSED_BONES
from synth.geometry.quaternions import about_axis, from_rotation_vector, inverse, multiply

LYING_SPREAD_DEG = 8.0
"""Standard deviation of a lying body's slope."""
LEAN_DEG = (-25.0, 20.0)
"""Lean of a seated trunk: backwards and forwards."""
THIGH_DEG = (65.0, 100.0)
"""Elevation of seated thighs from hanging down."""
KNEE_DEG = (60.0, 115.0)
APART_DEG = (-4.0, 28.0)
"""Yaw of each thigh from straight ahead; below 0 the knees touch."""


def rotate_randomly(rotations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rotate one person as a whole by any angle about a level axis, as in lying, rolls and handstands.

    ``rotations`` float (20, 4); returns float32 (20, 4).
    """
    heading, angle = rng.uniform(0, 2 * np.pi), rng.uniform(-np.pi, np.pi)
    return _rotate_whole(rotations, heading, angle)


def lay_down(rotations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Lay one person down, on back, belly or side: float (20, 4) to float32 (20, 4)."""
    heading, slope_deg = rng.uniform(0, 2 * np.pi), 90 + rng.normal(0, LYING_SPREAD_DEG)
    return _rotate_whole(rotations, heading, np.radians(slope_deg))


def _rotate_whole(rotations: np.ndarray, heading_rad: float, angle_rad: float) -> np.ndarray:
    turn = from_rotation_vector(angle_rad * np.array([np.cos(heading_rad), 0, np.sin(heading_rad)]))
    return multiply(turn, rotations).astype(np.float32)


def sit_down(rotations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Seat one person: legs as on a seat, trunk leaning, everything else as before relative to the pelvis.

    ``rotations`` float (20, 4); returns float32 (20, 4).
    """
    lean = about_axis(0, rng.uniform(*LEAN_DEG))
    out = multiply(multiply(lean, inverse(rotations[0])), rotations)
    knee_deg, raised_deg = rng.uniform(*KNEE_DEG), rng.uniform(*THIGH_DEG)
    for side, outwards in (("l", 1.0), ("r", -1.0)):
        yaw = about_axis(1, outwards * rng.uniform(*APART_DEG))
        raised = raised_deg + rng.normal(0, 4)
        bent = knee_deg + rng.normal(0, 8)
        for bone, ahead_deg in (("thigh", raised), ("calf", raised - bent), ("foot", 0.5 * (raised - bent))):
            out[POSED_BONES.index(f"{bone}_{side}")] = multiply(yaw, about_axis(0, -ahead_deg))
    return out.astype(np.float32)
