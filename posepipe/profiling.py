"""How long each stage of the pipeline takes, frame by frame, in its own place in the flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline

STAGES = {
    "foreground": "update",
    "parts": "predict",
    "presence": "person_mask",
    "proposer": "find",
    "assembler": "assemble",
    "tracker": "update",
}
"""Field of the pipeline, and the call that it answers."""
WHOLE = "whole step"
WARM_UP = 3
"""Frames stepped through first: kernels are loaded, caches filled."""


class Stopwatch:
    """Stands in a stage's place and adds up how long its call takes."""

    def __init__(self, stage: Any, call: str) -> None:
        self._stage = stage
        self.seconds = 0.0
        setattr(self, call, self._timed(getattr(stage, call)))

    def _timed(self, call: Callable) -> Callable:
        def timed(*args: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                self.seconds += time.perf_counter() - started

        return timed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)


def time_stages(
    pipeline: Pipeline, frames: Iterable[DepthFrame], on_frame: Callable[[], object] = lambda: None
) -> dict[str, np.ndarray]:
    """Step through frames with a stopwatch on every stage.

    Parameters
    ----------
    pipeline : Pipeline; left as it is, but for what its tracker has seen
    frames : the first WARM_UP of them are stepped through once more, before the clock starts
    on_frame : called after every frame

    Returns
    -------
    seconds a frame of each stage and of the WHOLE, float64 (frames,); weighing points, the word on
    whether a pose is a person's, and the flow itself are the difference

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
    watches = {field: Stopwatch(getattr(pipeline, field), call) for field, call in STAGES.items()}
    timed: Pipeline = replace(pipeline, **watches)  # type: ignore[arg-type]  # each answers its stage's call
    rows = []
    for frame in frames:
        for watch in watches.values():
            watch.seconds = 0.0
        started = time.perf_counter()
        timed.step(frame)
        rows.append([*(watch.seconds for watch in watches.values()), time.perf_counter() - started])
        on_frame()
    return dict(zip([*watches, WHOLE], np.array(rows).T, strict=True))
