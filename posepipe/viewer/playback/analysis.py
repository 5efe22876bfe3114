"""A pipeline that can be watched, tuned and asked about a frame again."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace

from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from posepipe.profiling import STAGES, WHOLE, Stopwatch
from posepipe.results import FrameResult
from posepipe.viewer.playback.tuning import Tuning

REMEMBERING = ("foreground", "tracker", "smoother")
"""Fields of the pipeline that hold something of earlier frames."""


class Analysis:
    """Steps through frames; a jump starts anew, so that nothing is remembered of another time.

    Parameters
    ----------
    make : builds the pipeline; its smoother, if it has one, is used while it is switched on
    smooth : whether it is at first
    """

    def __init__(self, make: Callable[[], Pipeline], smooth: bool = False) -> None:
        self._make = make
        self._pipeline = make()
        self._frame: DepthFrame | None = None
        self._before: dict = {}  # what was remembered before the last frame
        self.tuning = Tuning(self._pipeline, smooth)
        self.stage_s: dict[str, float] = {}  #: how long each stage took for the last frame, and the WHOLE

    @property
    def can_smooth(self) -> bool:
        """Whether there is a smoother to switch on."""
        return self._pipeline.smoother is not None

    def step(self, frame: DepthFrame, follows: bool = True) -> FrameResult:
        """The people in a frame; ``follows`` = it goes on from the last one."""
        if not follows:
            self._pipeline = self._make()
        self._frame = frame
        self._before = {field: copy.deepcopy(getattr(self._pipeline, field)) for field in REMEMBERING}
        return self._timed_step(frame)

    def again(self) -> FrameResult | None:
        """The last frame as it is found now that knobs were turned; None when none was, or there is no frame."""
        if not self.tuning.take_news() or self._frame is None:
            return None
        for field, stage in self._before.items():
            setattr(self._pipeline, field, copy.deepcopy(stage))
        return self._timed_step(self._frame)

    def _timed_step(self, frame: DepthFrame) -> FrameResult:
        self.tuning.apply(self._pipeline)
        watches = {field: Stopwatch(getattr(self._pipeline, field), call) for field, call in STAGES.items()}
        smoother = self._pipeline.smoother if self.tuning.smooth else None
        timed: Pipeline = replace(self._pipeline, smoother=smoother, **watches)  # type: ignore[arg-type]
        started = time.perf_counter()
        result = timed.step(frame)
        whole_s = time.perf_counter() - started
        self.stage_s = {**{field: watch.seconds for field, watch in watches.items()}, WHOLE: whole_s}
        return result
