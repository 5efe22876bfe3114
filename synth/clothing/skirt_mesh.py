"""Skirts and coats: cloth that hangs around both legs and hides the gap between them.

Other garments displace the skin (`synth.clothing.garments`). A skirt is a mesh of its own, made anew for each pose. Its
cross-section at every height is the convex hull of two discs, one around each leg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import HUMAN
from synth.geometry.mesh import Mesh, rings_mesh

RINGS, AROUND = 14, 28
WAIST = -0.35
"""Height of the waist, as a share of the distance from hips to torso; negative = above the hips."""
MAX_STEP_M = 0.75
"""Maximum distance of the knees. The skirt is shortened for larger steps."""

_BAND_ENDS = (0.05, 0.82, 1.18, 1.82)
_LEFT_BANDS, _RIGHT_BANDS = (
    np.array(
        [HUMAN.part_code(f"{side}_{part}") for part in ("lower_torso", "upper_leg", "knee", "lower_leg", "ankle")],
        np.uint8,
    )
    for side in ("left", "right")
)


@dataclass(frozen=True, slots=True)
class Skirt:
    """Shape of a skirt, or of the lower half of a coat."""

    hem: float  #: 1 = at the knees, 2 = at the ankles
    flare_m: float  #: increase of the radius from hips to hem
    wrinkle_depth_m: float  #: at the hem


def sample_skirt(rng: np.random.Generator) -> Skirt:
    """Draw a skirt, or the lower half of a coat; the hem is between mid-thigh and ankles."""
    return Skirt(float(rng.uniform(0.5, 1.9)), float(rng.uniform(0.0, 0.12)), float(rng.uniform(0, 0.02)))


def skirt_mesh(skirt: Skirt, joints_m: np.ndarray, thigh_m: float, rng: np.random.Generator) -> Mesh:
    """Make the mesh of a skirt on a posed person.

    Parameters
    ----------
    skirt : Skirt
    joints_m : float (20, 3), metres
        In the order of HUMAN.joints, body axes.
    thigh_m : float, metres
        Radius of a thigh.
    rng : numpy.random.Generator
        Draws the wrinkles.

    Returns
    -------
    Mesh
        In the same axes, labelled with the parts of the legs beneath.
    """
    joint = {name: joints_m[i].astype(np.float64) for i, name in enumerate(HUMAN.joints)}
    chains = [[joint[f"{side}_{name}"] for name in ("hip", "knee", "ankle")] for side in ("left", "right")]
    step = float(np.linalg.norm(chains[0][1] - chains[1][1]))
    hem = min(skirt.hem, MAX_STEP_M / max(step, 1e-6))
    heights = np.linspace(WAIST, hem, RINGS)
    turn = np.arange(AROUND) * 2 * np.pi / AROUND
    wrinkle = skirt.wrinkle_depth_m * np.sin(turn * rng.integers(5, 10) + rng.uniform(0, 2 * np.pi))
    left, right = (_along(chain, joint["torso"], heights)[:, None] for chain in chains)
    share = np.maximum(heights, 0)[:, None] / max(hem, 1e-6)
    radius = thigh_m * (1.1 - 0.125 * np.maximum(heights, 0)[:, None]) + (skirt.flare_m + wrinkle) * share
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
