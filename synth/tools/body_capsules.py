"""Capsules fitted to the skin of people: for the body model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import least_squares

from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody, rest_body
from synth.body.skinning import POSED_BONES, posed_weights

N_SKIN = 900
"""Vertices of a person that capsules are fitted to."""
MAX_MOVE_M = 0.04
"""Maximum distance of a capsule's ends from their start values, along an axis."""
MAX_RADIUS_CHANGE = 0.6
"""Maximum change of a radius, share of its start value."""
STAY_SHARE = 0.05
"""Weight of a capsule's start values against the distance of a vertex, for ends that the skin leaves free."""


@dataclass(frozen=True, slots=True)
class CapsuleSeed:
    """Start values of a capsule on the mean body: metres, and shares of the line between two joints."""

    segment: str
    region: str  #: vertices that it is fitted to
    start: tuple[str, tuple[float, float, float]]  #: joint or bone end, and what to add
    end: tuple[str, tuple[float, float, float]]
    radii_m: tuple[float, float]
    across: bool = False  #: lies across the body, from left to right, of one radius


CAPSULES = {
    "hips": CapsuleSeed(
        "pelvis", "trunk", ("pelvis", (0.08, 0.02, -0.02)), ("pelvis", (-0.08, 0.02, -0.02)), (0.11, 0.11), True
    ),
    "waist": CapsuleSeed(
        "pelvis", "trunk", ("torso", (0.06, -0.02, 0.02)), ("torso", (-0.06, -0.02, 0.02)), (0.1, 0.1), True
    ),
    "belly": CapsuleSeed(
        "trunk", "trunk", ("torso", (0.06, 0.1, 0.02)), ("torso", (-0.06, 0.1, 0.02)), (0.1, 0.1), True
    ),
    "chest": CapsuleSeed(
        "trunk", "trunk", ("torso", (0.07, 0.22, 0.02)), ("torso", (-0.07, 0.22, 0.02)), (0.11, 0.11), True
    ),
    "neck": CapsuleSeed("head", "neck", ("neck", (0, 0, 0)), ("head", (0, -0.08, -0.02)), (0.06, 0.06)),
    "skull": CapsuleSeed("head", "skull", ("head", (0, -0.04, 0.03)), ("head", (0, 0.03, 0)), (0.08, 0.09)),
    "left_shoulder": CapsuleSeed(
        "left_clavicle", "trunk", ("neck", (0.06, -0.09, 0.0)), ("left_shoulder", (-0.02, 0.0, -0.01)), (0.08, 0.06)
    ),
    "left_upper_arm": CapsuleSeed(
        "left_upper_arm", "upper_arm", ("left_shoulder", (0, 0, 0)), ("left_elbow", (0, 0, 0)), (0.05, 0.04)
    ),
    "left_forearm": CapsuleSeed(
        "left_forearm", "forearm", ("left_elbow", (0, 0, 0)), ("left_wrist", (0, 0, 0)), (0.04, 0.03)
    ),
    "left_hand": CapsuleSeed(
        "left_hand", "hand", ("left_wrist", (0, 0, 0)), ("left_hand", (0.03, -0.03, 0.04)), (0.035, 0.02)
    ),
    "left_thigh": CapsuleSeed("left_thigh", "thigh", ("left_hip", (0, 0, 0)), ("left_knee", (0, 0, 0)), (0.09, 0.06)),
    "left_shank": CapsuleSeed(
        "left_shank", "shank", ("left_knee", (0, 0, 0)), ("left_ankle", (0, 0, 0)), (0.06, 0.035)
    ),
    "left_foot": CapsuleSeed(
        "left_foot", "foot", ("left_ankle", (0, -0.03, -0.02)), ("left_foot", (0, 0.02, 0.02)), (0.04, 0.03)
    ),
}
REGION_BONES = {
    "trunk": ("pelvis", "spine_01", "spine_02", "spine_03", "clavicle_l"),
    "neck": ("neck_01",),
    "skull": ("head",),
    "upper_arm": ("upperarm_l",),
    "forearm": ("lowerarm_l",),
    "hand": ("hand_l",),
    "thigh": ("thigh_l",),
    "shank": ("calf_l",),
    "foot": ("foot_l",),
}
"""Region of the left half of the skin -> posed bones that move it most."""


