"""Skirts and coats: cloth that hangs round both legs and hides where one ends and the other begins.

What stands off the skin is displacement (`clothing`); this is a sheet of its own, made anew for each
pose. At every height it is the outline of both legs together: the convex hull of two discs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import HUMAN
from synth.geometry.mesh import Mesh, rings_mesh

RINGS, AROUND = 14, 28
WAIST = -0.35
"""Of a thigh's length, from the hips towards the torso, where it hangs from."""
LONGEST_STEP_M = 0.75
"""Knees further apart would tear it: it is worn up."""

_BAND_ENDS = (0.05, 0.82, 1.18, 1.82)
_LEFT_BANDS, _RIGHT_BANDS = (
    np.array(
        [HUMAN.part_code(f"{side}_{part}") for part in ("lower_torso", "upper_leg", "knee", "lower_leg", "ankle")],
        np.uint8,
    )
    for side in ("left", "right")
)


@dataclass(frozen=True, slots=True)
class Drape:
    """One sheet round the legs, from the waist down."""

    hem: float  #: 1 = at the knees, 2 = at the ankles
    flare_m: float  #: how much wider at the hem than at the hips
    folds_m: float  #: depth of its folds at the hem


def sample_drape(rng: np.random.Generator) -> Drape:
    """A skirt, or the lower half of a coat, from mid-thigh to the ankles."""
    return Drape(float(rng.uniform(0.5, 1.9)), float(rng.uniform(0.0, 0.12)), float(rng.uniform(0, 0.02)))


def hang(drape: Drape, joints_m: np.ndarray, thigh_m: float, rng: np.random.Generator) -> Mesh:
    """Hang a drape on a posed person.

    Parameters
    ----------
    drape : Drape
    joints_m : float (20, 3), in the order of HUMAN.joints, body axes
    thigh_m : radius of a thigh
    rng : draws the folds

    Returns
    -------
    Mesh, in the same axes, painted with the parts of the legs beneath
    """
    joint = {name: joints_m[i].astype(np.float64) for i, name in enumerate(HUMAN.joints)}
    chains = [[joint[f"{side}_{name}"] for name in ("hip", "knee", "ankle")] for side in ("left", "right")]
    step = float(np.linalg.norm(chains[0][1] - chains[1][1]))
    hem = min(drape.hem, LONGEST_STEP_M / max(step, 1e-6))
    heights = np.linspace(WAIST, hem, RINGS)
    turn = np.arange(AROUND) * 2 * np.pi / AROUND
    fold = drape.folds_m * np.sin(turn * rng.integers(5, 10) + rng.uniform(0, 2 * np.pi))
    left, right = (_along(chain, joint["torso"], heights)[:, None] for chain in chains)
    share = np.maximum(heights, 0)[:, None] / max(hem, 1e-6)
    radius = thigh_m * (1.1 - 0.125 * np.maximum(heights, 0)[:, None]) + (drape.flare_m + fold) * share
    e1, e2 = (np.stack(axis)[(heights >= 1).astype(int), None] for axis in zip(*_across(chains), strict=True))
    outward = np.cos(turn)[:, None] * e1 + np.sin(turn)[:, None] * e2
    lefts = (outward * (left - right)).sum(axis=-1) > 0  # the support point of the hull of two discs
    rings = np.where(lefts[..., None], left, right) + radius[..., None] * outward
    return rings_mesh(rings, _labels(heights[:-1], lefts[:-1]))


def _along(chain: list[np.ndarray], torso: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Centres of a leg: below 0 above the hip, 0 to 1 on the thigh, 1 to 2 on the calf: (R, 3)."""
    hip, knee, ankle = chain
    heights = heights[:, None]
    above, thigh, calf = np.minimum(heights, 0), np.clip(heights, 0, 1), np.maximum(heights - 1, 0)
    return hip - above * (torso - hip) * [0.4, 1, 1] + thigh * (knee - hip) + calf * (ankle - knee)


def _across(chains: list[list[np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two directions across the thighs, then two across the calves; the first of two towards the left leg."""
    axes = []
    for segment in (0, 1):
        down = sum(chain[segment + 1] - chain[segment] for chain in chains)
        down = down / max(np.linalg.norm(down), 1e-9)
        e1 = chains[0][0] - chains[1][0]
        e1 = e1 - down * (e1 @ down)
        e1 /= max(np.linalg.norm(e1), 1e-9)
        axes.append((e1, np.cross(down, e1)))
    return axes


def _labels(heights: np.ndarray, lefts: np.ndarray) -> np.ndarray:
    """The part beneath each quad: uint8 (R - 1, A)."""
    bands = np.searchsorted(_BAND_ENDS, heights, side="right")
    return np.where(lefts, _LEFT_BANDS[bands, None], _RIGHT_BANDS[bands, None])
