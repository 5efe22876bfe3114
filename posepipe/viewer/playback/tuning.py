"""The thresholds of a pipeline that can be moved while it runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from posepipe.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that a stage holds, and the range in which it is moved."""

    stage: str  #: field of the pipeline
    field: str  #: field of the stage
    label: str
    hint: str
    most: float
    step: float
    least: float = 0.0


KNOBS = (
    Knob("assembler", "min_confidence", "joint, sure", "a joint less certain is left out of the pose", 1.0, 0.01),
    Knob("presence", "min_confidence", "person, sure", "a person's joints, less certain on average: nobody", 1.0, 0.01),
    Knob("presence", "max_background", "person, doubt", "above this mean probability of class 0: nobody", 1.0, 0.01),
    Knob("presence", "min_share", "person, share", "of a candidate's surface that must be a person's", 1.0, 0.01),
    Knob("presence", "min_area_m2", "person, m²", "a smaller surface, seen face on, is no person", 0.5, 0.01),
    Knob("foreground", "min_area_m2", "candidate, m²", "a smaller surface, seen face on, is not looked at", 0.5, 0.002),
    Knob(
        "foreground",
        "max_extent_m",
        "candidate, m",
        "pieces that belong together join up to this length",
        5.0,
        0.1,
        0.5,
    ),
    Knob("smoother", "min_cutoff_hz", "smooth, Hz", "cutoff at rest: lower is steadier and later", 5.0, 0.1, 0.1),
    Knob("smoother", "beta", "smooth, Hz per m/s", "higher is quicker behind fast joints", 30.0, 0.5),
)
"""A knob is offered where the pipeline's stage has its field."""


class Tuning:
    """Where the knobs stand. They are turned in any thread, and reach the stages when `apply` is called.

    Parameters
    ----------
    pipeline : whose stages say where the knobs stand at first
    smooth : whether its smoother, if it has one, is on at first
    """

    def __init__(self, pipeline: Pipeline, smooth: bool = False) -> None:
        found = {knob: getattr(getattr(pipeline, knob.stage), knob.field, None) for knob in KNOBS}
        self._values = {knob: float(value) for knob, value in found.items() if value is not None}
        self._smooth = smooth
        self._max_people = pipeline.max_people
        self._lock = threading.Lock()
        self._turned = False

    @property
    def values(self) -> dict[Knob, float]:
        """Where every knob stands that this pipeline has."""
        with self._lock:
            return dict(self._values)

    @property
    def smooth(self) -> bool:
        """Whether tracks are smoothed."""
        return self._smooth

    @property
    def max_people(self) -> int | None:
        """How many of the surest are kept; None = all."""
        return self._max_people

    def turn(self, knob: Knob, value: float) -> None:
        """Move a knob; beyond its range it stops."""
        with self._lock:
            self._values[knob], self._turned = min(max(value, knob.least), knob.most), True

    def set_smooth(self, smooth: bool) -> None:
        with self._lock:
            self._smooth, self._turned = smooth, True

    def set_max_people(self, most: int | None) -> None:
        with self._lock:
            self._max_people, self._turned = most, True

    def take_news(self) -> bool:
        """Whether anything was moved since this was last asked."""
        with self._lock:
            turned, self._turned = self._turned, False
            return turned

    def apply(self, pipeline: Pipeline) -> None:
        """Set the fields of the pipeline's stages; what they remember stays."""
        for knob, value in self.values.items():
            stage = getattr(pipeline, knob.stage)
            if getattr(stage, knob.field, None) not in (None, value):
                setattr(pipeline, knob.stage, _with(stage, knob.field, value))
        pipeline.max_people = self._max_people


def _with(stage: Any, field: str, value: float) -> Any:
    """The stage with another value: its like, if it is frozen and so remembers nothing, or else itself."""
    parameters = getattr(stage, "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return replace(stage, **{field: value})
    setattr(stage, field, value)
    return stage
