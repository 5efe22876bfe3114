"""Held objects: at a hand, and no part of the body."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.clothing.held_objects import draw_held_object
from synth.geometry.mesh import HELD
from tests.support.rendered_people import captured_joints_m


@pytest.fixture(scope="module")
def people():
    return captured_joints_m()


def place(joints_m, name):
    return joints_m[HUMAN.joint_index(name)]


def test_held_objects_are_in_reach_of_a_hand_and_no_part(people):
    rng = np.random.default_rng(1)
    for joints in people:
        mesh = draw_held_object(joints, rng)
        assert (mesh.labels == HELD).all()
        hands = [place(joints, f"{side}_hand") for side in ("left", "right")]
        near = min(np.linalg.norm(mesh.vertices_m - hand, axis=1).min() for hand in hands)
        assert near < 0.4
