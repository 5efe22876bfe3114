"""Name and position of the joint under the pointer, and the title of the page.

The server knows the joints and the camera of every browser. It sends each browser where its joints are on the screen; a
script there compares them with the pointer, so moving it needs no answer from the server.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

_SCRIPT = (Path(__file__).with_name("hover.js")).read_text("utf-8")
# the page sets HTML as it comes: scripts inside do not run, but what to do on an image without content does
_RUN = f'<img hidden alt="" src="data:," onerror="{escape(_SCRIPT)}">'
NEAR_M = 0.01
"""Joints nearer to the camera of the view than this are not on the screen, metres."""


class Hover:
    """Sends the places of joints on the screen to every browser.

    Parameters
    ----------
    server : the viser server
    """

    def __init__(self, server: Any) -> None:
        self._server, self._lock = server, threading.Lock()
        self._places: dict[int, Any] = {}  # HTML of each client
        self._captions: Sequence[str] = ()
        self._points_m = np.zeros((0, 3))
        server.on_client_connect(self._add)
        server.on_client_disconnect(lambda client: self._places.pop(client.client_id, None))
        for client in server.get_clients().values():
            self._add(client)

    def put(self, captions: Sequence[str], points_m: np.ndarray) -> None:
        """Show captions for these points, float (M, 3), world axes, metres, in all browsers."""
        self._captions, self._points_m = captions, points_m
        for client in self._server.get_clients().values():
            self._update(client)

    def _add(self, client: Any) -> None:
        with self._lock:
            if client.client_id in self._places:
                return
            client.gui.add_html(_RUN)
            self._places[client.client_id] = client.gui.add_html("")
        client.camera.on_update(lambda _: self._update(client))
        self._update(client)

    def _update(self, client: Any) -> None:
        place = self._places.get(client.client_id)
        if place is None:
            return
        camera = client.camera
        screen = screen_places(self._points_m, camera.wxyz, camera.position, camera.fov, camera.aspect)
        place.content = joints_html(self._captions, screen)


def screen_places(
    points_m: np.ndarray, wxyz: np.ndarray, position_m: np.ndarray, fov_rad: float, aspect: float
) -> np.ndarray:
    """Project points onto the screen of a view.

    Parameters
    ----------
    points_m : float (M, 3), world axes, metres
    wxyz : float (4,), unit quaternion, rotation from the axes of the view (x right, y down, z forward) to the world's
    position_m : float (3,), of the view, world axes, metres
    fov_rad : vertical field of view
    aspect : width of the screen divided by its height

    Returns
    -------
    float (M, 2), right and down, 0 to 1 inside the screen; NaN behind the view
    """
    from viser.transforms import SO3

    x, y, z = ((points_m - position_m) @ SO3(np.asarray(wxyz)).as_matrix()).T
    half_height = np.where(z > NEAR_M, z, np.nan) * math.tan(fov_rad / 2)
    return np.stack([0.5 + x / (2 * half_height * aspect), 0.5 + y / (2 * half_height)], axis=1)


def joints_html(captions: Sequence[str], screen: np.ndarray) -> str:
    """Format captions and their places on the screen, float (M, 2), for the script; NaN is left out."""
    known = np.isfinite(screen).all(axis=1)
    joints = [
        (caption, round(float(across), 4), round(float(down), 4))
        for caption, (across, down), shown in zip(captions, screen, known, strict=True)
        if shown
    ]
    return f'<div id="posepipe-joints" data-joints="{escape(json.dumps(joints))}"></div>'
