"""The panel beside the scene: figures, the picture, what is shown, and from where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.viewer.scene.nodes import LAYERS
from posepipe.viewer.scene.trails import MOST_S, usual_trails
from posepipe.viewer.scene.viewpoints import DIRECTIONS, FOV_DEG, Viewpoint

TITLE = "posepipe"
WIDTH_PX = 340
TRAIL_S = 1.5
"""How far back trails reach at first."""
BRAND = (46, 134, 222)
_OF_DEPTH = ("people", "room", "camera")
_HINTS = {
    "people": "what the camera sees of them, in the colours of their parts",
    "room": "what else it sees",
    "joints": "larger = surer; orange = the person's left, blue = the right",
    "ids": "who is who",
    "grid": "half metres on the floor, or, while no floor is in view, at the lowest foot",
    "camera": "where the depth camera is",
}


class Panel:
    """Makes the controls that every page has.

    Parameters
    ----------
    server : viser's
    body : whose joints may leave trails
    has_depth : whether there is a picture, and points
    tunable : whether there is a tab for thresholds
    on_layer : called with a layer's name and whether it is to be shown
    on_change : called when trails or points are to be drawn otherwise
    view_from : where a view of `DIRECTIONS` is
    """

    def __init__(
        self,
        server: Any,
        body: BodyDefinition,
        has_depth: bool,
        tunable: bool,
        on_layer: Callable[[str, bool], None],
        on_change: Callable[[], None],
        view_from: Callable[[str], Viewpoint],
    ) -> None:
        gui = server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, brand_color=BRAND)
        gui.set_panel_label(TITLE)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH_PX)
        self._facts = gui.add_html("")
        self._picture = gui.add_image(np.zeros((3, 4, 3), np.uint8), visible=False) if has_depth else None
        self.playing = gui.add_folder(None)  #: controls of what is played go here
        tabs = gui.add_tab_group()
        with tabs.add_tab("Show"):
            views = gui.add_button_group("view", tuple(DIRECTIONS))
            for layer in LAYERS:
                if has_depth or layer not in _OF_DEPTH:
                    _checkbox(gui, layer, on_layer)
            self._points = gui.add_slider("point size", 0.2, 3.0, 0.1, 1.0, visible=has_depth)
        views.on_click(lambda event: look_from(event.client.camera, view_from(event.target.value)))
        self.thresholds = tabs.add_tab("Thresholds") if tunable else None  #: controls of thresholds go here
        with tabs.add_tab("Trails"):
            self._seconds = gui.add_slider("seconds", 0.2, MOST_S, 0.1, TRAIL_S)
            usual = usual_trails(body)
            self._joints = {name: gui.add_checkbox(name.replace("_", " "), name in usual) for name in body.joints}
        with tabs.add_tab("Times"):
            self._times = gui.add_html("")
        for control in (self._points, self._seconds, *self._joints.values()):
            control.on_update(lambda _: on_change())

    @property
    def point_scale(self) -> float:
        """How much larger than usual points are."""
        return self._points.value

    @property
    def trail_joints(self) -> list[str]:
        """Joints that leave trails."""
        return [name for name, box in self._joints.items() if box.value]

    @property
    def trail_s(self) -> float:
        """How far back trails reach, seconds."""
        return self._seconds.value

    def put_figures(self, facts: str, times: str) -> None:
        """HTML: what is shown, and where the time goes."""
        self._facts.content, self._times.content = facts, times

    def put_picture(self, image: np.ndarray) -> None:
        """A picture, uint8 (H, W, 3), RGB."""
        if self._picture is not None:
            self._picture.image, self._picture.visible = image, True


def look_from(camera: Any, view: Viewpoint) -> None:
    """Move a client's camera, or the one that clients begin with."""
    camera.fov = math.radians(FOV_DEG)
    camera.position = view.position_m
    camera.look_at = view.look_at_m


def _checkbox(gui: Any, layer: str, on_layer: Callable[[str, bool], None]) -> None:
    box = gui.add_checkbox(layer, True, hint=_HINTS.get(layer))
    box.on_update(lambda event: on_layer(layer, event.target.value))
