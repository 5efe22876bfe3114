"""A pipeline that can be watched, tuned and run again on the same frame."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from posepipe.profiling import WHOLE, with_stopwatches
from posepipe.results import FrameResult
from posepipe.viewer.playback.tuning import Tuning

REMEMBERING = ("foreground", "tracker", "still_furniture", "known_people", "body_fitter", "smoother")
"""Fields of the pipeline that hold state of earlier frames."""


class Analysis:
    """Steps through frames; a jump in time resets every stage.

    Parameters
    ----------
    make : builds the pipeline; its smoother, if it has one, is used while smoothing is switched on
    smooth : whether it is on at first
    """

    def __init__(self, make: Callable[[], Pipeline], smooth: bool = False) -> None:
        self._pipeline = make()
        self._smoother = self._pipeline.smoother
        self._frame: DepthFrame | None = None
        self._before: dict[str, Any] = {}  # state of the stages before the last frame
        self.tuning = Tuning(self._pipeline, smooth)
        self.stage_s: dict[str, float] = {}  #: seconds of each stage, by title, for the last frame, and of the WHOLE

    @property
    def can_smooth(self) -> bool:
        """Whether there is a smoother to switch on."""
        return self._smoother is not None

    def step(self, frame: DepthFrame, follows: bool = True) -> FrameResult:
        """Find the people in a frame; ``follows`` = it comes after the last one."""
        if not follows:
            self._pipeline.reset()
        self._frame = frame
        self._before = {field: copy.deepcopy(getattr(self._pipeline, field)) for field in REMEMBERING}
        return self._timed_step(frame)

    def again(self) -> FrameResult | None:
        """Find the people in the last frame with the new thresholds; None when none has changed, or without a frame."""
        if not self.tuning.take_changes() or self._frame is None:
            return None
        for field, stage in self._before.items():
            setattr(self._pipeline, field, copy.deepcopy(stage))
        return self._timed_step(self._frame)

    def _timed_step(self, frame: DepthFrame) -> FrameResult:
        self.tuning.apply(self._pipeline)
        timed, watches = with_stopwatches(self._pipeline)
        if not self.tuning.smooth:
            timed.smoother = None
        started = time.perf_counter()
        result = timed.step(frame)
        whole_s = time.perf_counter() - started
        self.stage_s = {**{title: watch.seconds for title, watch in watches.items()}, WHOLE: whole_s}
        return result
