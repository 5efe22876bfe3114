"""The body model of a creature: its capsules, sizes and joint limits."""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.body_model import MAX_SEGMENTS, BodyModel
from synth.body.creatures import Creature

MIN_SIGMA_RAD = 0.01
"""Lower bound of the standard deviation of turns, for joints that do not turn."""


def creature_body_model(creature: Creature) -> BodyModel:
    """Make the body model of a creature.

    Each bone is a segment with one capsule. Two coefficients describe the build: size, and stoutness. Turns are drawn
    from triangular distributions, of which the model keeps mean, standard deviation and limits.

    Raises
    ------
    ValueError
        For more bones than a body model may have segments.
    """
    bones, body = creature.bones, creature.body
    if len(bones) > MAX_SEGMENTS:
        raise ValueError(
            f"creature {creature.name!r}: a body is fitted with at most {MAX_SEGMENTS} bones, got {len(bones)}"
        )
    names = [bone.name for bone in bones]
    starts_m, ends_m = np.array([bone.start for bone in bones]), np.array([bone.end for bone in bones])
    parents = np.array([-1 if bone.parent is None else names.index(bone.parent) for bone in bones])
    parents[1:] = np.maximum(parents[1:], 0)  # bones without a parent are held by the first
    joint_bones = np.array([names.index(place.bone) for place in creature.joints.values()])
    along = np.array([place.along for place in creature.joints.values()])
    along_m = (ends_m - starts_m)[joint_bones] * along[:, None]
    part_capsules = np.zeros((len(body.parts) + 1, len(bones)))
    part_capsules[[body.part_code(bone.part) for bone in bones], np.arange(len(bones))] = 1.0
    limits_rad = np.radians([[bone.turn_x_deg, bone.turn_y_deg, bone.turn_z_deg] for bone in bones])
    mean_rad = limits_rad.mean(axis=2)
    spread_rad = limits_rad[:, :, 1] - limits_rad[:, :, 0]
    (size, size_sigma), (stout, stout_sigma) = _moments(creature.scale), _moments(creature.stoutness)
    capsule_ends_m = np.stack([np.zeros_like(starts_m), ends_m - starts_m], axis=1)
    radii_m, by_size = np.array([bone.radius for bone in bones]), (size, size_sigma, 0.0)
    return BodyModel(
        body.joints,
        body.parts,
        tuple(names),
        parents,
        _scaled(starts_m - starts_m[np.maximum(parents, 0)], by_size),
        joint_bones,
        _scaled(along_m, by_size),
        np.arange(len(bones)),
        _scaled(capsule_ends_m, by_size),
        _scaled(radii_m, (size * stout, size_sigma * stout, size * stout_sigma)),
        part_capsules,
        mean_rad,
        np.tile(np.eye(3), (len(bones), 1, 1)),
        np.maximum(spread_rad / math.sqrt(24), MIN_SIGMA_RAD),
        limits_rad[:, :, 0] - mean_rad,
        limits_rad[:, :, 1] - mean_rad,
    )


def _moments(limits: tuple[float, float]) -> tuple[float, float]:
    """Mean and standard deviation of a uniform distribution."""
    return (limits[0] + limits[1]) / 2, (limits[1] - limits[0]) / math.sqrt(12)


def _scaled(array: np.ndarray, factors: tuple[float, ...]) -> np.ndarray:
    """The array times each factor: the mean, then what one unit of each coefficient adds."""
    return np.stack([array * factor for factor in factors])
