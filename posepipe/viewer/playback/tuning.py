"""Thresholds of a pipeline that are changed while it runs."""

from __future__ import annotations

import threading

from posepipe.pipeline import Pipeline
from posepipe.thresholds import Threshold, ThresholdSettings


class Tuning:
    """Values of the thresholds. They are set in any thread, and reach the stages when `apply` is called.

    Parameters
    ----------
    pipeline : its stages give the first values
    smooth : whether its smoother, if it has one, is on at first
    """

    def __init__(self, pipeline: Pipeline, smooth: bool = False) -> None:
        first = ThresholdSettings.of(pipeline, smooth)
        self._values = dict(first.values)
        self._smooth = smooth
        self._max_people = first.max_people
        self._lock = threading.Lock()
        self._changed = False

    @property
    def settings(self) -> ThresholdSettings:
        """Everything that is set, as it is now."""
        with self._lock:
            return ThresholdSettings(dict(self._values), self._max_people, self._smooth)

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
        self.settings.apply(pipeline)
