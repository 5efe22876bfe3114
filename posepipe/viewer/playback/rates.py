"""How fast it goes: frames a second, and what each stage costs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from statistics import median

WINDOW_S = 2.0
"""Frames a second are counted over so long."""
WINDOW_FRAMES = 31
"""What a stage costs is the median of so many frames: the first, which loads kernels, tells nothing."""


class Rates:
    """Counts frames, and remembers what their stages cost."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._came_s: deque[float] = deque()
        self._costs_s: dict[str, deque[float]] = {}
        self.frames = 0

    def count(self, stage_s: Mapping[str, float]) -> None:
        """A frame went through, and took so many seconds in each stage."""
        self.frames += 1
        self._came_s.append(self._clock())
        for stage, seconds in stage_s.items():
            self._costs_s.setdefault(stage, deque(maxlen=WINDOW_FRAMES)).append(seconds)

    @property
    def frames_per_s(self) -> float:
        """Over the last seconds; 0 when fewer than two frames came."""
        now_s = self._clock()
        while self._came_s and now_s - self._came_s[0] > WINDOW_S:
            self._came_s.popleft()
        if len(self._came_s) < 2:
            return 0.0
        return (len(self._came_s) - 1) / max(now_s - self._came_s[0], 1e-9)

    @property
    def stages_s(self) -> dict[str, float]:
        """What each stage usually costs, seconds a frame."""
        return {stage: median(costs_s) for stage, costs_s in self._costs_s.items()}
