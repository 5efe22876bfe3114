"""Sequences: the same people from the first frame to the last, and what each scenario promises."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.motion.motion_plans import SCENARIOS, MotionPlanner, follow, scenario_of
from synth.motion.motions import Motions
from synth.motion.poses.clips import Motion, embedded_motion
from synth.recipe import FPS
from synth.sequences import SequenceRenderer, render_sequence
from tests.support.rendered_people import people_of, recipe_of

RECIPE = recipe_of(seed=11, poses="all", wardrobe="full", noise=False, camera_height_m=(0.8, 1.6))
PELVIS = HUMAN.joint_index("pelvis")


@pytest.fixture(scope="module")
def people():
    return people_of(RECIPE)


def render(people, scenario, frames=60, index=0, recipe=RECIPE, motions=None):
    return list(render_sequence(people, recipe, index, frames, motions, scenario))


@pytest.fixture(scope="module")
def crossing(people):
    return render(people, "crossing")


def limb_lengths(joints_m):
    """Of the bones that a pose cannot stretch: float (B,)."""
    rigid = ("elbow", "wrist", "hand", "knee", "ankle", "foot")
    ends = [(a, b) for a, b in HUMAN.bones() if HUMAN.joints[a].endswith(rigid)]
    return np.array([np.linalg.norm(joints_m[a] - joints_m[b]) for a, b in ends])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_everybody_keeps_their_row_and_bones(people, scenario):
    frames = render(people, scenario, frames=12)
    assert [frame.depth.index for frame in frames] == list(range(12))
    np.testing.assert_allclose([frame.depth.timestamp_s for frame in frames], np.arange(12) / FPS)
    for person in range(len(frames[0].joints_m)):
        lengths = np.array([limb_lengths(frame.joints_m[person]) for frame in frames])
        assert np.ptp(lengths, axis=0).max() < 1e-5


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nobody_leaps(people, scenario):
    frames = render(people, scenario)
    for a, b in pairwise(frames):
        assert np.linalg.norm(b.joints_m[:, PELVIS] - a.joints_m[:, PELVIS], axis=1).max() * FPS < 3.0


def test_ids_of_pixels_are_those_of_rows(crossing):
    for frame in crossing[::6]:
        for person, joints_m in enumerate(frame.joints_m, start=1):
            rows, cols = np.nonzero(frame.people == person)
            if len(rows) > 200:
                points = frame.depth.intrinsics.deproject_pixels(rows, cols, frame.depth.depth_m[rows, cols])
                assert abs(np.median(points[:, 2]) - joints_m[PELVIS, 2]) < 0.4


def test_two_who_cross_change_sides_and_one_hides_the_other(crossing):
    pelvis = np.array([frame.joints_m[:, PELVIS] for frame in crossing])
    lateral, depth = pelvis[..., 0], pelvis[..., 2]
    assert np.sign(lateral[0, 0] - lateral[0, 1]) != np.sign(lateral[-1, 0] - lateral[-1, 1])
    assert (depth[:, 1] > depth[:, 0] + 0.4).all()
    seen = np.array([np.count_nonzero(frame.people == 2) for frame in crossing])
    assert seen.min() < 0.4 * np.median(seen)
    joints_seen = np.array([frame.visible[1].sum() for frame in crossing])
    assert joints_seen[seen.argmin()] < np.median(joints_seen)


def test_people_who_meet_turn_back(people):
    pelvis = np.array([frame.joints_m[:, PELVIS, 0] for frame in render(people, "meeting")])
    gap = pelvis[:, 0] - pelvis[:, 1]
    assert np.sign(gap[0]) == np.sign(gap[-1])
    assert np.abs(gap).min() < 0.5 * min(abs(gap[0]), abs(gap[-1]))


def test_a_still_person_does_not_move_but_noise_does(people):
    noisy = recipe_of(seed=11, poses="all")
    frames = render(people, "standing", frames=4, recipe=noisy)
    for frame in frames[1:]:
        np.testing.assert_array_equal(frame.joints_m, frames[0].joints_m)
        assert (frame.depth.depth_m != frames[0].depth.depth_m).any()


def test_a_sequence_depends_on_seed_and_index_alone(people):
    first, again = (render(people, "crowd", frames=5, index=3) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.depth.depth_m, b.depth.depth_m)
        np.testing.assert_array_equal(a.people, b.people)
        np.testing.assert_array_equal(a.joints_m, b.joints_m)
    other = render(people, "crowd", frames=5, index=4)
    assert (other[0].depth.depth_m != first[0].depth.depth_m).any()


def test_the_number_chooses_the_scenario(people):
    counts = [len(next(render_sequence(people, RECIPE, index, 2)).joints_m) for index in range(len(SCENARIOS))]
    assert set(counts) == {1, 2, 3}
    assert counts[list(SCENARIOS).index("crossing")] == 2
    assert [scenario_of(index) for index in range(len(SCENARIOS))] == list(SCENARIOS)
    assert scenario_of(len(SCENARIOS) + 1) == "crossing"


def test_an_unknown_scenario_is_refused(people):
    with pytest.raises(ValueError, match="no scenario 'ballet'"):
        render(people, "ballet")


def test_a_short_motion_is_played_to_and_fro(people):
    walk = embedded_motion("humanoid3d_walk")
    short = Motion(walk.rotations[:5], walk.root_m[:5], walk.fps)
    assert len(render(people, "walking", motions=Motions((short,), (short,)))) == 60
    one = Motion(walk.rotations[:1], walk.root_m[:1], walk.fps)
    assert len(render(people, "walking", frames=3, motions=Motions((one,), (one,)))) == 3


@pytest.mark.parametrize("fps", [6, 10, 24, 29.97, 30, 60, 120])
def test_any_part_of_a_long_motion_is_played_forwards(fps):
    """A motion of 10 s, in which the time stands in for the pose, and sequences of 2 s."""
    times_s = np.arange(round(10 * fps)) / fps
    poses = np.repeat(times_s, 80).reshape(-1, 20, 4)
    motions = (Motion(poses, np.zeros((len(poses), 3)), fps),)
    planners = (MotionPlanner(Motions(motions, ()), 60, np.random.default_rng(seed)) for seed in range(200))
    played_s = np.array([planner._play(motions)[:, 0, 0] for planner in planners])
    assert (np.diff(played_s) >= 0).all()
    assert played_s[:, 0].min() < 0.5
    assert played_s[:, -1].max() > 9.0


def test_people_face_the_direction_of_their_walk():
    places, yaw = follow(np.array([[-1.0, 2.0], [1.0, 2.0]]), np.array([0.0, 2.0]), 60)
    np.testing.assert_allclose(places[30], [0, 2], atol=1e-9)
    np.testing.assert_allclose(np.diff(places[:, 0]) * FPS, 1.0)
    np.testing.assert_allclose(yaw, np.pi / 2)  # the body's front, +z, turned towards the image's right
    _, towards = follow(np.array([[0.0, 3.0], [0.0, 2.0]]), np.array([0.0, 1.0]), 30)
    np.testing.assert_allclose(towards, 0)


def test_corners_are_smoothed():
    places, yaw = follow(np.array([[0.0, 2.0], [1.0, 2.0], [0.0, 2.0]]), np.array([0.0, 1.0, 2.0]), 60)
    assert np.abs(np.diff(places[:, 0], n=2)).max() * FPS**2 < 6  # an abrupt turn would be 60 m/s^2
    assert np.abs(np.diff(yaw)).max() < np.radians(20)
    assert abs(yaw[-1] - yaw[0]) == pytest.approx(np.pi)


def test_a_second_camera_sees_the_same_people_at_the_same_time():
    views = []
    for orbit_deg in (0.0, 90.0):
        recipe = recipe_of(frames=6, sequence_frames=6, seed=5, room_share=1.0, orbit_deg=orbit_deg)
        renderer = SequenceRenderer(recipe, people_of(recipe), Motions.embedded())
        views.append((renderer.extrinsics(1), list(islice(renderer.frames(6, 6), 2))))
    for first, second in zip(*(frames for _, frames in views), strict=True):
        places_m = [
            pose.world_points(frame.joints_m.astype(float))
            for (pose, _), frame in zip(views, (first, second), strict=True)
        ]
        np.testing.assert_allclose(places_m[0], places_m[1], atol=1e-4)
    for pose, frames in views:
        room = (frames[0].people == 0) & (frames[0].depth.depth_m > 0)
        heights_m = pose.world_points(frames[0].depth.intrinsics.deproject(frames[0].depth.depth_m)[room])[:, 2]
        assert -0.15 < np.percentile(heights_m, 1) < 0.1  # the floor lies at 0


def test_one_camera_has_no_pose_in_the_manifest():
    recipe = recipe_of(frames=6, sequence_frames=6)
    assert SequenceRenderer(recipe, people_of(recipe), Motions.embedded()).extrinsics(0) is None
