"""People in the rest pose from shape coefficients, and the body part of every triangle.

All bodies have the same triangles, so parts are assigned once, on the mean person. They scale with each body. Lengths
are those of a person of REFERENCE_HEIGHT_M and are scaled to the mean person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from posepipe.body import HUMAN
from synth.body.body_asset import ADULT_HEIGHTS_M, ADULT_YEARS, CHILD_HEIGHTS_M, BodyAsset

REFERENCE_HEIGHT_M = 1.73
SHOULDER_SHARE = 0.28  #: of the upper arm
SHOULDER_RADIUS_M = 0.095  #: torso skin this near to the shoulder joint is shoulder
ELBOW_M, KNEE_M = 0.055, 0.075  #: half the length of the band around the joint
WRIST_ABOVE_M, WRIST_BELOW_M = 0.05, 0.02
ANKLE_M = 0.07

PARTNER_YEARS = 0.2  #: maximum relative difference in age of two people who are blended
BLEND = (-0.15, 0.35)  #: blend weights; those below 0 extrapolate, to keep the variance of shapes
JITTER = 0.15  #: of a component's standard deviation

SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class RestBody:
    """One person in the rest pose: y up, facing +z, the person's left = +x, soles at y = 0."""

    vertices_m: np.ndarray  #: float32 (V, 3)
    bone_heads_m: np.ndarray  #: float32 (B, 3)
    bone_tails_m: np.ndarray  #: float32 (B, 3)
    height_m: float


def sample_body(asset: BodyAsset, rng: np.random.Generator) -> RestBody:
    """Draw a new person: a stored one, blended with another of the same sex and similar age, with random noise.

    The height stays within the limits for the person's age.
    """
    person = int(rng.integers(len(asset.people)))
    partners = _partners(asset, person)
    partner = partners[rng.integers(len(partners))]
    step = rng.uniform(*BLEND) * (asset.people[partner] - asset.people[person])
    step += rng.normal(0, JITTER, step.shape)
    shortest, tallest = ADULT_HEIGHTS_M if asset.people_years[person] >= ADULT_YEARS else CHILD_HEIGHTS_M
    while True:  # terminates: without the step, the person is a stored one, within the limits
        body = rest_body(asset, asset.people[person] + step)
        if shortest <= body.height_m <= tallest:
            return body
        step *= 0.7


@cache
def _partners(asset: BodyAsset, person: int) -> np.ndarray:
    years = asset.people_years
    alike = np.abs(years / years[person] - 1) < PARTNER_YEARS
    alike &= (years >= ADULT_YEARS) == (years[person] >= ADULT_YEARS)
    alike &= (asset.people_male > 0.5) == (asset.people_male[person] > 0.5)
    return np.flatnonzero(alike)  # always includes the person


def rest_body(asset: BodyAsset, coefficients: np.ndarray) -> RestBody:
    """Make the person of shape coefficients: float (K,), 0 = the mean person.

    Raises
    ------
    ValueError
        When the number of coefficients is not the asset's, or one is not finite.
    """
    coefficients = np.asarray(coefficients, np.float32)
    count = len(asset.components_m)
    if coefficients.shape != (count,) or not np.isfinite(coefficients).all():
        raise ValueError(f"coefficients: wanted {count} finite numbers, got shape {coefficients.shape}")
    points_m = (coefficients @ asset.components_m.reshape(count, -1)).reshape(-1, 3)
    points_m += asset.mean_m
    heads, tails = asset.n_vertices, asset.n_vertices + len(asset.bone_names)
    vertices_m = points_m[:heads]
    low, high = vertices_m[:, 1].min(), vertices_m[:, 1].max()
    points_m[:, 1] -= low
    return RestBody(vertices_m, points_m[heads:tails], points_m[tails:], float(high - low))


@lru_cache(maxsize=4)
def paint_parts(asset: BodyAsset) -> np.ndarray:
    """Return the body part of every triangle, as a label code of `posepipe.body.HUMAN`: uint8 (T,)."""
    mean = rest_body(asset, np.zeros(len(asset.components_m)))
    centres_m = mean.vertices_m[asset.triangles].mean(1)
    joints_m = dict(zip(asset.bone_names, mean.bone_heads_m, strict=True))
    scale = mean.height_m / REFERENCE_HEIGHT_M
    regions = _regions(asset)
    parts = np.full(len(centres_m), "neck", dtype="<U20")
    for side, is_side in zip(SIDES, (centres_m[:, 0] > 0, centres_m[:, 0] <= 0), strict=True):
        for region, paint in {
            "head": _paint_head,
            "torso": _paint_torso,
            "arm": _paint_arm,
            "hand": _paint_hand,
            "leg": _paint_leg,
            "foot": _paint_foot,
        }.items():
            rows = np.flatnonzero(is_side & (regions == region))
            names = paint(centres_m[rows], joints_m, side[0], scale)
            parts[rows] = [f"{side}_{name}" for name in names]
    names, codes = np.unique(parts, return_inverse=True)
    return np.array([HUMAN.part_code(str(name)) for name in names], np.uint8)[codes]


