"""Where the camera sees people."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera import Intrinsics
from synth.recipe import Recipe
from synth.scenes import draw_view, look, rotation_about

CAMERA = Intrinsics(285.6, 285.6, 159.5, 119.5)
PELVIS = np.array([0.1, 0.95, -0.2])


def view(**changes):
    plain = {
        "yaw_rad": 0.0,
        "pelvis_m": PELVIS,
        "floor_y_m": 0.0,
        "distance_m": 2.0,
        "camera_height_m": 0.95,
        "aim_height_m": 0.95,
        "roll_rad": 0.0,
        "aside": 0.0,
        "intrinsics": CAMERA,
        "width": 320,
    }
    return look(**{**plain, **changes})


def test_a_level_camera_sees_the_pelvis_straight_ahead():
    np.testing.assert_allclose(view().camera_points(PELVIS), [0, 0, 2], atol=1e-6)


def test_left_is_at_larger_x_and_up_at_smaller_y_when_facing_the_camera():
    left, up, front = (view().camera_points(PELVIS + step) for step in np.eye(3) * 0.3)
    np.testing.assert_allclose(left, [0.3, 0, 2], atol=1e-6)
    np.testing.assert_allclose(up, [0, -0.3, 2], atol=1e-6)
    np.testing.assert_allclose(front, [0, 0, 1.7], atol=1e-6)


def test_half_a_turn_shows_the_back():
    behind = view(yaw_rad=np.pi).camera_points(PELVIS + [0.3, 0, 0.2])
    np.testing.assert_allclose(behind, [-0.3, 0, 2.2], atol=1e-6)


def test_a_high_camera_looks_down_at_its_aim():
    aim = view(camera_height_m=1.95).camera_points(PELVIS)
    np.testing.assert_allclose(aim[:2], [0, 0], atol=1e-6)
    assert np.isclose(aim[2], np.hypot(2, 1))


def test_aside_moves_the_person_across_the_image():
    row, col = CAMERA.project(view(aside=0.25).camera_points(PELVIS))
    assert np.isclose(col, 159.5 + 80)
    assert np.isclose(row, 119.5)


@given(st.floats(-np.pi, np.pi), st.sampled_from("xyz"))
def test_rotations_are_rotations(angle, axis):
    matrix = rotation_about(axis, angle)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.isclose(np.linalg.det(matrix), 1)


@given(st.integers(0, 10_000))
def test_views_keep_lengths_and_the_recipe_s_distance(seed):
    recipe = Recipe(distance_m=(1.5, 3.0))
    drawn = draw_view(recipe, PELVIS, 0.0, CAMERA, 320, np.random.default_rng(seed))
    np.testing.assert_allclose(drawn.rotation @ drawn.rotation.T, np.eye(3), atol=1e-9)
    # along the floor: the camera's height difference and the step aside only add
    assert np.linalg.norm(drawn.camera_points(PELVIS)) >= 1.5 - 1e-6
