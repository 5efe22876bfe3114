"""The pose of a camera from a person who walks: planted motions and offsets are found, or refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.camera import Plane
from posepipe.errors import PosepipeError
from posepipe.multiview.calibration import CameraCalibration
from posepipe.multiview.joint_tracks import JointTrack, TrackCollector, pair_tracks
from posepipe.multiview.rigid_alignment import RigidMotion, fit_rigid_motion, refine_rigid_motion
from posepipe.multiview.walk_calibration import calibrate_walk
from posepipe.results import Pose, Track
from tests.support.toy_person import TOY

RATE_S = 1 / 30
#: of the second camera, in the axes of the first
MOTION = RigidMotion(Rotation.from_euler("yxz", [80, 10, -4], degrees=True).as_matrix(), np.array([-2.6, 0.2, 2.4]))


def body_m(rng):
    """Twelve joints of a person, relative to their middle."""
    return rng.normal(0, 1, (12, 3)) * [0.2, 0.5, 0.15]


def walk(frames=90, noise_m=0.02, speed_m_s=0.9, turn_rad_s=0.6, swing_m=0.25, seed=1):
    """Somebody who walks along an arc and swings, seen by the first camera and by the second."""
    rng = np.random.default_rng(seed)
    joints_m, times_s = body_m(rng), RATE_S * np.arange(frames)
    turns = turn_rad_s * times_s
    centres_m = np.array([0.0, 0, 2.8]) + speed_m_s * RATE_S * np.cumsum(
        np.stack([np.cos(turns), 0 * turns, np.sin(turns)], axis=1), axis=0
    )
    swings_m = swing_m * np.sin(7 * times_s)[:, None, None] * np.linspace(-1, 1, 12)[:, None] * [0, 0, 1]
    true_m = np.stack(
        [
            Rotation.from_euler("y", -turn).apply(joints_m + each) + centre_m
            for turn, each, centre_m in zip(turns, swings_m, centres_m, strict=True)
        ]
    )
    second_m = (true_m - MOTION.translation_m) @ MOTION.rotation
    return [
        JointTrack(times_s, points_m + rng.normal(0, noise_m, points_m.shape), np.full(points_m.shape[:2], 0.8))
        for points_m in (true_m, second_m)
    ]


def errors(found):
    """Angle in degrees, and distance in metres."""
    turn = Rotation.from_matrix(found.rotation @ MOTION.rotation.T).magnitude()
    return np.degrees(turn), np.linalg.norm(found.translation_m - MOTION.translation_m)


def test_an_exact_motion_is_found():
    from_m = np.random.default_rng(0).normal(0, 1, (9, 3))
    assert errors(fit_rigid_motion(from_m, MOTION.apply(from_m), np.ones(9))) == pytest.approx((0, 0), abs=1e-9)


def test_points_in_a_plane_are_not_mirrored():
    from_m = np.random.default_rng(0).normal(0, 1, (9, 3)) * [1, 1, 0]
    found = fit_rigid_motion(from_m, MOTION.apply(from_m), np.ones(9))
    assert np.linalg.det(found.rotation) == pytest.approx(1)
    assert errors(found) == pytest.approx((0, 0), abs=1e-6)


def test_a_weight_of_0_leaves_a_point_out():
    from_m = np.random.default_rng(0).normal(0, 1, (9, 3))
    to_m = MOTION.apply(from_m)
    to_m[0] += 5
    weights = np.array([0.0, *np.ones(8)])
    assert errors(fit_rigid_motion(from_m, to_m, weights)) == pytest.approx((0, 0), abs=1e-9)


def test_outliers_hardly_move_a_refined_motion():
    rng = np.random.default_rng(0)
    from_m = rng.normal(0, 1, (200, 3))
    to_m = MOTION.apply(from_m) + rng.normal(0, 0.005, (200, 3))
    to_m[:40] += rng.normal(0, 0.5, (40, 3))
    plain = fit_rigid_motion(from_m, to_m, np.ones(200))
    refined = refine_rigid_motion(plain, from_m, to_m, np.ones(200))
    assert errors(refined)[1] < 0.004 < errors(plain)[1]


def test_a_walk_gives_the_pose_of_the_second_camera():
    first, second = walk()
    found = calibrate_walk([first], [second])
    angle_deg, distance_m = errors(found.motion)
    assert angle_deg < 0.3
    assert distance_m < 0.02
    assert (found.moments, found.agreeing, found.time_offset_s) == (90, 90, 0)
    assert 0.03 < found.residual_m < 0.08  # two views of 2 cm along an axis


def test_exchanged_sides_and_a_second_person_do_not_disturb():
    rng = np.random.default_rng(5)
    first, second = walk()
    swapped_m = second.joints_m.copy()
    swapped_m[20:45] = swapped_m[20:45, ::-1]
    stranger = JointTrack(second.times_s, body_m(rng) + [0.5, 0, 3.5] + np.zeros((90, 1, 1)), np.full((90, 12), 0.9))
    found = calibrate_walk([first, stranger], [stranger, replace(second, joints_m=swapped_m)])
    assert errors(found.motion)[0] < 0.5
    assert errors(found.motion)[1] < 0.03


@pytest.mark.parametrize("offset_s", [0.0, -0.31])
def test_an_offset_between_clocks_is_found(offset_s):
    first, second = walk(frames=120)
    found = calibrate_walk([first], [replace(second, times_s=second.times_s - offset_s)], max_offset_s=0.4)
    assert found.time_offset_s == pytest.approx(offset_s, abs=0.005)  # half a step of the search
    assert errors(found.motion)[1] < 0.05


@pytest.mark.parametrize("max_offset_s", [0.01, 0.05, 0.2])
def test_no_larger_offset_is_found_than_is_asked_for(max_offset_s):
    first, second = walk(frames=120)
    late = replace(second, times_s=second.times_s - max_offset_s - 0.04)
    assert 0 < calibrate_walk([first], [late], max_offset_s).time_offset_s <= max_offset_s


def test_a_straight_walk_tells_no_offset():
    first, second = walk(turn_rad_s=0.0, swing_m=0.0)
    with pytest.raises(PosepipeError, match="looks alike at other offsets"):
        calibrate_walk([first], [second], max_offset_s=0.4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda first, second: ([first], []), "in both views at 0 moments"),
        (lambda first, second: ([first], [replace(second, times_s=second.times_s + 2.8)]), "at 6 moments, wanted 10"),
        (lambda first, second: ([first], [replace(second, joints_m=second.joints_m[::-1])]), "the views agree at"),
    ],
)
def test_too_little_in_common_is_refused(change, says):
    with pytest.raises(PosepipeError, match=says):
        calibrate_walk(*change(*walk()))


def test_somebody_who_stands_is_refused():
    first, second = walk(speed_m_s=0.05)
    with pytest.raises(PosepipeError, match="let them walk about"):
        calibrate_walk([first], [second])


def test_joints_are_interpolated_and_long_gaps_are_not():
    times_s = np.array([0.0, 0.1, 0.2, 1.2])
    track = JointTrack(times_s, times_s[:, None, None] * np.ones((4, 1, 3)), np.full((4, 1), 0.5))
    joints_m, confidence = track.at(np.array([-0.1, 0.05, 0.2, 0.7, 1.3]))
    np.testing.assert_allclose(confidence[:, 0], [0, 0.5, 0.5, 0, 0])
    np.testing.assert_allclose(joints_m[1:3, 0, 0], [0.05, 0.2])


def test_a_sample_counts_at_its_own_time_whatever_lies_beside_it():
    times_s = np.array([0.0, 0.1, 0.2, 1.0, 1.1])
    confidence = np.array([[0.5], [0.0], [0.6], [0.7], [0.8]])  # not found at 0.1 s, and a gap before 1.0 s
    joints_m = np.where(confidence[..., None] > 0, times_s[:, None, None] * np.ones((5, 1, 3)), np.nan)
    at_m, sure = JointTrack(times_s, joints_m, confidence).at(times_s)
    np.testing.assert_array_equal(sure, confidence)
    np.testing.assert_array_equal(at_m, joints_m)


def test_everybody_is_paired_with_everybody():
    first, second = walk(frames=40)
    pairs = pair_tracks([first, first], [second], 0.0, 10)
    assert len(pairs.moments) == 20
    assert len(np.unique(pairs.moments)) == 10


class Camera:
    """A pipeline that is not asked to find anybody."""

    class classifier:
        body = TOY


def test_the_world_is_that_of_the_first_floor():
    calibration = CameraCalibration([Camera(), Camera()])
    with pytest.raises(PosepipeError, match="camera 1 sees no floor"):
        calibration.find()
    calibration._floors += [Plane((0.0, -1.0, 0.0), 1.4), Plane((0.0, -1.0, 0.0), 1.5), Plane((0.0, -0.6, -0.8), 9.0)]
    for view, track in zip(calibration._views, walk(), strict=True):
        for time_s, joints_m in zip(track.times_s, track.joints_m[:, :4], strict=True):
            view.add(time_s, [Track(1, Pose(TOY.joints, joints_m, np.full(4, 0.8)))])
    first, second = calibration.find()
    np.testing.assert_allclose(first.extrinsics.translation_m, [0, 0, 1.5])
    wanted_m = first.extrinsics.world_points(MOTION.translation_m)
    assert np.linalg.norm(second.extrinsics.translation_m - wanted_m) < 0.05


def test_a_track_keeps_rising_times():
    collector = TrackCollector(TOY)
    pose = Pose(TOY.joints, np.zeros((4, 3)), np.full(4, 0.8))
    for time_s in (0.0, 0.1, 0.1, 0.05, 0.2):
        collector.add(time_s, [Track(3, pose)])
    (track,) = collector.tracks()
    assert track.times_s.tolist() == [0.0, 0.1, 0.2]


@pytest.mark.parametrize(
    ("asked_s", "says"), [(0.0, "--max-offset 2 searches"), (0.1, "a larger --max-offset than 0.1")]
)
def test_the_search_that_is_advised_is_none_that_was_made(asked_s, says):
    first, second = walk()
    with pytest.raises(PosepipeError, match=says):
        calibrate_walk([first], [replace(second, joints_m=second.joints_m[::-1])], asked_s)
