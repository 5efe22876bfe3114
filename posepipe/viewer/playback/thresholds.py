"""Thresholds of a pipeline that can be changed while it runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from posepipe.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a stage holds, and its range."""

    stage: str  #: field of the pipeline
    field: str  #: field of the stage
    label: str
    hint: str
    max: float
    step: float
    min: float = 0.0


THRESHOLDS = (
    Threshold("pose_estimator", "min_confidence", "joint confidence", "joints below it are left out", 1.0, 0.01),
    Threshold("person_filter", "min_confidence", "person confidence", "mean of a person's joints", 1.0, 0.01),
    Threshold("person_filter", "max_background", "background, max", "mean probability of class 0", 1.0, 0.01),
    Threshold("person_filter", "min_share", "person share", "share of a candidate that is a person", 1.0, 0.01),
    Threshold("person_filter", "min_area_m2", "person, m²", "smallest surface of a person, face on", 0.5, 0.01),
    Threshold("foreground", "min_area_m2", "candidate, m²", "smallest surface of a candidate, face on", 0.5, 0.002),
    Threshold(
        "foreground",
        "max_extent_m",
        "candidate, m",
        "largest extent of joined components",
        5.0,
        0.1,
        0.5,
    ),
    Threshold(
        "smoother",
        "min_cutoff_hz",
        "smoothing, Hz",
        "cutoff at rest: lower is steadier, with more delay",
        5.0,
        0.1,
        0.1,
    ),
    Threshold("smoother", "beta", "smoothing, Hz per m/s", "higher lags less behind fast joints", 30.0, 0.5),
)
"""A threshold is offered where the pipeline's stage has its field."""


class Tuning:
    """Values of the thresholds. They are set in any thread, and reach the stages when `apply` is called.

    Parameters
    ----------
    pipeline : its stages give the first values
    smooth : whether its smoother, if it has one, is on at first
    """

    def __init__(self, pipeline: Pipeline, smooth: bool = False) -> None:
        found = {each: getattr(getattr(pipeline, each.stage), each.field, None) for each in THRESHOLDS}
        self._values = {each: float(value) for each, value in found.items() if value is not None}
        self._smooth = smooth
        self._max_people = pipeline.max_people
        self._lock = threading.Lock()
        self._changed = False

    @property
    def values(self) -> dict[Threshold, float]:
        """Value of every threshold that this pipeline has."""
        with self._lock:
            return dict(self._values)

    @property
    def smooth(self) -> bool:
        """Whether tracks are smoothed."""
        return self._smooth

    @property
    def max_people(self) -> int | None:
        """How many people of highest confidence are kept; None = all."""
        return self._max_people

    def set(self, threshold: Threshold, value: float) -> None:
        """Set a threshold; values beyond its range are clipped."""
        with self._lock:
            self._values[threshold], self._changed = min(max(value, threshold.min), threshold.max), True

    def set_smooth(self, smooth: bool) -> None:
        """Switch smoothing on or off."""
        with self._lock:
            self._smooth, self._changed = smooth, True

    def set_max_people(self, count: int | None) -> None:
        """Keep so many people; None = all."""
        with self._lock:
            self._max_people, self._changed = count, True

    def take_changes(self) -> bool:
        """Whether anything has changed since the last call."""
        with self._lock:
            changed, self._changed = self._changed, False
            return changed

    def apply(self, pipeline: Pipeline) -> None:
        """Set the fields of the pipeline's stages; their state stays."""
        for threshold, value in self.values.items():
            stage = getattr(pipeline, threshold.stage)
            if getattr(stage, threshold.field, None) not in (None, value):
                setattr(pipeline, threshold.stage, _with(stage, threshold.field, value))
        pipeline.max_people = self._max_people


def _with(stage: Any, field: str, value: float) -> Any:
    """Return the stage with another value: a copy if it is frozen, else itself."""
    parameters = getattr(stage, "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return replace(stage, **{field: value})
    setattr(stage, field, value)
    return stage
