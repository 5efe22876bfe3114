"""Places of joints on the screen, as the camera of a browser sees them."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from posepipe.viewer.ui.hover import Hover, joints_html, screen_places

pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)
AHEAD = (np.array([1.0, 0, 0, 0]), np.zeros(3))
"""A view at the origin, along z, with y down: quaternion wxyz and position."""


def listed(html):
    """Captions and places in the HTML."""
    return json.loads(unescape(re.search('data-joints="([^"]*)"', html)[1]))


def test_the_middle_of_the_view_is_the_middle_of_the_screen():
    corner_m = math.tan(math.radians(20)) * 2
    points_m = np.array([[0, 0, 2], [2 * corner_m, corner_m, 2], [0, -corner_m, 2]])
    np.testing.assert_allclose(
        screen_places(points_m, *AHEAD, fov_rad=math.radians(40), aspect=2.0),
        [[0.5, 0.5], [1, 1], [0.5, 0]],
        atol=1e-12,
    )


def test_a_view_sees_the_point_it_looks_at_in_the_middle():
    half = math.sqrt(0.5)
    along_x = np.array([half, 0, half, 0])  # a quarter turn about y takes z to x
    place = screen_places(np.array([[3.0, 1.0, 5.0]]), along_x, np.array([1.0, 1.0, 5.0]), 0.7, 1.5)
    np.testing.assert_allclose(place, [[0.5, 0.5]], atol=1e-12)


def test_joints_behind_the_view_are_left_out():
    points_m = np.array([[0, 0, -1], [0, 0, 1.0]])
    assert listed(joints_html(["behind", 'a "head"'], screen_places(points_m, *AHEAD, 0.7, 1.0))) == [
        ['a "head"', 0.5, 0.5]
    ]
    assert listed(joints_html([], np.zeros((0, 2)))) == []


def test_every_browser_has_the_joints_from_its_own_camera():
    wxyz, position_m = AHEAD
    clients = {
        key: SimpleNamespace(
            client_id=key,
            gui=MagicMock(),
            camera=MagicMock(wxyz=wxyz, position=position_m + [0, 0, -key], fov=0.7, aspect=1.0),
        )
        for key in (1, 2)
    }
    server = MagicMock()
    server.get_clients.return_value = clients
    hover = Hover(server)
    hover.put(["head"], np.array([[0.1, 0, 1.0]]))
    near, far = (listed(client.gui.add_html.return_value.content)[0][1] for client in clients.values())
    assert near > far > 0.5
