"""Times of camera frames: seconds since the first, never decreasing."""

from __future__ import annotations

import time
from collections.abc import Callable

from posepipe.sources.cameras.depth_camera import CameraFrame

LATE_NS = 100_000_000
"""Largest step back in time of a frame in the wrong order, nanoseconds; a larger one is a clock that jumps."""


class FrameClock:
    """Times of frames by the camera's own clock, or by their arrival where it has none.

    After a clock jumps back, as a reconnected camera's does, or is another one, as when a camera has learned the date,
    times continue from the moment of arrival. A frame in the wrong order, up to LATE_NS late, has the time of the one
    before.

    Parameters
    ----------
    monotonic_ns : time of arrival, nanoseconds
    wall_ns : nanoseconds since the Unix epoch
    """

    def __init__(
        self, monotonic_ns: Callable[[], int] = time.monotonic_ns, wall_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._monotonic_ns, self._wall_ns = monotonic_ns, wall_ns
        self.start_time_ns = 0  #: of the first frame, since the Unix epoch; 0 = no frame yet
        self._first_arrival_ns: int | None = None
        self._zero_ns: int | None = None  #: reading of the camera's clock at second 0
        self._since_epoch = False
        self._last_ns = 0

    def restart(self) -> None:
        """Handle a reconnected camera: its clock may have another origin."""
        if not self._since_epoch:
            self._zero_ns = None

    def seconds(self, frame: CameraFrame) -> float:
        """Time of a frame that has just arrived, seconds since the first."""
        now_ns = self._monotonic_ns()
        if self._first_arrival_ns is None:
            self._first_arrival_ns = now_ns
            taken = frame.time_ns if frame.since_epoch else None
            self.start_time_ns = self._wall_ns() if taken is None else taken
        elapsed_ns = max(now_ns - self._first_arrival_ns, self._last_ns)
        if frame.time_ns is None:
            self._last_ns = elapsed_ns
        else:
            other_clock = frame.since_epoch != self._since_epoch
            if self._zero_ns is None or other_clock or frame.time_ns - self._zero_ns < self._last_ns - LATE_NS:
                self._zero_ns = frame.time_ns - elapsed_ns
            self._since_epoch = frame.since_epoch
            self._last_ns = max(frame.time_ns - self._zero_ns, self._last_ns)
        return self._last_ns / 1e9
