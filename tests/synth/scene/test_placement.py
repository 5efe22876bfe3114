"""Where the camera sees people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera import Intrinsics
from synth.recipe import CameraRecipe
from synth.scene.placement import MIN_SEPARATION_M, Placement, draw_companion, draw_placement, rotation_about

CAMERA = Intrinsics(285.6, 285.6, 159.5, 119.5)
PELVIS = np.array([0.1, 0.95, -0.2])


def view(**changes):
    plain = {
        "yaw_rad": 0.0,
        "distance_m": 2.0,
        "lateral_offset_m": 0.0,
        "camera_height_m": 0.95,
        "pitch_rad": 0.0,
        "roll_rad": 0.0,
    }
    return Placement(**{**plain, **changes}).view(PELVIS, 0.0)


def test_a_level_camera_sees_the_pelvis_straight_ahead():
    np.testing.assert_allclose(view().camera_points(PELVIS), [0, 0, 2], atol=1e-6)


def test_facing_the_camera_left_has_larger_x_and_up_smaller_y():
    left, up, front = (view().camera_points(PELVIS + step) for step in np.eye(3) * 0.3)
    np.testing.assert_allclose(left, [0.3, 0, 2], atol=1e-6)
    np.testing.assert_allclose(up, [0, -0.3, 2], atol=1e-6)
    np.testing.assert_allclose(front, [0, 0, 1.7], atol=1e-6)


def test_half_a_turn_shows_the_back():
    behind = view(yaw_rad=np.pi).camera_points(PELVIS + [0.3, 0, 0.2])
    np.testing.assert_allclose(behind, [-0.3, 0, 2.2], atol=1e-6)


def test_a_camera_looks_down_by_its_pitch():
    ahead = view(camera_height_m=1.95, pitch_rad=np.arctan2(1, 2)).camera_points(PELVIS)
    np.testing.assert_allclose(ahead, [0, 0, np.hypot(2, 1)], atol=1e-6)


def test_a_camera_at_the_ceiling_sees_heads_before_feet():
    above = view(camera_height_m=2.95, pitch_rad=np.pi / 2, distance_m=0.0)
    np.testing.assert_allclose(above.camera_points(PELVIS), [0, 0, 2], atol=1e-6)
    head, foot = (above.camera_points(PELVIS + [0, up, 0]) for up in (0.7, -0.9))
    assert head[2] < foot[2]
    # at yaw 0 people face the side that is down in the picture
    assert above.camera_points(PELVIS + [0, 0, 0.3])[1] > 0


def test_a_lateral_offset_moves_the_person_to_the_right():
    np.testing.assert_allclose(view(lateral_offset_m=0.5).camera_points(PELVIS), [0.5, 0, 2], atol=1e-6)


def drawn(seed, **fields):
    placement = draw_placement(CameraRecipe(**fields), PELVIS[1], CAMERA, 320, np.random.default_rng(seed))
    return placement.view(PELVIS, 0.0)


def pitch_deg(of):
    """Angle by which the camera looks below the horizon."""
    up = of.rotation @ [0, 1, 0]
    return np.degrees(np.arcsin(-up[2]))


@given(st.integers(0, 10_000))
def test_a_recipe_s_pitch_is_kept_however_steep(seed):
    assert 60 - 1e-6 <= pitch_deg(drawn(seed, pitch_deg=(60, 90))) <= 90 + 1e-6
    assert pitch_deg(drawn(seed, pitch_deg=(-40, -40))) == pytest.approx(-40)


@given(st.integers(0, 10_000))
def test_the_limits_of_aiming_are_the_recipe_s(seed):
    high = {"camera_height_m": (3.0, 3.0), "aim_height_m": (1.0, 1.0), "distance_m": (1.0, 1.0)}
    assert pitch_deg(drawn(seed, **high)) == pytest.approx(35)
    assert pitch_deg(drawn(seed, **high, aim_limits_deg=(-90, 90))) == pytest.approx(np.degrees(np.arctan2(2, 1)))


@given(st.integers(0, 10_000), st.sampled_from([0.0, -30.0, 60.0, 90.0]))
def test_the_lateral_offset_is_in_image_widths_at_any_pitch(seed, pitch):
    straight = {
        "distance_m": (0.8, 0.8),
        "camera_height_m": (2.5, 2.5),
        "roll_deg": (0, 0),
        "lateral_offset": (0.25, 0.25),
    }
    point = drawn(seed, **straight, pitch_deg=(pitch, pitch)).camera_points(PELVIS)
    if point[2] > 0:
        assert CAMERA.project(point)[1] == pytest.approx(159.5 + 80, abs=1e-3)


def test_a_recipe_without_pitch_draws_the_numbers_it_always_drew():
    """Frozen recipes rest on the order: yaw, distance, height, aim, roll, lateral offset."""
    recipe, rng = CameraRecipe(), np.random.default_rng(5)
    rng.random()
    yaw, distance_m, height_m = rng.uniform(-np.pi, np.pi), rng.uniform(1.0, 4.0), rng.uniform(0.4, 2.2)
    aim_m, roll_deg, lateral = rng.uniform(0.6, 1.3), rng.uniform(-5.0, 5.0), rng.uniform(-0.35, 0.35)
    pitch = np.clip(np.arctan2(height_m - aim_m, distance_m), *np.radians([-25.0, 35.0]))
    wanted = Placement(yaw, distance_m, lateral * 320 / 285.6 * distance_m, height_m, pitch, np.radians(roll_deg))
    assert draw_placement(recipe, PELVIS[1], CAMERA, 320, np.random.default_rng(5)) == wanted


@given(st.floats(-np.pi, np.pi), st.sampled_from("xyz"))
def test_rotations_are_rotations(angle, axis):
    matrix = rotation_about(axis, angle)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.isclose(np.linalg.det(matrix), 1)


@given(st.integers(0, 10_000))
def test_views_keep_lengths_and_the_recipe_s_distance(seed):
    recipe = CameraRecipe(distance_m=(1.5, 3.0))
    drawn = draw_placement(recipe, PELVIS[1], CAMERA, 320, np.random.default_rng(seed)).view(PELVIS, 0.0)
    np.testing.assert_allclose(drawn.rotation @ drawn.rotation.T, np.eye(3), atol=1e-9)
    # along the floor: the camera's height difference and lateral offset only add
    assert np.linalg.norm(drawn.camera_points(PELVIS)) >= 1.5 - 1e-6


@given(st.integers(0, 10_000))
def test_companions_stand_apart_before_the_same_camera(seed):
    rng, recipe = np.random.default_rng(seed), CameraRecipe()
    places = [draw_placement(recipe, PELVIS[1], CAMERA, 320, rng)]
    for _ in range(3):
        place = draw_companion(recipe, places, CAMERA, 320, rng)
        if place is not None:
            places.append(place)
    camera = ("camera_height_m", "pitch_rad", "roll_rad")
    for k, place in enumerate(places):
        assert [getattr(place, name) for name in camera] == [getattr(places[0], name) for name in camera]
        for other in places[:k]:
            assert np.linalg.norm(place.floor_place_m - other.floor_place_m) >= MIN_SEPARATION_M


def test_the_world_and_the_people_in_it_are_seen_alike():
    placement = Placement(0.7, 2.5, 0.4, 1.6, 0.2, 0.05)
    on_floor = np.array([0.4, 0.0, -2.5])  # where the root is, straight down
    of_body = placement.view(PELVIS, 0.0).camera_points(PELVIS * [1, 0, 1])
    np.testing.assert_allclose(placement.world_view().camera_points(on_floor), of_body, atol=1e-6)
