"""The panel beside the scene: readouts, the depth image, layers and viewpoints."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.viewer.scene.nodes import HIDDEN_AT_FIRST, LAYERS
from posepipe.viewer.scene.palette import Palette
from posepipe.viewer.scene.trails import MAX_TRAIL_S, default_trail_joints
from posepipe.viewer.scene.viewpoints import DIRECTIONS, FOV_DEG, Viewpoint
from posepipe.viewer.ui.legend import legend_html

TITLE = "posepipe"
WIDTH_PX = 340
TRAIL_S = 1.5
"""Length of trails on a new page, seconds."""
ACCENT = (46, 134, 222)
_OF_DEPTH = ("people", "room", "camera")
_HINTS = {
    "people": "points of people, in the colours of their parts",
    "room": "all other points",
    "joints": "larger = higher confidence; orange = the person's left, blue = the right",
    "ids": "track ids",
    "grid": "half metres, on the floor, or at the lowest joint while no floor is known",
    "camera": "position of the depth camera",
}


class Scene(Protocol):
    """What the controls of a panel change."""

    def show_layer(self, layer: str, shown: bool) -> None:
        """Show or hide one of `LAYERS`."""

    def redraw(self) -> None:
        """Draw again, because trails or points look different."""

    def viewpoint(self, name: str) -> Viewpoint:
        """Return the viewpoint with a name of `DIRECTIONS`."""

    def send_screenshot(self, client: Any) -> None:
        """Send a viser client its view of the scene."""


MAX_COLOUR_PX = 640
"""Maximum side of the colour that is sent to pages; larger images are thinned."""


class Panel:
    """The controls that every page has.

    Parameters
    ----------
    server : the viser server
    body : joints that may leave trails
    palette : colours, for the legend
    has_depth : whether results have depth: an image and points
    tunable : whether there is a tab for thresholds
    scene : what the controls change
    """

    def __init__(
        self, server: Any, body: BodyDefinition, palette: Palette, has_depth: bool, tunable: bool, scene: Scene
    ) -> None:
        gui = server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, brand_color=ACCENT)
        gui.set_panel_label(TITLE)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH_PX)
        self._readouts = gui.add_html("")
        self._image = gui.add_image(np.zeros((3, 4, 3), np.uint8), visible=False) if has_depth else None
        self._colour = gui.add_image(np.zeros((3, 4, 3), np.uint8), visible=False) if has_depth else None
        self.playing = gui.add_folder(None)  #: folder for the controls of playback
        tabs = gui.add_tab_group()
        with tabs.add_tab("Show"):
            gui.add_html(legend_html(body, palette, has_depth))
            views = gui.add_button_group("view", tuple(DIRECTIONS))
            for layer in LAYERS:
                if has_depth or layer not in _OF_DEPTH:
                    _checkbox(gui, layer, scene)
            self._points = gui.add_slider("point size", 0.2, 3.0, 0.1, 1.0, visible=has_depth)
            screenshot = gui.add_button("Screenshot", color="gray", hint="download this view as a PNG")
        views.on_click(lambda event: set_view(event.client.camera, scene.viewpoint(event.target.value)))
        screenshot.on_click(lambda event: scene.send_screenshot(event.client))
        self.thresholds = (
            tabs.add_tab("Thresholds") if tunable else None
        )  #: tab for the controls of thresholds; None = there is none
        with tabs.add_tab("Trails"):
            self._seconds = gui.add_slider("seconds", 0.2, MAX_TRAIL_S, 0.1, TRAIL_S)
            initial = default_trail_joints(body)
            self._joints = {name: gui.add_checkbox(name.replace("_", " "), name in initial) for name in body.joints}
        with tabs.add_tab("Times"):
            self._times = gui.add_html("")
        for control in (self._points, self._seconds, *self._joints.values()):
            control.on_update(lambda _: scene.redraw())

    @property
    def point_scale(self) -> float:
        """Factor on the size of points."""
        return self._points.value

    @property
    def trail_joints(self) -> list[str]:
        """Joints with trails."""
        return [name for name, box in self._joints.items() if box.value]

    @property
    def trail_s(self) -> float:
        """Length of trails, seconds."""
        return self._seconds.value

    def put_readouts(self, readouts: str, times: str) -> None:
        """Show readouts and stage times, as HTML."""
        self._readouts.content, self._times.content = readouts, times

    def put_images(self, image: np.ndarray, colour: np.ndarray | None) -> None:
        """Show an image and, where the source has it, colour below it: uint8 (H, W, 3), RGB."""
        if self._image is None or self._colour is None:
            return
        self._image.image, self._image.visible = image, True
        self._colour.visible = colour is not None
        if colour is not None:
            step = -(-max(colour.shape[:2]) // MAX_COLOUR_PX)
            self._colour.image = colour[::step, ::step]


def set_view(camera: Any, viewpoint: Viewpoint) -> None:
    """Move the camera of a viser client, or the initial camera of new clients."""
    camera.fov = math.radians(FOV_DEG)
    camera.position = viewpoint.position_m
    camera.look_at = viewpoint.target_m


def _checkbox(gui: Any, layer: str, scene: Scene) -> None:
    box = gui.add_checkbox(layer, layer not in HIDDEN_AT_FIRST, hint=_HINTS.get(layer))
    box.on_update(lambda event: scene.show_layer(layer, event.target.value))
