"""Fitting: joints nearer to the truth, bones of one length, orientations, and a shape that settles."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN, BodyDefinition
from posepipe.body_model.body_fitter import FACING_WEIGHT, BodyFitter, PersonPixels, calibrated_sigmas, upright_turn
from posepipe.body_model.kernels.aiming import aim
from posepipe.body_model.kernels.fit_arrays import Targets, Weights
from posepipe.body_model.kernels.placement import Placement, Posture
from posepipe.results import Pose, Track
from tests.body_model.fitted_bodies import human, noisy_pose, random_posture, seen_by_camera
from tests.reference.body_model.placement import place


def _scene(seed):
    model, body = human()
    rng = np.random.default_rng(seed)
    posture = random_posture(body, rng)
    frame, pixels = seen_by_camera(model, body, posture)
    return model, body, rng, posture, frame, pixels


@pytest.mark.parametrize("seed", range(3))
def test_fitted_joints_are_nearer_to_the_truth_than_the_pose(seed):
    model, body, rng, posture, frame, pixels = _scene(seed)
    rotations, _, truth_m, _, _ = place(body, posture)
    pose = noisy_pose(body, posture, rng, 0.05)
    (track,) = BodyFitter(HUMAN, model).update([Track(7, pose)], [pixels], frame)
    before, after = (
        np.linalg.norm(joints_m - truth_m, axis=1).mean() for joints_m in (pose.joints_m, track.fit.joints_m)
    )
    assert after < 0.6 * before
    assert track.id == 7
    assert track.pose.names == HUMAN.joints
    thigh = rotations[model.segment_names.index("left_thigh")]
    found = Rotation.from_quat(track.fit.rotations_xyzw[HUMAN.joint_index("left_hip")])
    assert (found * Rotation.from_matrix(thigh).inv()).magnitude() < np.radians(35)
    assert track.fit.pixels_explained > 0.8
    assert track.fit.outline_explained > 0.9
    assert (track.fit.sigma_m > 0).all()


def test_bones_have_the_lengths_of_the_shape():
    model, body, rng, posture, frame, pixels = _scene(0)
    (track,) = BodyFitter(HUMAN, model).update([Track(1, noisy_pose(body, posture, rng, 0.05))], [pixels], frame)
    built = model.build(track.fit.shape)
    for upper, lower in (("left_hip", "left_knee"), ("right_elbow", "right_wrist")):
        a, b = HUMAN.joint_index(upper), HUMAN.joint_index(lower)
        length_m = np.linalg.norm(track.fit.joints_m[a] - track.fit.joints_m[b])
        assert length_m == pytest.approx(np.linalg.norm(built.joints_m[b]), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_body_is_fitted_to_joints_alone(seed):
    model, body, rng, posture, _, _ = _scene(seed)
    rotations, _, truth_m, _, _ = place(body, posture)
    pose = noisy_pose(body, posture, rng, 0.02)
    (track,) = BodyFitter(HUMAN, model).update_joints([Track(7, pose)], 0.0)
    assert np.linalg.norm(track.fit.joints_m - truth_m, axis=1).mean() < 0.04
    np.testing.assert_array_equal(track.pose.joints_m, track.fit.joints_m)
    np.testing.assert_array_equal(track.pose.confidences, pose.confidences)
    turns = Rotation.from_quat(track.fit.rotations_xyzw)
    for joint, segment in (("left_hip", "left_thigh"), ("right_hip", "right_thigh")):
        bone = rotations[model.segment_names.index(segment)][:, 1]  # the twist about it is not to be seen
        found = turns[HUMAN.joint_index(joint)].as_matrix()[:, 1]
        assert np.degrees(np.arccos(bone @ found)) < 15


def test_a_fit_to_joints_alone_is_the_same_behind_the_camera():
    model, body, rng, posture, _, _ = _scene(0)
    pose = noisy_pose(body, posture, rng, 0.04)
    behind_m = np.array([0.0, 0.0, -7.0])
    moved = replace(pose, joints_m=pose.joints_m + behind_m)
    before, behind = (BodyFitter(HUMAN, model).update_joints([Track(1, each)], 0.0)[0].fit for each in (pose, moved))
    np.testing.assert_allclose(behind.joints_m - behind_m, before.joints_m, atol=1e-6)
    np.testing.assert_allclose(behind.shape, before.shape, atol=1e-5)


def test_bones_of_joints_alone_stay_constant_over_a_track():
    model, body, rng, posture, _, _ = _scene(1)
    fitter, a, b = BodyFitter(HUMAN, model), HUMAN.joint_index("left_hip"), HUMAN.joint_index("left_knee")
    lengths_m, found_m = [], []
    for index in range(40):
        pose = noisy_pose(body, posture, rng, 0.03)
        (track,) = fitter.update_joints([Track(1, pose)], index / 30)
        lengths_m.append(np.linalg.norm(track.fit.joints_m[a] - track.fit.joints_m[b]))
        found_m.append(np.linalg.norm(pose.joints_m[a] - pose.joints_m[b]))
    assert np.std(lengths_m[20:]) < 0.2 * np.std(found_m)


@pytest.mark.parametrize("yaw", [-2.5, -1.0, 0.0, 2.0, np.pi])
def test_a_body_of_one_joint_faces_as_its_person_is_seen_to(yaw):
    model, _, _, _, frame, pixels = _scene(0)
    across = 0.4 * np.array([np.cos(yaw), np.sin(yaw)])
    turn = upright_turn(across)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1)
    np.testing.assert_allclose(turn @ [1, 0, 0], [np.cos(yaw), 0, np.sin(yaw)])  # from right to left
    np.testing.assert_allclose(turn @ [0, 1, 0], [0, -1, 0])  # upright
    trunk = Pose(("torso",), pixels.points_m.mean(axis=0, keepdims=True), np.ones(1))
    unlabelled = replace(pixels, probabilities=np.full_like(pixels.probabilities, 1 / len(pixels.probabilities[0])))
    (track,) = BodyFitter(HUMAN, model).update([Track(1, trunk)], [replace(unlabelled, across=across)], frame)
    assert HUMAN.across(track.fit.joints_m)[[0, 2]] @ across > 0


@pytest.mark.parametrize(("confidence", "faces"), [(1.0, "as found"), (0.01, "as seen")])
def test_a_direction_that_is_seen_outweighs_doubtful_joints(confidence, faces):
    _, body, rng, posture, _, _ = _scene(0)
    targets, start = Targets.empty(len(HUMAN.joints)), Posture.empty(len(body.parents), 0)
    targets.joints_m[:], targets.weights[:] = noisy_pose(body, posture, rng, 0.02).joints_m, confidence
    across = HUMAN.across(targets.joints_m)[[0, 2]]
    start.root_m[:], start.turns[0] = posture.root_m, upright_turn(-across)
    aim(body, targets, start, Placement.empty(body), FACING_WEIGHT)
    found = start.turns[0][[0, 2], 0] @ across > 0
    assert found == (faces == "as found")


def test_without_a_direction_an_upright_body_faces_the_camera():
    np.testing.assert_array_equal(upright_turn(None), upright_turn(np.array([1.0, 0.0])))


def test_joints_that_no_camera_found_have_no_confidence():
    model, body, rng, posture, _, _ = _scene(1)
    pose = noisy_pose(body, posture, rng, 0.02)
    kept = [row for row, name in enumerate(pose.names) if name != "left_knee"]
    short = Pose(tuple(pose.names[row] for row in kept), pose.joints_m[kept], pose.confidences[kept])
    nobody = Track(2, Pose((), np.zeros((0, 3)), np.zeros(0)))
    track, same = BodyFitter(HUMAN, model).update_joints([Track(1, short), nobody], 0.0)
    assert track.pose.joints["left_knee"].confidence == 0
    assert same is nobody


def test_joints_that_were_not_found_are_filled_in():
    model, body, rng, posture, frame, pixels = _scene(1)
    pose = noisy_pose(body, posture, rng, 0.03)
    kept = [row for row, name in enumerate(pose.names) if name != "left_knee"]
    short = Pose(tuple(pose.names[row] for row in kept), pose.joints_m[kept], pose.confidences[kept])
    (track,) = BodyFitter(HUMAN, model).update([Track(1, short)], [pixels], frame)
    assert track.pose.joints["left_knee"].confidence < track.pose.joints["right_knee"].confidence


def test_uncertainty_grows_with_the_curvature_s_and_with_doubt():
    sigmas_m = calibrated_sigmas(np.array([0.01, 0.02, 0.01, np.nan]), np.array([0.99, 0.99, 0.5, 0.99]))
    assert sigmas_m[1] > sigmas_m[0] > 0.02
    assert sigmas_m[2] > 0.05
    assert np.isnan(sigmas_m[3])


def test_the_shape_of_a_track_settles():
    model, body, rng, posture, frame, pixels = _scene(2)
    fitter, lengths_m = BodyFitter(HUMAN, model), []
    a, b = HUMAN.joint_index("left_hip"), HUMAN.joint_index("left_knee")
    for index in range(24):
        at = replace(frame, timestamp_s=index / 30)
        (track,) = fitter.update([Track(1, noisy_pose(body, posture, rng, 0.04))], [pixels], at)
        lengths_m.append(np.linalg.norm(track.fit.joints_m[a] - track.fit.joints_m[b]))
    assert np.std(lengths_m[12:]) < 0.01 * np.median(lengths_m)


@pytest.mark.parametrize(("late_s", "known"), [(0.005, True), (1.0, False)])
def test_a_late_frame_does_not_forget_the_shape(late_s, known):
    model, body, rng, posture, frame, pixels = _scene(2)
    fitter, shapes = BodyFitter(HUMAN, model), []
    for now_s in (*np.arange(20) / 30, 19 / 30 - late_s):
        pose = noisy_pose(body, posture, rng, 0.04)
        (track,) = fitter.update([Track(1, pose)], [pixels], replace(frame, timestamp_s=now_s))
        shapes.append(track.fit.shape)
    (alone,) = BodyFitter(HUMAN, model).update([Track(1, pose)], [pixels], frame)
    assert np.array_equal(shapes[-1], alone.fit.shape) != known
    assert np.allclose(shapes[-1], shapes[-2], atol=0.2) or not known


@pytest.mark.parametrize("seed", range(4))
def test_the_last_posture_holds_nobody_back(seed):
    model, body, rng, standing, frame, pixels = _scene(seed)
    fitter = BodyFitter(HUMAN, model)
    fitter.update([Track(1, noisy_pose(body, standing, rng, 0.02))], [pixels], frame)
    turns = random_posture(body, rng).turns
    turns[0] = Rotation.from_euler("z", 90, degrees=True).as_matrix() @ turns[0]
    lying = standing._replace(turns=turns)
    frame, pixels = seen_by_camera(model, body, lying)
    for index in range(1, 3):
        tracks = [Track(1, noisy_pose(body, lying, rng, 0.02))]
        (track,) = fitter.update(tracks, [pixels], replace(frame, timestamp_s=index / 30))
    assert np.linalg.norm(track.fit.joints_m - place(body, lying)[2], axis=1).mean() < 0.04


def test_at_ten_frames_a_second_joints_rest_in_every_frame():
    model, body, rng, posture, frame, pixels = _scene(0)
    tracks = [Track(1, noisy_pose(body, posture, rng, 0.03)) for _ in range(9)]
    # speeds depend on the interval; here they say nothing
    alone = partial(BodyFitter, HUMAN, model, weights=Weights(motion_sigma_m_s=1e150, motion_bound_m_s=1e150))
    at_ten, a_little_faster = (
        [
            fitter.update([track], [pixels], replace(frame, timestamp_s=start_s + index * step))[0].fit.joints_m
            for index, track in enumerate(tracks)
        ]
        for fitter, start_s, step in ((alone(), 0.0, 1 / 10), (alone(), 0.0, 0.0999))
    )
    np.testing.assert_array_equal(at_ten, a_little_faster)


def test_after_a_fifth_of_a_second_joints_rest_no_more():
    model, body, rng, posture, frame, pixels = _scene(0)
    first, second = (Track(1, noisy_pose(body, posture, rng, 0.03)) for _ in range(2))
    found = []
    for later_s in (0.1, 0.2, 0.5):
        fitter = BodyFitter(HUMAN, model)
        fitter.update([first], [pixels], frame)
        found += fitter.update([second], [pixels], replace(frame, timestamp_s=later_s))
    rested, moved, later = (track.fit.joints_m for track in found)
    np.testing.assert_array_equal(moved, later)
    assert np.abs(rested - moved).max() > 0.001


def _followed(poses, weights):
    """Joints of the last of several poses, 30 a second, fitted with these weights: float64 (J, 3)."""
    model, _ = human()
    fitter = BodyFitter(HUMAN, model, weights=weights)
    for index, pose in enumerate(poses):
        (track,) = fitter.update_joints([Track(1, pose)], index / 30)
    return track.fit.joints_m


FREE = Weights(motion_sigma_m_s=1e3)


def test_an_arm_that_leaps_is_held_back():
    _, body, rng, posture, _, _ = _scene(0)
    pose, arm = noisy_pose(body, posture, rng, 0.0), [HUMAN.joint_index(f"left_{part}") for part in ("wrist", "hand")]
    leapt_m = pose.joints_m.copy()
    leapt_m[arm, 0] += 0.15
    poses, moved_m = [pose] * 6 + [replace(pose, joints_m=leapt_m)], []
    for weights in (Weights(), FREE):
        before_m, after_m = _followed(poses[:-1], weights), _followed(poses, weights)
        moved_m.append(np.linalg.norm(after_m - before_m, axis=1)[arm].mean())
    assert moved_m[0] < 0.7 * moved_m[1]


@pytest.mark.parametrize("speed_m_s", [0.5, 1.5, 3.0])
def test_somebody_who_walks_is_not_held_back(speed_m_s):
    _, body, rng, posture, _, _ = _scene(0)
    pose, step_m = noisy_pose(body, posture, rng, 0.0), np.array([speed_m_s / 30, 0.0, 0.0])
    poses = [replace(pose, joints_m=pose.joints_m + index * step_m) for index in range(15)]
    held_m, free_m = (np.linalg.norm(_followed(poses, each) - poses[-1].joints_m, axis=1) for each in (Weights(), FREE))
    assert held_m.mean() < free_m.mean() + 0.001


def test_a_frame_like_the_last_makes_no_joint_more_certain():
    model, body, rng, posture, frame, pixels = _scene(0)
    fitter, track = BodyFitter(HUMAN, model), Track(1, noisy_pose(body, posture, rng, 0.03))
    once, twice = (
        fitter.update([track], [pixels], replace(frame, timestamp_s=now_s))[0].fit.sigma_m for now_s in (0.0, 1 / 30)
    )
    np.testing.assert_allclose(twice, once, rtol=0.005)


def test_what_the_caller_does_to_joints_moves_no_body():
    model, body, rng, posture, _, _ = _scene(0)
    pose, alone, changed = noisy_pose(body, posture, rng, 0.03), BodyFitter(HUMAN, model), BodyFitter(HUMAN, model)
    for fitter, shift_m in ((alone, 0.0), (changed, 0.005)):
        (shown,) = fitter.update_joints([Track(1, pose)], 0.0)
        shown.fit.joints_m[:] += shift_m
    one, other = (each.update_joints([Track(1, pose)], 1 / 30)[0].fit for each in (alone, changed))
    np.testing.assert_array_equal(one.joints_m, other.joints_m)


def test_without_tracking_a_frame_depends_on_itself_alone():
    model, body, rng, posture, frame, pixels = _scene(0)
    track = Track(1, noisy_pose(body, posture, rng, 0.05))
    fitter = BodyFitter(HUMAN, model, tracking=False)
    first, second = (fitter.update([track], [pixels], replace(frame, timestamp_s=t))[0].fit for t in (0.0, 0.1))
    np.testing.assert_array_equal(first.joints_m, second.joints_m)


def test_a_person_without_pixels_keeps_their_pose():
    model, body, rng, posture, frame, pixels = _scene(0)
    nothing = PersonPixels(pixels.points_m[:0], pixels.probabilities[:0], np.zeros_like(pixels.mask))
    track = Track(1, noisy_pose(body, posture, rng, 0.05))
    assert BodyFitter(HUMAN, model).update([track], [nothing], frame) == (track,)


def test_a_body_model_of_another_body_is_refused():
    model, *_ = human()
    with pytest.raises(ValueError, match="build a body model"):
        BodyFitter(BodyDefinition("other", ("shell",), ("middle",), {}), model)


def test_the_fitter_holds_no_more_after_poses_of_many_kinds():
    """People who are hidden in part lack ever other joints."""
    model, body, rng, posture, _, _ = _scene(0)
    fitter, pose, sizes = BodyFitter(HUMAN, model), noisy_pose(body, posture, rng, 0.02), []
    for index in range(40):
        kept = np.sort(rng.permutation(len(pose.names))[:12])
        names = tuple(pose.names[row] for row in kept)
        partial = Pose(names, pose.joints_m[kept], pose.confidences[kept])
        fitter.update_joints([Track(1, partial)], index / 30)
        sizes.append(len(pickle.dumps(fitter)))
    assert sizes[-1] <= sizes[0] + 100