def capsule_distances(points_m: np.ndarray, ends_m: np.ndarray, radii_m: np.ndarray) -> np.ndarray:
    """Signed distances of points (N, 3) from tapered capsules, ends (C, 2, 3) and radii (C, 2): float (N, C), metres.

    A tapered capsule is the union of the spheres between its ends; the distance is the smallest from any of them.
    """
    axes = ends_m[:, 1] - ends_m[:, 0]
    lengths = np.maximum(np.linalg.norm(axes, axis=1), 1e-9)
    axes = axes / lengths[:, None]
    from_start = points_m[:, None] - ends_m[None, :, 0]
    along = np.einsum("ncx,cx->nc", from_start, axes)
    aside = np.sqrt(np.maximum((from_start**2).sum(-1) - along**2, 0))
    slope = np.clip((radii_m[:, 0] - radii_m[:, 1]) / lengths, -0.95, 0.95)
    at = np.clip(along - slope * aside / np.sqrt(1 - slope**2), 0, lengths)
    radius = radii_m[:, 0] + (radii_m[:, 1] - radii_m[:, 0]) * at / lengths
    return np.sqrt((along - at) ** 2 + aside**2) - radius


class CapsuleFit:
    """Fits the capsules of one person at a time; keeps which vertices belong to which region."""

    def __init__(self, asset: BodyAsset) -> None:
        self.asset = asset
        bones, weights = posed_weights(asset)
        main_bone = bones[np.arange(len(bones)), weights.argmax(axis=1)]
        mean = rest_body(asset, np.zeros(len(asset.components_m)))
        left = mean.vertices_m[:, 0] >= -0.005
        rng = np.random.default_rng(0)
        self.names, seeds = list(CAPSULES), list(CAPSULES.values())
        self.vertices, self.groups = [], []
        for region, region_bones in REGION_BONES.items():
            own = np.flatnonzero(left & np.isin(main_bone, [POSED_BONES.index(bone) for bone in region_bones]))
            share = max(N_SKIN * len(own) // max(left.sum(), 1), 60)
            self.vertices.append(rng.choice(own, min(share, len(own)), replace=False))
            self.groups.append(np.array([row for row, seed in enumerate(seeds) if seed.region == region]))
        self.across = np.array([seed.across for seed in seeds])

    def start(self, joints_m: dict[str, np.ndarray]) -> np.ndarray:
        """Start values of a person: float (C, 8), ends and radii."""
        rows = []
        for seed in CAPSULES.values():
            ends = [joints_m[joint] + offset for joint, offset in (seed.start, seed.end)]
            rows.append(np.concatenate([*ends, seed.radii_m]))
        return np.array(rows)

    def fit(self, rest: RestBody, start: np.ndarray) -> np.ndarray:
        """Fit all capsules of the left half: float (C, 8)."""
        out = start.copy()
        for vertices, group in zip(self.vertices, self.groups, strict=True):
            points_m = rest.vertices_m[vertices].astype(float)
            first = start[group].ravel()

            near = np.abs(start[group]) * MAX_RADIUS_CHANGE
            near[:, :6] = MAX_MOVE_M
            bounds = first - near.ravel(), first + near.ravel()
            misfit = partial(self._misfit, points_m=points_m, group=group, first=first)
            solved = least_squares(misfit, first, bounds=bounds, loss="soft_l1", f_scale=0.02, max_nfev=25).x
            out[group] = self._symmetric(solved.reshape(-1, 8), group)
        return out

    def _misfit(self, values: np.ndarray, points_m: np.ndarray, group: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Distances of the skin from the capsules of a region, and of the capsules from their start values."""
        rows = self._symmetric(values.reshape(-1, 8), group)
        found = capsule_distances(points_m, rows[:, :6].reshape(-1, 2, 3), rows[:, 6:]).min(axis=1)
        return np.concatenate([found, STAY_SHARE * (values - first)])

    def _symmetric(self, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[:, 6:] = np.maximum(rows[:, 6:], 0.005)
        across = self.across[group]
        rows[across, 3:6] = rows[across, 0:3] * (-1, 1, 1)
        rows[across, 7] = rows[across, 6]
        central = np.array([not self.names[row].startswith("left_") for row in group]) & ~across
        rows[np.ix_(central, [0, 3])] = 0.0
        return rows
