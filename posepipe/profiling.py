"""Timing of the pipeline: seconds a frame of each stage, measured inside the whole flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from inspect import ismethod
from typing import Any

import numpy as np

from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline

WHOLE = "whole step"
WARM_UP = 3
"""Frames processed before timing starts, to load kernels and fill caches."""


class Stopwatch:
    """Proxy of a stage that sums the time spent in its methods, less that of other stages they call.

    Parameters
    ----------
    stage : any object
    inner_s : seconds that inner stages took, a sum for each call in progress, outermost first; shared by all
        stopwatches of a pipeline
    """

    def __init__(self, stage: Any, inner_s: list[float]) -> None:
        self._stage = stage
        self._inner_s = inner_s
        self.seconds = 0.0

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            self._inner_s.append(0.0)
            started = time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                taken_s = time.perf_counter() - started
                self.seconds += taken_s - self._inner_s.pop()
                if self._inner_s:
                    self._inner_s[-1] += taken_s

        return timed

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._stage, name)
        return self._timed(own) if ismethod(own) else own


def with_stopwatches(pipeline: Pipeline) -> tuple[Pipeline, dict[str, Stopwatch]]:
    """Return a copy of the pipeline with a stopwatch on every stage, and the stopwatches by title.

    What a stage asks of another, as the second pass does of the weighting, is the other's time.
    """
    inner_s: list[float] = []
    watches = {stage: Stopwatch(own, inner_s) for stage, own in pipeline.stages()}
    stopped: dict[str, Any] = {stage.field: watch for stage, watch in watches.items()}
    return replace(pipeline, **stopped), {stage.title: watch for stage, watch in watches.items()}


def time_stages(
    pipeline: Pipeline, frames: Iterable[DepthFrame], on_frame: Callable[[], object] = lambda: None
) -> dict[str, np.ndarray]:
    """Step through frames with a stopwatch on every stage.

    Parameters
    ----------
    pipeline : Pipeline; its tracker and background model learn from the frames
    frames : the first WARM_UP of them are also processed once before timing starts
    on_frame : called after every frame

    Returns
    -------
    seconds of each stage, by title, and of the WHOLE step, float64 (frames,). The remainder is the flow itself

    Raises
    ------
    ValueError
        When there are no frames.
    """
    frames = list(frames)
    if not frames:
        raise ValueError("there are no frames to time")
    for frame in frames[:WARM_UP]:
        pipeline.step(frame)
    timed, watches = with_stopwatches(pipeline)
    rows = []
    for frame in frames:
        for watch in watches.values():
            watch.seconds = 0.0
        started = time.perf_counter()
        timed.step(frame)
        rows.append([*(watch.seconds for watch in watches.values()), time.perf_counter() - started])
        on_frame()
    return dict(zip([*watches, WHOLE], np.array(rows).T, strict=True))
