"""What surrounds a body: drapes round its legs, things in its hands, rooms about it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.skinning import pose_body
from synth.clothing.held_objects import carry
from synth.clothing.skirt_mesh import LONGEST_STEP_M, Drape, hang, sample_drape
from synth.geometry.mesh import CARRIED, ROOM, Mesh, box, capsule
from synth.motion.poses.clips import embedded_pose_bank
from synth.render.rasterizer import render_depth
from synth.scene.placement import Placement
from synth.scene.room import build_room

THIGH_M = 0.08


@pytest.fixture(scope="module")
def people():
    """Joints of thirty people in captured poses: (20, 3) each."""
    asset, bank, rng = load_body_asset(), embedded_pose_bank(), np.random.default_rng(0)
    shapes = [sample_body(asset, rng) for _ in range(5)]
    return [pose_body(asset, shapes[k % 5], bank.rotations[29 * k]).joints_m for k in range(30)]


def place(joints_m, name):
    return joints_m[HUMAN.joint_index(name)]


def test_a_box_is_closed_and_as_large_as_asked():
    mesh = box((0, 1, 2), (3, 5, 9), ROOM)
    assert (mesh.vertices_m.min(axis=0) == [0, 1, 2]).all()
    assert (mesh.vertices_m.max(axis=0) == [3, 5, 9]).all()
    t = mesh.triangles
    edges = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    corners = mesh.vertices_m[t]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(2 * (3 * 4 + 4 * 7 + 3 * 7))


def test_a_capsules_skin_lies_at_its_radius():
    start, end = np.array([0.0, 0, 0]), np.array([0.3, 0.4, 0])
    skin = capsule(start, end, (0.1, 0.1)).reshape(-1, 3)
    along = np.clip(skin @ (end - start) / 0.25, 0, 1)
    np.testing.assert_allclose(np.linalg.norm(skin - along[:, None] * end, axis=1), 0.1, atol=1e-9)


def test_joined_meshes_keep_their_triangles():
    one, two = box((0, 0, 0), (1, 1, 1), ROOM), box((2, 0, 0), (3, 1, 1), CARRIED)
    both = Mesh.join([one, two])
    np.testing.assert_array_equal(both.vertices_m[both.triangles[12:]], two.vertices_m[two.triangles])
    assert both.labels.tolist() == [ROOM] * 12 + [CARRIED] * 12


def test_a_drape_hides_both_thighs(people):
    # in the plane of the ring nearest to it, the middle of each thigh lies inside the ring
    for joints in people:
        mesh = hang(Drape(1.0, 0.0, 0.0), joints, THIGH_M, np.random.default_rng(0))
        rings = mesh.vertices_m.reshape(-1, 28, 3)
        step = np.linalg.norm(place(joints, "left_knee") - place(joints, "right_knee"))
        for side in ("left", "right"):
            thigh = (place(joints, f"{side}_hip") + place(joints, f"{side}_knee")) / 2
            away = [abs(plane_of(ring)[1][2] @ (thigh - ring.mean(axis=0))) for ring in rings]
            ring = rings[int(np.argmin(away))]
            centre, axes = plane_of(ring)
            outline = ((ring - centre) @ axes[:2].T).astype(np.float32)
            inside_m = cv2.pointPolygonTest(outline, tuple(map(float, (thigh - centre) @ axes[:2].T)), True)
            assert inside_m > 0 or step > LONGEST_STEP_M  # of who strides, the drape is worn up


def plane_of(ring):
    """Centre of a flat ring (A, 3), and its axes as rows, the last across its plane."""
    centre = ring.mean(axis=0)
    return centre, np.linalg.svd(ring - centre)[2]


def test_a_drape_is_painted_with_the_legs_beneath(people):
    standing = max(people, key=lambda j: place(j, "head")[1] - place(j, "left_ankle")[1])
    mesh = hang(Drape(1.9, 0.05, 0.0), standing, THIGH_M, np.random.default_rng(0))
    names = {HUMAN.parts[label - 1] for label in np.unique(mesh.labels)}
    wanted = {
        f"{side}_{part}" for side in ("left", "right") for part in ("lower_torso", "upper_leg", "knee", "lower_leg")
    }
    assert names >= wanted
    centres = mesh.vertices_m[mesh.triangles].mean(axis=1)
    left = np.array([HUMAN.parts[label - 1].startswith("left") for label in mesh.labels])
    assert centres[left, 0].mean() > centres[~left, 0].mean()  # the person's left is +x


def test_a_drape_is_worn_up_by_who_strides(people):
    for joints in people:
        step = np.linalg.norm(place(joints, "left_knee") - place(joints, "right_knee"))
        mesh = hang(Drape(1.9, 0.0, 0.0), joints, THIGH_M, np.random.default_rng(0))
        if step > LONGEST_STEP_M:
            assert HUMAN.part_code("left_lower_leg") not in mesh.labels


def test_drawn_drapes_differ():
    drapes = [sample_drape(np.random.default_rng(k)) for k in range(50)]
    assert min(d.hem for d in drapes) < 0.8
    assert max(d.hem for d in drapes) > 1.5


def test_what_is_carried_is_in_reach_of_a_hand_and_no_part(people):
    rng = np.random.default_rng(1)
    for joints in people:
        mesh = carry(joints, rng)
        assert (mesh.labels == CARRIED).all()
        hands = [place(joints, f"{side}_hand") for side in ("left", "right")]
        near = min(np.linalg.norm(mesh.vertices_m - hand, axis=1).min() for hand in hands)
        assert near < 0.4


def test_a_room_has_a_floor_and_nobody_stands_in_its_furniture():
    rng = np.random.default_rng(2)
    furnished = 0
    for _ in range(80):
        people = [np.array([rng.uniform(-1, 1), rng.uniform(-4, -1)]) for _ in range(rng.integers(1, 4))]
        room = build_room(people, rng)
        assert (room.labels == ROOM).all()
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


def test_furniture_and_walls_keep_as_clear_as_somebody_reaches():
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
    assert nearer > 5  # of who reaches less far


def test_rooms_differ_and_one_seed_gives_one_room():
    at = [np.array([0.0, -2.0])]
    one, same, other = (build_room(at, np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.vertices_m, same.vertices_m)
    assert len(one.vertices_m) != len(other.vertices_m) or not np.allclose(one.vertices_m, other.vertices_m)


def test_what_of_a_room_is_turned_away_hides_behind_the_rest():
    lens, size = Intrinsics(100.0, 100.0, 79.5, 59.5), (120, 160)
    placement = Placement(0.0, 2.5, 0.2, 1.4, 0.2, 0.05)
    for seed in range(5):
        room = build_room([placement.floor_place_m], np.random.default_rng(seed))
        facing = room.facing(placement.camera_m)
        assert 0.2 < len(facing.triangles) / len(room.triangles) < 0.6
        pictures = [
            render_depth(placement.world_view().camera_points(mesh.vertices_m), mesh.triangles, lens, *size)[0]
            for mesh in (room, facing)
        ]
        np.testing.assert_array_equal(*pictures)
