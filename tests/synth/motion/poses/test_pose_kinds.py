"""Kinds of poses, from joints placed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_kinds import KINDS, pose_shares

STANDING = {
    "head": (0, 1.65, 0),
    "neck": (0, 1.5, 0),
    "torso": (0, 1.2, 0),
    "pelvis": (0, 0.95, 0),
    "left_shoulder": (0.18, 1.42, 0),
    "left_elbow": (0.2, 1.15, 0),
    "left_wrist": (0.2, 0.9, 0),
    "left_hand": (0.2, 0.82, 0),
    "left_hip": (0.09, 0.95, 0),
    "left_knee": (0.09, 0.5, 0),
    "left_ankle": (0.09, 0.08, 0),
    "left_foot": (0.09, 0.02, 0.12),
}


def joints(**places) -> np.ndarray:
    """A person who stands at ease, except for some joints; those of the left are mirrored to the right."""
    person = STANDING | places
    for name in list(person):
        right = name.replace("left_", "right_")
        if right not in places and right != name:
            x, y, z = person[name]
            person[right] = (-x, y, z)
    return np.array([[person[name] for name in HUMAN.joints]])


def kinds(person: np.ndarray) -> set[str]:
    return {kind for kind, shows in KINDS.items() if shows(person)[0]}


SITTING = {
    "left_hip": (0.09, 0.45, 0),
    "pelvis": (0, 0.45, 0),
    "left_knee": (0.1, 0.48, 0.45),
    "left_ankle": (0.1, 0.05, 0.45),
    "neck": (0, 1.0, 0),
    "torso": (0, 0.7, 0),
    "head": (0, 1.15, 0),
    "left_hand": (0.15, 0.5, 0.3),
}


def test_standing_at_ease_is_nothing_else():
    assert kinds(joints()) == {"standing at ease"}


def test_a_tipped_person_lies_and_one_on_his_head_is_upside_down():
    lying = joints()[..., [0, 2, 1]]
    assert "lying" in kinds(lying)
    assert "upside down" in kinds(joints() * [1, -1, 1])


def test_sitting_is_told_from_crouching():
    assert "seated" in kinds(joints(**SITTING))
    assert "crouching" not in kinds(joints(**SITTING))
    low = {
        "pelvis": (0, 0.35, 0),
        "left_hip": (0.09, 0.35, 0),
        "left_knee": (0.1, 0.45, 0.42),
        "left_ankle": (0.1, 0.06, 0.1),
    }
    assert "crouching" in kinds(joints(**low, neck=(0, 0.9, 0.1), torso=(0, 0.6, 0.05), head=(0, 1.05, 0.1)))


@pytest.mark.parametrize(
    ("places", "kind"),
    [
        ({"left_hand": (0.2, 1.9, 0)}, "reaching up"),
        ({"left_hand": (-0.15, 1.2, 0.2), "right_hand": (0.15, 1.2, 0.25)}, "arms crossed"),
        ({"left_hand": (0.05, 1.6, 0.12)}, "hand to the face"),
        ({"neck": (0, 1.25, 0.45), "head": (0, 1.3, 0.6)}, "bending"),
        ({"left_ankle": (0.09, 0.1, 0.5), "right_ankle": (-0.09, 0.1, -0.4)}, "striding"),
    ],
)
def test_a_kind_is_told_by_its_joints(places, kind):
    assert kind in kinds(joints(**places))


def test_shares_of_the_embedded_bank_are_shares():
    shares = pose_shares(embedded_pose_bank())
    assert set(shares) == set(KINDS)
    assert all(0 <= share <= 1 for share in shares.values())
    assert shares["lying"] > 0.05  # falls and getting up are among its clips
