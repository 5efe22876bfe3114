"""The page: every result in 3D, as it comes. A `FrameSink`, so that anything which makes results can show them."""

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
from posepipe.viewer.scene.ground import Ground, heading
from posepipe.viewer.scene.nodes import Nodes
from posepipe.viewer.scene.palette import Palette
from posepipe.viewer.scene.result_arrays import point_clouds, skeletons, thin_surface
from posepipe.viewer.scene.trails import Trails
from posepipe.viewer.scene.viewpoints import AT_FIRST, Subject, Viewpoint
from posepipe.viewer.ui.panel import Panel, look_from
from posepipe.viewer.ui.readouts import facts_html, times_html

DRAWN_S = 1 / 45
"""Results that come sooner after the last one drawn wait, and the newest of them is drawn."""
FIGURES_S = 0.25
"""Figures that change faster cannot be read."""


class Page:
    """Draws results while somebody has the page open; without a viewer a result costs next to nothing.

    Parameters
    ----------
    server : of `open_server`
    body : of the results
    title : what is shown, for the panel
    has_depth : whether results have more than joints
    tunable : whether there are thresholds to be moved
    """

    def __init__(
        self, server: Any, body: BodyDefinition, title: str, has_depth: bool = True, tunable: bool = False
    ) -> None:
        self._server, self._body, self._title, self._has_depth = server, body, title, has_depth
        self._lock = threading.RLock()
        self._palette = Palette.of(body)
        self._trails, self._ground, self.rates = Trails(body, self._palette), Ground(), Rates()
        self._nodes = Nodes(server)
        self.panel = Panel(server, body, has_depth, tunable, self._show_layer, self.redraw, self._view_from)
        self._result: FrameResult | None = None
        self._subject: Subject | None = None
        self._facts: list[tuple[str, str]] = []
        self._world, self._low_m = self._ground.world(None), math.inf
        self._drawn_s = self._told_s = -math.inf
        self._stale = False
        self.last_draw_s = 0.0  #: how long the last drawing took
        self._tell()
        server.on_client_connect(lambda _: self.redraw())

    def write(self, result: FrameResult) -> None:
        """Show a result."""
        self.show(result)

    def show(
        self,
        result: FrameResult,
        stages_s: Mapping[str, float] | None = None,
        facts: list[tuple[str, str]] | None = None,
        follows: bool = True,
    ) -> None:
        """Show a result, and figures with it.

        Parameters
        ----------
        stages_s : what the stages that made it cost, seconds
        facts : more figures, as (value, what it is)
        follows : it goes on from the one before; otherwise trails begin anew
        """
        with self._lock:
            if not follows:
                self._trails.forget()
            self._world = self._ground.world(result.world)
            self._trails.add(result.people, result.frame.timestamp_s)
            self.rates.count({**(stages_s or {}), **({"page": self.last_draw_s} if self._is_watched() else {})})
            self._result, self._stale = result, True
            self._facts = facts or [(str(result.frame.index), "frame")]
            if time.monotonic() - self._drawn_s >= DRAWN_S:
                self.settle()

    def settle(self) -> None:
        """Draw what has not been drawn yet."""
        with self._lock:
            if self._stale and self._is_watched():
                self.redraw()
            if time.monotonic() - self._told_s >= FIGURES_S:
                self._tell()

    def redraw(self) -> None:
        """Draw the last result again."""
        with self._lock, self._server.atomic():
            if self._result is None:
                return
            started = time.perf_counter()
            self._draw(self._result)
            self._stale, self._drawn_s = False, time.monotonic()
            self.last_draw_s = time.perf_counter() - started

    def _draw(self, result: FrameResult) -> None:
        nodes, world = self._nodes, self._world
        people = skeletons(result.people, self._body, world, self._palette)
        seen_m = people.joints_m
        if self._has_depth:
            surface = thin_surface(result, self._palette)
            clouds = dict(zip(("people", "room"), point_clouds(surface, world), strict=True))
            nodes.point_scale = self.panel.point_scale
            for layer, cloud in clouds.items():
                nodes.put_cloud(layer, cloud)
            seen_m = seen_m if len(seen_m) else clouds["room"].points_m
            nodes.put_camera(world, result.frame.intrinsics, result.frame.depth_m.shape)
            self.panel.put_picture(surface.colours)
        nodes.put_people(people)
        nodes.put_trails(*self._trails.segments(self.panel.trail_joints, self.panel.trail_s, world))
        self._look_at(Subject.of(seen_m, heading(world)))
        nodes.put_grid(self._grid_place(people.joints_m))

    def _grid_place(self, joints_m: np.ndarray) -> tuple[float, float, float] | None:
        """On the floor; while that is not known, where the lowest joint was."""
        if self._ground.is_known:
            self._low_m = 0.0
        elif len(joints_m):
            self._low_m = min(self._low_m, float(joints_m[:, 2].min()))
        if self._subject is None or not math.isfinite(self._low_m):
            return None
        x, y, _ = self._subject.centre_m
        return x, y, self._low_m

    def _look_at(self, subject: Subject | None) -> None:
        """Whoever opens the page looks at the first that is there to be seen."""
        is_first, self._subject = self._subject is None, subject or self._subject
        if is_first and subject is not None:
            view = subject.seen_from(AT_FIRST)
            for camera in (self._server.initial_camera, *(c.camera for c in self._server.get_clients().values())):
                look_from(camera, view)

    def _tell(self) -> None:
        """Write the figures anew."""
        people = "-" if self._result is None else str(len(self._result.people))
        rate = self.rates.frames_per_s
        facts = [(f"{rate:.1f}" if rate else "-", "frames a second"), (people, "people"), *self._facts]
        self.panel.put_figures(facts_html(self._title, facts), times_html(self.rates.stages_s))
        self._told_s = time.monotonic()

    def _is_watched(self) -> bool:
        return bool(self._server.get_clients())

    def _view_from(self, name: str) -> Viewpoint:
        return (self._subject or Subject()).seen_from(name)

    def _show_layer(self, layer: str, shown: bool) -> None:
        with self._lock:
            self._nodes.show(layer, shown)
            self.redraw()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settle()
