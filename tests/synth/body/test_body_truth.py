"""True orientations and bone lengths: those of the joints, in the convention of the fitted body."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN, BodyDefinition
from posepipe.body_model.body_fitter import _frames_of
from posepipe.body_model.body_model import read_body_model
from posepipe.kinematics.joint_angles import joint_angles
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.body_truth import body_truth, truth_in_camera_axes, with_joint_angles
from synth.body.creatures import read_creature
from synth.body.skinning import TURNED_BY, PosedBody, pose_body
from synth.motion.poses.clips import embedded_pose_bank
from synth.recipe import Recipe
from synth.scene.subjects import Creatures
from synth.tools.build_body_model import SEGMENTS
from synth.tools.creature_body_model import creature_body_model
from tests.support.paths import ROOT
from tests.support.rendered_people import renderer_of

RIGID = ("elbow", "wrist", "hand", "knee", "ankle")
"""Ends of the bones that no pose stretches, and whose own segment starts at their parent."""


def posed_person(seed: int) -> PosedBody:
    asset, rng = load_body_asset(), np.random.default_rng(seed)
    poses = embedded_pose_bank().rotations
    return pose_body(asset, sample_body(asset, rng), poses[rng.integers(len(poses))])


def limbs(body: BodyDefinition) -> list[tuple[int, int]]:
    """Joints and parents of rigid bones."""
    return [(joint, parent) for joint, parent in body.bones() if body.joints[joint].endswith(RIGID)]


@pytest.mark.parametrize("seed", range(3))
def test_an_orientation_takes_the_resting_bone_to_the_posed_one(seed):
    posed = posed_person(seed)
    truth = body_truth(posed, HUMAN)
    for joint, parent in limbs(HUMAN):
        resting = posed.rest_joints_m[joint] - posed.rest_joints_m[parent]
        turned = Rotation.from_quat(truth.rotations_xyzw[0, parent]).apply(resting)
        np.testing.assert_allclose(turned, posed.joints_m[joint] - posed.joints_m[parent], atol=1e-5)


def test_bone_lengths_are_those_of_the_limbs():
    posed = posed_person(7)
    lengths_m = body_truth(posed, HUMAN).bone_lengths_m[0]
    for joint, parent in limbs(HUMAN):
        assert lengths_m[joint] == pytest.approx(np.linalg.norm(posed.joints_m[joint] - posed.joints_m[parent]), 1e-4)
    assert np.flatnonzero(np.isnan(lengths_m)).tolist() == [HUMAN.joint_index("pelvis")]


def test_a_joint_has_the_orientation_that_a_fitted_body_gives_it():
    model = read_body_model()
    segments = [model.segment_names[segment] for segment in _frames_of(model)]
    fitted = {joint: SEGMENTS[name].bone for joint, name in zip(HUMAN.joints, segments, strict=True)}
    assert fitted == TURNED_BY


def test_joints_of_a_creature_turn_as_those_of_a_fitted_body():
    creature = read_creature(ROOT / "docs" / "examples" / "quadruped.toml")
    model = creature_body_model(creature)
    turning = [creature._turning_bone(joint) for joint in creature.joints.values()]
    assert turning == [model.segment_names[segment] for segment in _frames_of(model)]
    drawn = Creatures(creature).draw(np.random.default_rng(0))
    assert drawn.truth.rotations_xyzw.shape == (1, len(creature.joints), 4)
    lengths_m = drawn.truth.bone_lengths_m[0]
    assert [p is None for p in creature.body.parents.values()] == np.isnan(lengths_m).tolist()


def test_a_rendered_frame_has_the_truth_in_camera_axes():
    frame = renderer_of(Recipe()).render(0)
    joints_m, truth = frame.joints_m[0].astype(float), frame.bodies
    upright = Rotation.from_quat(truth.rotations_xyzw[0])
    rest_body = posed_person(0).rest_joints_m
    for joint, parent in limbs(HUMAN):
        resting = rest_body[joint] - rest_body[parent]  # another person: other lengths, nearly the same directions
        turned, bone = upright[parent].apply(resting), joints_m[joint] - joints_m[parent]
        cosine = turned @ bone / np.linalg.norm(turned) / np.linalg.norm(bone)
        assert cosine > np.cos(np.radians(12))
        assert truth.bone_lengths_m[0, joint] == pytest.approx(np.linalg.norm(bone), 1e-3)


def test_joint_angles_are_those_of_the_joints():
    posed = posed_person(1)
    truth = with_joint_angles(body_truth(posed, HUMAN), posed.joints_m, HUMAN)
    found = joint_angles(dict(zip(HUMAN.joints, posed.joints_m.astype(float), strict=True)), (0, 1, 0))
    assert truth.angle_names == tuple(found)
    np.testing.assert_allclose(truth.angles_deg[0], list(found.values()), atol=1e-4)


def test_truth_is_given_for_all_or_for_nobody():
    truth = body_truth(posed_person(0), HUMAN)
    assert truth_in_camera_axes([truth, None], [np.eye(3)] * 2) is None
    both = truth_in_camera_axes([truth, truth], [np.eye(3), np.diag([1.0, -1.0, -1.0])])
    assert both.rotations_xyzw.shape == (2, len(HUMAN.joints), 4)
    assert (both.angle_names, both.angles_deg) == ((), None)


def test_joint_angles_are_given_for_all_or_for_nobody():
    posed = posed_person(0)
    plain = body_truth(posed, HUMAN)
    truth, same = with_joint_angles(plain, posed.joints_m, HUMAN), [np.eye(3), np.diag([1.0, -1.0, -1.0])]
    both = truth_in_camera_axes([truth, truth], same)
    np.testing.assert_array_equal(both.angles_deg[0], both.angles_deg[1])
    mixed = truth_in_camera_axes([truth, plain], same)
    assert (mixed.angle_names, mixed.angles_deg) == ((), None)
