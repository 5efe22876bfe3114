"""What a page shows lies where the camera saw it, in the colours of its parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posepipe.body import HUMAN
from posepipe.camera import Extrinsics, Intrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult, JointProposal, Pose, Track
from posepipe.sinks.images.drawing import part_colours
from posepipe.viewer.scene.ground import UPRIGHT, Ground, heading
from posepipe.viewer.scene.meshes import ball, rod
from posepipe.viewer.scene.palette import NOBODY, Palette
from posepipe.viewer.scene.result_arrays import point_clouds, rods, skeletons, thin_surface

PALETTE = Palette.of(HUMAN)
LENS = Intrinsics(285.0, 285.0, 159.5, 119.5)


def result_of(depth_m, parts=None, lens=LENS, people=()):
    parts = np.zeros(depth_m.shape, np.uint8) if parts is None else parts
    return FrameResult(DepthFrame(depth_m.astype(np.float32), lens), parts > 0, parts, (), people)


def person(id=1, **joints):
    return Track(id, Pose({name: JointProposal(name, xyz_m, 0.5) for name, xyz_m in joints.items()}))


def test_up_in_the_picture_is_up_in_the_world_and_right_is_right():
    depth_m = np.zeros((240, 320))
    depth_m[10, 160], depth_m[120, 300] = 2.0, 3.0
    _, room = point_clouds(thin_surface(result_of(depth_m), PALETTE), UPRIGHT)
    high, right = room.points_m
    np.testing.assert_allclose(high, [2 * 0.5 / 285, 2, 2 * 109.5 / 285], atol=1e-6)
    np.testing.assert_allclose(right, [3 * 140.5 / 285, 3, -3 * 0.5 / 285], atol=1e-6)


def test_a_thinned_picture_of_a_large_sensor_lies_on_the_same_rays():
    depth_m, lens = np.full((720, 1280), 2.0), Intrinsics(640.0, 640.0, 639.5, 359.5)
    surface = thin_surface(result_of(depth_m, lens=lens), PALETTE)
    assert surface.depth_m.shape == (180, 320)
    _, room = point_clouds(surface, UPRIGHT, most=10**6)
    true_m = UPRIGHT.world_points(lens.deproject(depth_m.astype(np.float32))[::4, ::4].reshape(-1, 3))
    np.testing.assert_allclose(room.points_m, true_m, atol=1e-5)


def test_people_have_the_colours_of_their_parts_and_the_room_is_grey():
    depth_m, parts = np.full((240, 320), 3.0), np.zeros((240, 320), np.uint8)
    hand = HUMAN.part_code("left_hand")
    parts[100:140, 100:140] = hand
    people, room = point_clouds(thin_surface(result_of(depth_m, parts), PALETTE), UPRIGHT)
    true = part_colours(HUMAN)[hand][::-1].astype(float)
    assert len(people.points_m) == 1600
    for colours, full in ((people.colours, true), (room.colours, np.array(NOBODY))):
        bright = colours.astype(float).mean(axis=0)
        assert 0.3 < np.linalg.norm(bright) / np.linalg.norm(full) <= 1
        np.testing.assert_allclose(bright / np.linalg.norm(bright), full / np.linalg.norm(full), atol=0.02)


def test_never_more_points_than_asked_for_and_people_come_first():
    depth_m, parts = np.full((480, 640), 2.0), np.zeros((480, 640), np.uint8)
    parts[100:300, 100:300] = 1
    surface = thin_surface(result_of(depth_m, parts, LENS.scaled(2)), PALETTE)
    people, room = point_clouds(surface, UPRIGHT, most=20_000)
    assert len(people.points_m) == 100 * 100
    assert 2000 < len(room.points_m) <= 10_000
    assert room.gap_m > people.gap_m
    people, room = point_clouds(surface, UPRIGHT, most=1000)
    assert 0 < len(people.points_m) <= 750
    assert 0 < len(room.points_m) <= 1000 - len(people.points_m)


def test_a_still_scene_keeps_its_points():
    depth_m = np.full((240, 320), 2.0)
    clouds = [point_clouds(thin_surface(result_of(depth_m), PALETTE), UPRIGHT)[1] for _ in range(2)]
    np.testing.assert_array_equal(clouds[0].points_m, clouds[1].points_m)


@pytest.mark.parametrize("shape", [(1, 1), (3, 500), (240, 320)])
def test_a_picture_without_readings_has_no_points(shape):
    surface = thin_surface(result_of(np.zeros(shape)), PALETTE)
    assert [len(cloud.points_m) for cloud in point_clouds(surface, UPRIGHT)] == [0, 0]
    assert surface.colours.max() == 0


def test_a_bone_needs_both_ends_and_colours_tell_left_from_right():
    track = person(head=(0, 0, 2), neck=(0, 0.2, 2), left_hand=(0.5, 0, 2), right_hand=(-0.5, 0, 2))
    found = skeletons([track], HUMAN, UPRIGHT, PALETTE)
    assert len(found.joints_m) == 4
    np.testing.assert_allclose(found.bones_m, [[[0, 2, 0], [0, 2, -0.2]]], atol=1e-6)
    left, right = found.joint_colours[2].astype(int), found.joint_colours[3].astype(int)
    assert left[0] > left[2]  # warm
    assert right[2] > right[0]  # cold


def test_a_label_stands_over_the_highest_joint_of_each_person():
    two = [person(3, head=(0, -0.5, 2), torso=(0, 0, 2)), person(7, torso=(1, 0, 3)), person(9)]
    labels = skeletons(two, HUMAN, UPRIGHT, PALETTE).labels
    assert set(labels) == {3, 7}
    np.testing.assert_allclose(labels[3][:2], [0, 2], atol=1e-6)
    assert 0.5 < labels[3][2] < 1


def test_nobody_is_nothing():
    found = skeletons([], HUMAN, UPRIGHT, PALETTE)
    assert found.joints_m.shape == (0, 3)
    assert found.bones_m.shape == (0, 2, 3)
    assert rods(found.bones_m)[1].shape == (0, 4)


def test_joints_that_the_body_does_not_have_are_left_out():
    assert len(skeletons([person(tail=(0, 0, 1))], HUMAN, UPRIGHT, PALETTE).joints_m) == 0


def turned(wxyz, vector):
    """A vector turned by a quaternion: q v q*."""
    w, xyz = wxyz[0], wxyz[1:]
    return vector + 2 * np.cross(xyz, np.cross(xyz, vector) + w * vector)


@given(arrays(float, (2, 3), elements=st.floats(-3, 3).map(lambda x: round(x, 3))))
def test_a_rod_goes_from_one_end_to_the_other(ends_m):
    (start_m,), (wxyz,), (length_m,) = rods(ends_m[None])
    np.testing.assert_allclose(start_m + length_m * turned(wxyz, np.array([0, 0, 1.0])), ends_m[1], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(wxyz), 1, atol=1e-5)


@pytest.mark.parametrize("shape", [ball, rod])
def test_triangles_face_outwards(shape):
    vertices, triangles = shape()
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    normal, middle = np.cross(b - a, c - a), (a + b + c) / 3
    outwards = middle * [1, 1, 0] if shape is rod else middle
    area = np.linalg.norm(normal, axis=1)
    assert (area > 1e-6).sum() >= 32
    assert ((normal * outwards).sum(axis=1)[area > 1e-6] > 0).all()


def floor(height_m, tilt_deg=0.0):
    """Where a camera is that sees the floor so."""
    tilt = np.radians(tilt_deg)
    return Extrinsics.above_floor(Plane((0.0, -float(np.cos(tilt)), -float(np.sin(tilt))), height_m))


def test_the_scene_stands_on_the_floor_and_does_not_forget_it():
    ground = Ground()
    assert ground.world(None) is UPRIGHT
    assert not ground.is_known
    world = ground.world(floor(1.2, 10))
    feet = np.array([0, 1.2 / np.cos(np.radians(10)), 0])  # below the camera, on the floor
    assert abs(world.world_points(feet)[2]) < 1e-9
    assert ground.world(None) is world
    assert ground.is_known


def test_the_floor_does_not_tremble_but_follows_a_camera_that_moved():
    ground = Ground()
    ground.world(floor(1.2))
    heights = [ground.world(floor(1.2 + 0.02 * (-1) ** k)).translation_m[2] for k in range(50)]
    assert np.ptp(heights) < 0.005
    assert ground.world(floor(1.6)).translation_m[2] == 1.6
    np.testing.assert_array_equal(ground.world(floor(1.6, 20)).rotation, floor(1.6, 20).rotation)
    steadied = ground.world(floor(1.6, 21)).rotation
    np.testing.assert_allclose(steadied @ steadied.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("turn_deg", [0, 90, 200])
def test_ahead_is_where_the_camera_looks(turn_deg):
    turn = np.radians(turn_deg)
    about_z = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    for tilt_deg in (0, 30, -30):
        level = floor(1.5, tilt_deg)
        ahead = heading(Extrinsics(about_z @ level.rotation, level.translation_m))
        np.testing.assert_allclose(ahead, [-np.sin(turn), np.cos(turn)], atol=1e-9)


def test_a_camera_that_looks_down_has_the_top_of_its_picture_ahead():
    down = Extrinsics.above_floor(Plane((0.0, 0.0, -1.0), 2.5))
    np.testing.assert_allclose(heading(down), [0, 1], atol=1e-9)
