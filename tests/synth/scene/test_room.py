"""Rooms: a floor, walls and furniture around people, clear of them."""

import numpy as np

from posepipe.camera import Intrinsics
from synth.geometry.mesh import BACKGROUND
from synth.render.rasterizer import render_depth
from synth.scene.placement import Placement
from synth.scene.room import build_room


def test_a_room_has_a_floor_and_furniture_clear_of_people():
    rng = np.random.default_rng(2)
    furnished = 0
    for _ in range(80):
        people = [np.array([rng.uniform(-1, 1), rng.uniform(-4, -1)]) for _ in range(rng.integers(1, 4))]
        room = build_room(people, rng)
        assert (room.labels == BACKGROUND).all()
        boxes = room.vertices_m.reshape(-1, 8, 3)  # a room is made of boxes: the floor first
        low, high = boxes.min(axis=1), boxes.max(axis=1)
        assert high[0, 1] == 0
        in_reach = (low[:, 1] < 1.8) & (high[:, 1] > 0.02)  # neither floor nor ceiling
        furnished += in_reach.sum() > 3  # more than walls
        for person in people:
            assert (low[0, [0, 2]] < person).all()
            assert (person < high[0, [0, 2]]).all()
            gap = np.maximum(np.maximum(low - [person[0], 0, person[1]], [person[0], 0, person[1]] - high), 0)
            assert np.linalg.norm(gap[in_reach][:, [0, 2]], axis=1).min(initial=9) >= 0.29
    assert furnished > 40


def test_furniture_and_walls_are_clear_of_what_people_reach():
    rng = np.random.default_rng(3)
    places, clear_m = np.array([[0.2, -2.5], [1.6, -3.0]]), [0.3, 1.2]
    furnished = nearer = 0
    for _ in range(40):
        boxes = build_room(list(places), rng, clear_m).vertices_m.reshape(-1, 8, 3)
        low, high = boxes.min(axis=1), boxes.max(axis=1)
        solid = (low[:, 1] < 1.8) & (high[:, 1] > 0.02)  # neither floor nor ceiling
        low, high = low[solid][:, None, [0, 2]], high[solid][:, None, [0, 2]]
        gaps_m = np.linalg.norm(np.maximum(np.maximum(low - places, places - high), 0), axis=2)
        assert (gaps_m.min(axis=0) >= np.array(clear_m) - 1e-6).all()
        nearer += gaps_m[:, 0].min() < 1.2
        furnished += len(gaps_m) > 3
    assert furnished > 20
    assert nearer > 5  # than the other person reaches


def test_rooms_differ_and_one_seed_gives_one_room():
    at = [np.array([0.0, -2.0])]
    one, same, other = (build_room(at, np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.vertices_m, same.vertices_m)
    assert len(one.vertices_m) != len(other.vertices_m) or not np.allclose(one.vertices_m, other.vertices_m)


def test_a_camera_at_the_ceiling_sees_floor_and_furniture():
    lens, size, seen = Intrinsics(100.0, 100.0, 79.5, 59.5), (120, 160), 0
    for seed in range(20):
        placement = Placement(0.0, 0.3, 0.1, 3.3, 1.5, 0.0)
        room = build_room([placement.floor_place_m], np.random.default_rng(seed), camera_height_m=3.3)
        points_m = placement.world_view().camera_points(room.vertices_m)
        depth_m = render_depth(points_m, room.triangles, lens, *size)[0]
        assert np.mean(depth_m > 0.3) > 0.6  # beyond a side without a wall, nothing is seen
        seen += np.any((depth_m > 0.5) & (depth_m < 3.0))
    assert seen > 3


def test_people_near_the_camera_have_a_room_too():
    for seed in range(20):
        boxes = build_room([np.array([0.0, -0.2])], np.random.default_rng(seed)).vertices_m.reshape(-1, 8, 3)
        assert boxes[0, :, 2].min() < -0.2


def test_triangles_that_face_away_are_hidden_by_the_others():
    lens, size = Intrinsics(100.0, 100.0, 79.5, 59.5), (120, 160)
    placement = Placement(0.0, 2.5, 0.2, 1.4, 0.2, 0.05)
    for seed in range(5):
        room = build_room([placement.floor_place_m], np.random.default_rng(seed))
        facing = room.facing(placement.camera_m)
        assert 0.2 < len(facing.triangles) / len(room.triangles) < 0.6
        images = [
            render_depth(placement.world_view().camera_points(mesh.vertices_m), mesh.triangles, lens, *size)[0]
            for mesh in (room, facing)
        ]
        np.testing.assert_array_equal(*images)
