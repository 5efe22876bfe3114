"""Points, joints and bones are at their world positions, in the colours of their parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.images.drawing import part_colours
from posepipe.viewer.scene.camera_placement import LEVEL_CAMERA
from posepipe.viewer.scene.palette import BACKGROUND, Palette
from posepipe.viewer.scene.result_arrays import cylinder_transforms, point_clouds, skeletons, subsample
from tests.support.found_people import track_of

PALETTE = Palette.of(HUMAN)
LENS = Intrinsics(285.0, 285.0, 159.5, 119.5)


def result_of(depth_m, parts=None, lens=LENS, people=()):
    parts = np.zeros(depth_m.shape, np.uint8) if parts is None else parts
    return FrameResult(DepthFrame(depth_m.astype(np.float32), lens), parts > 0, parts, (), people)


def person(id=1, **joints):
    return track_of(id, joints, 0.5)


def test_up_and_right_in_the_image_are_up_and_right_in_the_world():
    depth_m = np.zeros((240, 320))
    depth_m[10, 160], depth_m[120, 300] = 2.0, 3.0
    _, room = point_clouds(subsample(result_of(depth_m), PALETTE), LEVEL_CAMERA)
    high, right = room.points_m
    np.testing.assert_allclose(high, [2 * 0.5 / 285, 2, 2 * 109.5 / 285], atol=1e-6)
    np.testing.assert_allclose(right, [3 * 140.5 / 285, 3, -3 * 0.5 / 285], atol=1e-6)


def test_subsampled_points_of_a_large_sensor_are_on_its_rays():
    depth_m, lens = np.full((720, 1280), 2.0), Intrinsics(640.0, 640.0, 639.5, 359.5)
    surface = subsample(result_of(depth_m, lens=lens), PALETTE)
    assert surface.depth_m.shape == (180, 320)
    _, room = point_clouds(surface, LEVEL_CAMERA, max_points=10**6)
    true_m = LEVEL_CAMERA.world_points(lens.deproject(depth_m.astype(np.float32))[::4, ::4].reshape(-1, 3))
    np.testing.assert_allclose(room.points_m, true_m, atol=1e-5)


def test_people_have_part_colours_and_the_room_is_grey():
    depth_m, parts = np.full((240, 320), 3.0), np.zeros((240, 320), np.uint8)
    hand = HUMAN.part_code("left_hand")
    parts[100:140, 100:140] = hand
    people, room = point_clouds(subsample(result_of(depth_m, parts), PALETTE), LEVEL_CAMERA)
    true = part_colours(HUMAN)[hand][::-1].astype(float)
    assert len(people.points_m) == 1600
    for colours, full in ((people.colours, true), (room.colours, np.array(BACKGROUND))):
        bright = colours.astype(float).mean(axis=0)
        assert 0.3 < np.linalg.norm(bright) / np.linalg.norm(full) <= 1
        np.testing.assert_allclose(bright / np.linalg.norm(bright), full / np.linalg.norm(full), atol=0.02)


def test_points_stay_below_the_maximum_and_people_come_first():
    depth_m, parts = np.full((480, 640), 2.0), np.zeros((480, 640), np.uint8)
    parts[100:300, 100:300] = 1
    surface = subsample(result_of(depth_m, parts, LENS.scaled(2)), PALETTE)
    people, room = point_clouds(surface, LEVEL_CAMERA, max_points=20_000)
    assert len(people.points_m) == 100 * 100
    assert 2000 < len(room.points_m) <= 10_000
    assert room.spacing_m > people.spacing_m
    people, room = point_clouds(surface, LEVEL_CAMERA, max_points=1000)
    assert 0 < len(people.points_m) <= 750
    assert 0 < len(room.points_m) <= 1000 - len(people.points_m)


def test_a_still_scene_keeps_its_points():
    depth_m = np.full((240, 320), 2.0)
    clouds = [point_clouds(subsample(result_of(depth_m), PALETTE), LEVEL_CAMERA)[1] for _ in range(2)]
    np.testing.assert_array_equal(clouds[0].points_m, clouds[1].points_m)


@pytest.mark.parametrize("shape", [(1, 1), (3, 500), (240, 320)])
def test_a_picture_without_readings_has_no_points(shape):
    surface = subsample(result_of(np.zeros(shape)), PALETTE)
    assert [len(cloud.points_m) for cloud in point_clouds(surface, LEVEL_CAMERA)] == [0, 0]
    assert surface.colours.max() == 0


def test_a_bone_needs_both_ends_and_colours_tell_left_from_right():
    track = person(head=(0, 0, 2), neck=(0, 0.2, 2), left_hand=(0.5, 0, 2), right_hand=(-0.5, 0, 2))
    found = skeletons([track], HUMAN, LEVEL_CAMERA, PALETTE)
    assert len(found.joints_m) == 4
    np.testing.assert_allclose(found.bones_m, [[[0, 2, 0], [0, 2, -0.2]]], atol=1e-6)
    left, right = found.joint_colours[2].astype(int), found.joint_colours[3].astype(int)
    assert left[0] > left[2]  # warm
    assert right[2] > right[0]  # cold


def test_a_label_is_above_the_highest_joint_of_each_person():
    two = [person(3, head=(0, -0.5, 2), torso=(0, 0, 2)), person(7, torso=(1, 0, 3)), person(9)]
    labels = skeletons(two, HUMAN, LEVEL_CAMERA, PALETTE).labels
    assert set(labels) == {3, 7}
    np.testing.assert_allclose(labels[3][:2], [0, 2], atol=1e-6)
    assert 0.5 < labels[3][2] < 1


def test_without_people_there_is_nothing_to_draw():
    found = skeletons([], HUMAN, LEVEL_CAMERA, PALETTE)
    assert found.joints_m.shape == (0, 3)
    assert found.bones_m.shape == (0, 2, 3)
    assert cylinder_transforms(found.bones_m)[1].shape == (0, 4)


def test_joints_that_the_body_does_not_have_are_left_out():
    assert len(skeletons([person(tail=(0, 0, 1))], HUMAN, LEVEL_CAMERA, PALETTE).joints_m) == 0


def rotated(wxyz, vector):
    """A vector rotated by a quaternion: q v q*."""
    w, xyz = wxyz[0], wxyz[1:]
    return vector + 2 * np.cross(xyz, np.cross(xyz, vector) + w * vector)


@given(arrays(float, (2, 3), elements=st.floats(-3, 3).map(lambda x: round(x, 3))))
def test_a_cylinder_goes_from_one_end_to_the_other(ends_m):
    (start_m,), (wxyz,), (length_m,) = cylinder_transforms(ends_m[None])
    np.testing.assert_allclose(start_m + length_m * rotated(wxyz, np.array([0, 0, 1.0])), ends_m[1], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(wxyz), 1, atol=1e-5)
