"""The rule by which people found are matched with labelled people.

A person found stands at the centre of their trunk: the mean of the pixels onto which torso, neck, pelvis and head
project, and the mean of the depths of these joints. Joints that are absent are left out; with none of the four, all
joints count. The person fits a label if

- the centre c lies in the label's box, enlarged on each side by BOX_MARGIN of its width w or height h:
  left - 0.15 w <= c_x <= right + 0.15 w, top - 0.15 h <= c_y <= bottom + 0.15 h; and
- |z - z_torso| <= MAX_DEPTH_M, where z_torso is the median of the readings in the 3x3 pixels around the torso's.

A label whose torso has no reading fits nobody; if it is ignored, it fits by its box alone. Labels to be counted are
matched first, one to one, the smallest distance between centre and torso pixel first. Of the others found, those who
fit an ignored label count neither way. The rest are false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.evaluation.people.person_labels import PersonLabel
from posepipe.frames import DepthFrame
from posepipe.results import Pose

TRUNK = ("torso", "neck", "pelvis", "head")
"""Joints whose mean is the centre of a person found."""
BOX_MARGIN = 0.15
"""Enlargement of a box on each side, as a share of its width or height."""
MAX_DEPTH_M = 0.5
"""Maximum difference between the depth of the centre and of the torso's surface."""


@dataclass(frozen=True, slots=True)
class PersonCentre:
    """Centre of a person found: pixels, and metres of depth."""

    column: float
    row: float
    depth_m: float


@dataclass(frozen=True, slots=True)
class Matches:
    """What became of the people of one frame."""

    found: dict[int, int]  #: row of each label that was found -> row of the person
    missed: tuple[int, ...]  #: rows of labels that were not found, without ignored ones
    ignored: tuple[int, ...]  #: rows of people who count neither way
    false: tuple[int, ...]  #: rows of people who are nobody


def centre_of(pose: Pose, frame: DepthFrame) -> PersonCentre | None:
    """Find the centre of a pose in the image; None when no joint lies before the camera."""
    trunk = np.isin(pose.names, TRUNK)
    joints_m = pose.joints_m[trunk] if trunk.any() else pose.joints_m
    joints_m = joints_m[joints_m[:, 2] > 0]
    if len(joints_m) == 0:
        return None
    row, column = frame.intrinsics.project(joints_m).mean(axis=0)
    return PersonCentre(float(column), float(row), float(joints_m[:, 2].mean()))


def torso_depth_m(label: PersonLabel, depth_m: np.ndarray) -> float | None:
    """Median depth, metres, of the 3x3 pixels around a label's torso in float32 (H, W); None without a reading."""
    column, row = label.torso
    around = depth_m[max(0, row - 1) : max(0, row + 2), max(0, column - 1) : max(0, column + 2)]
    readings = around[around > 0]
    return float(np.median(readings)) if readings.size else None


def match_people(centres: Sequence[PersonCentre], labels: Sequence[PersonLabel], depth_m: np.ndarray) -> Matches:
    """Match people found in a frame with its labels, by the rule of this module.

    Parameters
    ----------
    centres : of the people found
    labels : of the frame
    depth_m : float32 (H, W), metres, 0 = no reading

    Returns
    -------
    Matches
    """
    depths = [torso_depth_m(label, depth_m) for label in labels]
    fits = [[_distance_px(centre, *each) for centre in centres] for each in zip(labels, depths, strict=True)]
    pairs = sorted(
        (distance, person, row)
        for row, label in enumerate(labels)
        for person, distance in enumerate(fits[row])
        if distance is not None and not label.ignore
    )
    found: dict[int, int] = {}
    for _, person, row in pairs:
        if row not in found and person not in found.values():
            found[row] = person
    rest = [person for person in range(len(centres)) if person not in found.values()]
    ignoring = [fits[row] for row, label in enumerate(labels) if label.ignore]
    ignored = tuple(person for person in rest if any(own[person] is not None for own in ignoring))
    missed = tuple(row for row, label in enumerate(labels) if row not in found and not label.ignore)
    return Matches(found, missed, ignored, tuple(person for person in rest if person not in ignored))


def _distance_px(centre: PersonCentre, label: PersonLabel, depth_m: float | None) -> float | None:
    """Distance from a centre to the label's torso, pixels; None when it does not fit."""
    left, top, right, bottom = label.box
    across, down = BOX_MARGIN * (right - left), BOX_MARGIN * (bottom - top)
    inside = left - across <= centre.column <= right + across and top - down <= centre.row <= bottom + down
    near = label.ignore if depth_m is None else abs(centre.depth_m - depth_m) <= MAX_DEPTH_M
    if not (inside and near):
        return None
    return float(np.hypot(centre.column - label.torso[0], centre.row - label.torso[1]))
