"""Frame rate, and the time of each stage."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from statistics import median

WINDOW_S = 2.0
"""Time over which the frame rate is measured, seconds."""
WINDOW_FRAMES = 31
"""Number of frames over which the median time of a stage is taken; a median ignores the slow first frame."""


class Rates:
    """Counts frames and keeps the times of their stages.

    Parameters
    ----------
    clock : returns the time, seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrivals_s: deque[float] = deque()
        self._times_s: dict[str, deque[float]] = {}
        self.frames = 0  #: number of frames so far

    def count(self, stages_s: Mapping[str, float]) -> None:
        """Count a frame, given the seconds that each stage took for it."""
        self.frames += 1
        self._arrivals_s.append(self._clock())
        for stage, seconds in stages_s.items():
            self._times_s.setdefault(stage, deque(maxlen=WINDOW_FRAMES)).append(seconds)

    @property
    def frames_per_s(self) -> float:
        """Frame rate over the last WINDOW_S; 0 if fewer than two frames arrived."""
        now_s = self._clock()
        while self._arrivals_s and now_s - self._arrivals_s[0] > WINDOW_S:
            self._arrivals_s.popleft()
        if len(self._arrivals_s) < 2:
            return 0.0
        return (len(self._arrivals_s) - 1) / max(now_s - self._arrivals_s[0], 1e-9)

    @property
    def stages_s(self) -> dict[str, float]:
        """Median time of each stage, seconds per frame."""
        return {stage: median(times_s) for stage, times_s in self._times_s.items()}
