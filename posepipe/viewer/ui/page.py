"""The page: draws every result in 3D as it arrives. It is a `FrameSink`, so any source of results can use it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.results import FrameResult
from posepipe.viewer.playback.rates import Rates
from posepipe.viewer.scene.camera_placement import CameraPlacement, heading
from posepipe.viewer.scene.joint_axes import joint_axes
from posepipe.viewer.scene.nodes import SceneNodes
from posepipe.viewer.scene.palette import Palette
from posepipe.viewer.scene.result_arrays import point_clouds, skeletons, subsample
from posepipe.viewer.scene.trails import Trails
from posepipe.viewer.scene.viewpoints import INITIAL_VIEW, Viewpoint, ViewTarget
from posepipe.viewer.ui.hover import Hover
from posepipe.viewer.ui.panel import Panel, set_view
from posepipe.viewer.ui.readouts import readouts_html, stage_times_html
from posepipe.viewer.ui.screenshot import download_screenshot

MIN_DRAW_PERIOD_S = 1 / 45
"""Minimum time between drawings, seconds. Of results that arrive faster, the newest is drawn."""
MIN_READOUT_PERIOD_S = 0.25
"""Minimum time between updates of the readouts, seconds; faster ones are unreadable."""


class Page:
    """Draws results while a browser has the page open; without one a result costs almost no time. A `FrameSink`.

    Parameters
    ----------
    server : of `open_server`
    body : of the results
    title : name of the source, for the panel
    has_depth : whether results have depth and parts, not only joints
    tunable : whether the panel has a tab for thresholds
    """

    def __init__(
        self, server: Any, body: BodyDefinition, title: str, has_depth: bool = True, tunable: bool = False
    ) -> None:
        self._server, self._body, self._has_depth = server, body, has_depth
        self.title = title
        self._lock = threading.RLock()
        self._palette = Palette.of(body)
        self._trails, self._placement, self.rates = Trails(body, self._palette), CameraPlacement(), Rates()
        self._nodes = SceneNodes(server)
        self.panel = Panel(server, body, self._palette, has_depth, tunable, self)
        self._hover = Hover(server)
        self._result: FrameResult | None = None
        self._target: ViewTarget | None = None
        self._readouts: list[tuple[str, str]] = []
        self._world, self._lowest_m = self._placement.update(None), math.inf
        self._drawn_s = self._readouts_s = -math.inf
        self._is_outdated = False
        self.last_draw_s = 0.0  #: duration of the last drawing, seconds
        self._update_readouts()
        server.on_client_connect(lambda _: self.redraw())

    def write(self, result: FrameResult) -> None:
        """Show a result."""
        self.show(result)

    def show(
        self,
        result: FrameResult,
        stages_s: Mapping[str, float] | None = None,
        readouts: list[tuple[str, str]] | None = None,
        follows: bool = True,
    ) -> None:
        """Show a result with readouts.

        Parameters
        ----------
        result : FrameResult to draw
        stages_s : seconds that each stage took for it
        readouts : further readouts, as (value, label)
        follows : the result continues the previous one; if not, trails start again
        """
        with self._lock:
            if not follows:
                self._trails.clear()
            self._world = self._placement.update(result.world, result.frame.up)
            self._trails.add(result.people, result.frame.timestamp_s)
            self.rates.count({**(stages_s or {}), **({"page": self.last_draw_s} if self.has_guests() else {})})
            self._result, self._is_outdated = result, True
            self._readouts = readouts or [(str(result.frame.index), "frame")]
            if time.monotonic() - self._drawn_s >= MIN_DRAW_PERIOD_S:
                self.flush()

    def flush(self) -> None:
        """Draw the newest result if it is not drawn yet, and update the readouts."""
        with self._lock:
            if self._is_outdated and self.has_guests():
                self.redraw()
            if time.monotonic() - self._readouts_s >= MIN_READOUT_PERIOD_S:
                self._update_readouts()

    def redraw(self) -> None:
        """Draw the last result again."""
        with self._lock, self._server.atomic():
            if self._result is None:
                return
            started = time.perf_counter()
            self._draw(self._result)
            self._is_outdated, self._drawn_s = False, time.monotonic()
            self.last_draw_s = time.perf_counter() - started

    def _draw(self, result: FrameResult) -> None:
        nodes, world = self._nodes, self._world
        people = skeletons(result.people, self._body, world, self._palette)
        visible_m = people.joints_m
        if self._has_depth:
            surface = subsample(result, self._palette)
            clouds = dict(zip(("people", "room"), point_clouds(surface, world), strict=True))
            nodes.point_scale = self.panel.point_scale
            for layer, cloud in clouds.items():
                nodes.put_cloud(layer, cloud)
            visible_m = visible_m if len(visible_m) else clouds["room"].points_m
            nodes.put_camera(world, result.frame.intrinsics, result.frame.depth_m.shape)
            self.panel.put_images(surface.colours, result.frame.colour)
        nodes.put_people(people)
        nodes.put_axes(*joint_axes(result.people if nodes.shows("axes") else (), world))
        self._hover.put(people.captions, people.joints_m)
        nodes.put_trails(*self._trails.segments(self.panel.trail_joints, self.panel.trail_s, world))
        self._update_target(ViewTarget.of(visible_m, heading(world)))
        nodes.put_grid(self._grid_centre(people.joints_m))

    def _grid_centre(self, joints_m: np.ndarray) -> tuple[float, float, float] | None:
        """On the floor; while that is unknown, at the height of the lowest joint so far."""
        if self._placement.has_floor:
            self._lowest_m = 0.0
        elif len(joints_m):
            self._lowest_m = min(self._lowest_m, float(joints_m[:, 2].min()))
        if self._target is None or not math.isfinite(self._lowest_m):
            return None
        x, y, _ = self._target.centre_m
        return x, y, self._lowest_m

    def _update_target(self, target: ViewTarget | None) -> None:
        """Keep the newest target; the first one sets the view of all clients."""
        is_first, self._target = self._target is None, target or self._target
        if is_first and target is not None:
            viewpoint = target.viewpoint(INITIAL_VIEW)
            for camera in (self._server.initial_camera, *(c.camera for c in self._server.get_clients().values())):
                set_view(camera, viewpoint)

    def _update_readouts(self) -> None:
        people = "-" if self._result is None else str(len(self._result.people))
        rate = self.rates.frames_per_s
        readouts = [(f"{rate:.1f}" if rate else "-", "frames a second"), (people, "people"), *self._readouts]
        self.panel.put_readouts(readouts_html(self.title, readouts), stage_times_html(self.rates.stages_s))
        self._readouts_s = time.monotonic()

    def has_guests(self) -> bool:
        """Whether a browser has the page open."""
        return bool(self._server.get_clients())

    def send_screenshot(self, client: Any) -> None:
        """Send a browser its view of the scene as a PNG, named after the frame."""
        frame = "" if self._result is None else f"-{self._result.frame.index:05d}"
        download_screenshot(client, f"posepipe{frame}.png")

    def viewpoint(self, name: str) -> Viewpoint:
        """Return the viewpoint with a name of `DIRECTIONS`, for the people or the room in view."""
        return (self._target or ViewTarget()).viewpoint(name)

    def show_layer(self, layer: str, shown: bool) -> None:
        """Show or hide one of `LAYERS`."""
        with self._lock:
            self._nodes.show(layer, shown)
            self.redraw()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self.flush()
            self._update_readouts()  # of the last result, however soon it came