def _regions(asset: BodyAsset) -> np.ndarray:
    """The region whose bones have the largest weight in a triangle: str (T,)."""
    names = ("head", "neck", "torso", "arm", "hand", "leg", "foot")
    of_bone = np.array([names.index(_region_of(bone)) for bone in asset.bone_names])
    shares = np.zeros((asset.n_vertices, len(names)))
    np.add.at(shares, (np.arange(asset.n_vertices)[:, None], of_bone[asset.weight_bones]), asset.weights)
    return np.array(names)[shares[asset.triangles].sum(1).argmax(1)]


def _region_of(bone: str) -> str:
    stem = bone.removesuffix("_l").removesuffix("_r")
    if stem in ("head", "foot", "hand"):
        return stem
    regions = {"neck_01": "neck", "upperarm": "arm", "lowerarm": "arm", "thigh": "leg", "calf": "leg", "ball": "foot"}
    if stem.startswith(("thumb", "index", "middle", "ring", "pinky")):
        return "hand"
    return regions.get(stem, "torso")


def _paint_head(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    up = centres_m[:, 1]
    return np.where(up > (up.min() + up.max()) / 2, "upper_head", "lower_head")


def _paint_torso(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    middle = (joints_m["spine_01"][1] + joints_m["neck_01"][1]) / 2
    names = np.where(centres_m[:, 1] > middle, "upper_torso", "lower_torso")
    near = np.linalg.norm(centres_m - joints_m[f"upperarm_{side}"], axis=1) < SHOULDER_RADIUS_M * scale
    return np.where(near, "shoulder", names)


def _paint_arm(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    shoulder, elbow, wrist = (joints_m[f"{bone}_{side}"] for bone in ("upperarm", "lowerarm", "hand"))
    below_elbow = _past_hinge(centres_m, shoulder, elbow, wrist)
    names = np.where(below_elbow > 0, "lower_arm", "upper_arm")
    names[np.abs(below_elbow) < ELBOW_M * scale] = "elbow"
    names[_past(centres_m, shoulder, elbow) < SHOULDER_SHARE * np.linalg.norm(elbow - shoulder)] = "shoulder"
    names[_past(centres_m, wrist, 2 * wrist - elbow) > -WRIST_ABOVE_M * scale] = "wrist"
    return names


def _paint_hand(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    into_hand = _past(centres_m, joints_m[f"hand_{side}"], joints_m[f"middle_01_{side}"])
    return np.where(into_hand < WRIST_BELOW_M * scale, "wrist", "hand")


def _paint_leg(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    hip, knee, ankle = (joints_m[f"{bone}_{side}"] for bone in ("thigh", "calf", "foot"))
    below_knee = _past_hinge(centres_m, hip, knee, ankle)
    names = np.where(below_knee > 0, "lower_leg", "upper_leg")
    names[np.abs(below_knee) < KNEE_M * scale] = "knee"
    names[_past(centres_m, ankle, 2 * ankle - knee) > -ANKLE_M * scale] = "ankle"
    return names


def _paint_foot(centres_m: np.ndarray, joints_m: dict, side: str, scale: float) -> np.ndarray:
    # skin just above the joint moves with the foot bone; it belongs to the ankle
    above_ankle = _past(centres_m, joints_m[f"foot_{side}"], joints_m[f"calf_{side}"]) > 0
    return np.where(above_ankle, "ankle", "foot")


def _past(points_m: np.ndarray, start: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Distance of points beyond ``start`` in the direction of ``towards``: metres (N,), negative = before."""
    direction = towards - start
    return (points_m - start) @ (direction / np.linalg.norm(direction))


def _past_hinge(points_m: np.ndarray, before: np.ndarray, hinge: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Distance of points beyond a bent joint: metres (N,), from the plane that halves the bend."""
    inwards = (hinge - before) / np.linalg.norm(hinge - before)
    outwards = (after - hinge) / np.linalg.norm(after - hinge)
    return _past(points_m, hinge, hinge + inwards + outwards)
