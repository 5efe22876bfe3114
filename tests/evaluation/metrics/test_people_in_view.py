"""Who is to be found in a frame, and whose a found pose is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.evaluation.metrics.people_in_view import (
    distances_to_people,
    joints_in_view,
    people_in_view,
)
from posepipe.results import Joint, Pose
from tests.support.toy_person import TOY, toy_frame

FRAME = toy_frame(3)


def pose_beside(across_m: float, *names: str, confidence: float = 0.8) -> Pose:
    """The true pose, that far to the right."""
    places = {name: FRAME.joints_m[0, TOY.joint_index(name)] + [across_m, 0, 0] for name in names or TOY.joints}
    return Pose.of({name: Joint(name, tuple(place), confidence) for name, place in places.items()})


def test_of_a_small_body_half_of_the_joints_are_enough():
    assert (joints_in_view(HUMAN), joints_in_view(TOY)) == (5, 2)
    hardly = replace(FRAME, visible=np.array([[True, False, False, False]]))
    assert people_in_view(FRAME, 2).tolist() == [True]
    assert people_in_view(hardly, 2).tolist() == [False]


def test_distances_are_of_visible_joints():
    seen = replace(FRAME, visible=np.array([[True, True, False, False]]))
    far_hand = pose_beside(0.1).joints | {"left_hand": Joint("left_hand", (9.0, 9.0, 9.0), 0.8)}
    distances_m = distances_to_people(seen, [Pose.of(far_hand), pose_beside(0.3)], TOY, 2)
    np.testing.assert_allclose(distances_m, [[0.1, 0.3]], atol=1e-6)


def test_of_who_is_hardly_in_view_all_joints_count():
    hardly = replace(FRAME, visible=np.array([[True, False, False, False]]))
    far_hand = pose_beside(0.0).joints | {"left_hand": Joint("left_hand", (9.0, 9.0, 9.0), 0.8)}
    assert distances_to_people(hardly, [Pose.of(far_hand)], TOY, 2)[0, 0] > 1


def test_confident_joints_count_more():
    joints = pose_beside(0.4, "head", confidence=0.9).joints | pose_beside(0.0, "torso", confidence=0.1).joints
    assert distances_to_people(FRAME, [Pose.of(joints)], TOY, 2)[0, 0] == pytest.approx(0.36)


def test_nobody_and_nothing_found_have_no_distances():
    assert distances_to_people(FRAME, [], TOY, 2).shape == (1, 0)
    empty = replace(FRAME, joints_m=FRAME.joints_m[:0], visible=FRAME.visible[:0])
    assert distances_to_people(empty, [pose_beside(0.0)], TOY, 2).shape == (0, 1)
