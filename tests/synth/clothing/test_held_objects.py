"""Held objects: at a hand, and no part of the body."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.skinning import pose_body
from synth.clothing.held_objects import draw_held_object
from synth.geometry.mesh import HELD
from synth.motion.poses.clips import embedded_pose_bank


@pytest.fixture(scope="module")
def people():
    """Joints of thirty people in captured poses: (20, 3) each."""
    asset, bank, rng = load_body_asset(), embedded_pose_bank(), np.random.default_rng(0)
    shapes = [sample_body(asset, rng) for _ in range(5)]
    return [pose_body(asset, shapes[k % 5], bank.rotations[29 * k]).joints_m for k in range(30)]


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
