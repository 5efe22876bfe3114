"""Viewpoints: the whole target is in view, from the named direction."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.viewer.scene.viewpoints import DIRECTIONS, FOV_DEG, ViewTarget


@pytest.mark.parametrize("name", DIRECTIONS)
def test_every_viewpoint_shows_the_whole_person(name):
    places = np.random.default_rng(0).uniform([-0.4, 1.8, 0], [0.4, 2.4, 1.8], (200, 3))
    view = ViewTarget.of(places).viewpoint(name)
    ahead = np.subtract(view.target_m, view.position_m)
    distance_m = np.linalg.norm(ahead)
    along = (places - view.position_m) @ (ahead / distance_m)
    aside = np.linalg.norm(places - view.position_m - along[:, None] * ahead / distance_m, axis=1)
    assert (aside / along < np.tan(np.radians(FOV_DEG / 2))).all()


def test_front_is_where_the_camera_is_and_side_is_its_right():
    target = ViewTarget((0.0, 3.0, 1.0), 1.0)
    front, side, top = (target.viewpoint(name).position_m for name in ("front", "side", "top"))
    assert front[1] < 3
    assert front[0] == 0
    assert side[0] > 0
    assert top[2] > 2


def test_without_points_there_is_no_view_target():
    assert ViewTarget.of(np.zeros((0, 3))) is None
