"""Find a pose in which the captured person stands upright, and from it the up, left and forward directions.

A file may be y up or z up and may face any direction. Its rest pose may be impossible: all bones of LAFAN1 lie along
one axis. The rest pose is therefore used only if trunk and legs are upright in it. Otherwise the most upright frame is
used. Arms and legs then keep their directions, with an unknown twist. A head that is bent in that frame is straightened
in every pose.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.errors import FormatError
from synth.motion.mocap.bone_maps import UP_AXES, MappedBones
from synth.motion.mocap.capture import Capture

UPRIGHT = np.cos(np.radians(40))
"""Minimum cosine of trunk, thighs and lower legs with the vertical; CMU's legs are spread by 20 degrees at rest."""
MIN_LYING_COSINE, MIN_LYING_SHARE = np.cos(np.radians(70)), 0.8
"""A warning is given if, in this share of frames, trunk and legs are near another axis than the rest pose's up."""
_UP = np.concatenate([np.eye(3), -np.eye(3)])  # in the order of UP_AXES


@dataclass(frozen=True, eq=False)
class Stance:
    """A pose in which the captured person stands upright and faces forward."""

    at_rest: bool  #: whether it is the file's rest pose, in which people stand straight on flat feet
    rotations: np.ndarray  #: float64 (J, 4), global, from the file's rest
    places: np.ndarray  #: float64 (J, 3), in our axes: x left, y up, z forward; the file's unit
    to_ours: np.ndarray  #: (4,), rotation from the file's axes, as the person stands in them here, to ours
    world_to_ours: np.ndarray  #: (4,), the same for the frames, except for a rotation about the vertical


def find_stance(capture: Capture, bones: MappedBones) -> Stance:
    """Find the standing pose of a capture.

    Raises
    ------
    FormatError
        When the person never stands upright, a bone has no length, or toes point backwards.
    """
    at_rest = np.tile([0.0, 0.0, 0.0, 1.0], (len(capture.joints), 1))
    _check_lengths(capture, bones, capture.places(at_rest))
    rest_scores = _uprightness(capture.places(at_rest), bones)
    frame_scores = _uprightness(capture.places(capture.rotations), bones)
    allowed = frame_scores if bones.up is None else np.where(np.array(UP_AXES) == bones.up, frame_scores, -1)
    if rest_scores.max() >= UPRIGHT:
        rotations, up = at_rest, int(rest_scores.argmax())
        world_up = up if bones.up is None else UP_AXES.index(bones.up)
        _warn_of_lying(capture, world_up, frame_scores)
    elif allowed.max() >= UPRIGHT:
        frame, up = divmod(int(allowed.argmax()), len(UP_AXES))
        rotations, world_up = capture.rotations[frame], up
    else:
        raise FormatError(
            capture.path,
            "wanted a person who stands upright, at rest or in some frame, to know up from forward; "
            f"of {len(frame_scores)} sampled frames there is none; do the joints of the bone map fit?",
        )
    places = capture.places(rotations)
    axes = _axes(capture, bones, places, _UP[up])
    to_ours = Rotation.from_matrix(axes).as_quat()
    world_to_ours = to_ours if world_up == up else shortest_rotation(_UP[world_up], np.array([0.0, 1.0, 0.0]))
    return Stance(rotations is at_rest, rotations, places @ axes.T, to_ours, world_to_ours)


def shortest_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the shortest rotation of direction a into b, a quaternion xyzw; for opposite ones, about any normal."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    turn = np.append(np.cross(a, b), 1 + a @ b)
    if np.linalg.norm(turn) < 1e-6:
        turn = np.append(np.cross(a, np.eye(3)[np.abs(a).argmin()]), 0)
    return turn / np.linalg.norm(turn)


def trunk(places: np.ndarray, bones: MappedBones) -> np.ndarray:
    """Return the vector from the middle of the hips to the neck: (..., J, 3) to (..., 3)."""
    hips = (places[..., bones.joints["thigh_l"], :] + places[..., bones.joints["thigh_r"], :]) / 2
    return places[..., bones.chains["neck"][0], :] - hips


def _segments(places: np.ndarray, bones: MappedBones) -> np.ndarray:
    """Trunk and legs, from below: (..., J, 3) to (..., 5, 3)."""
    at = {bone: places[..., joint, :] for bone, joint in bones.joints.items()}
    legs = [at[f"{a}_{side}"] - at[f"{b}_{side}"] for side in "lr" for a, b in (("thigh", "calf"), ("calf", "foot"))]
    return np.stack([trunk(places, bones), *legs], axis=-2)


def _uprightness(places: np.ndarray, bones: MappedBones) -> np.ndarray:
    """Minimum cosine of trunk and legs with each of UP_AXES: (..., 6)."""
    segments = _segments(places, bones)
    directions = segments / np.linalg.norm(segments, axis=-1, keepdims=True)
    return (directions @ _UP.T).min(axis=-2)


def _check_lengths(capture: Capture, bones: MappedBones, places: np.ndarray) -> None:
    """Raise FormatError if a bone whose direction is used has no length, relative to the extent of the body."""
    min_length = 1e-3 * np.ptp(places, axis=0).max()
    pairs = [("thigh_l", "thigh_r"), ("upperarm_l", "upperarm_r")]
    for side in "lr":
        for limb in (("upperarm", "lowerarm", "hand"), ("thigh", "calf", "foot")):
            pairs += [(f"{a}_{side}", f"{b}_{side}") for a, b in pairwise(limb)]
    joints = [(bones.joints[a], bones.joints[b]) for a, b in pairs]
    joints.append((bones.chains["neck"][0], bones.joints["thigh_l"]))
    for a, b in joints:
        if not np.linalg.norm(places[a] - places[b]) > min_length:
            names = f"{capture.joints[a]} and {capture.joints[b]}"
            raise FormatError(capture.path, f"wanted a bone's length between {names}, they are at one place")


def _axes(capture: Capture, bones: MappedBones, places: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Rows left, up, forward. Left follows from hips and shoulders; toes must agree."""
    at = {bone: places[joint] for bone, joint in bones.joints.items()}
    across = at["thigh_l"] - at["thigh_r"] + at["upperarm_l"] - at["upperarm_r"]
    left = across - (across @ up) * up
    if np.linalg.norm(left) < 0.5 * np.linalg.norm(across):
        raise FormatError(capture.path, "wanted hips and shoulders side by side, they stand one above the other")
    left /= np.linalg.norm(left)
    forward = np.cross(left, up)
    feet = [at[f"toes_{side}"] - at[f"foot_{side}"] for side in "lr" if f"toes_{side}" in at]
    if sum(foot @ forward for foot in feet) < -0.5 * sum(np.linalg.norm(foot) for foot in feet):
        raise FormatError(capture.path, "its toes point backwards: are left and right swapped, or is it mirrored?")
    return np.stack([left, up, forward])


def _warn_of_lying(capture: Capture, up: int, frame_scores: np.ndarray) -> None:
    """Warn if few frames have the rest pose's up axis: the person lies, or the axes are wrong."""
    others = np.delete(frame_scores, up, axis=1)
    if (others.max(axis=1) >= MIN_LYING_COSINE).mean() >= MIN_LYING_SHARE:
        other = UP_AXES[int(frame_scores.mean(axis=0).argmax())]
        warnings.warn(
            f"{capture.path}: read as a person who lies along {other}, because {UP_AXES[up]} is up at rest; "
            f'if they stand, write up = "{other}" into a bone map and give it as --bone-map',
            stacklevel=2,
        )
