"""Thresholds of a pipeline: numbers of its stages that users set, on sliders or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.io.toml_file import read_toml
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

    @property
    def name(self) -> str:
        """Name in files and messages: ``person_filter.min_confidence``."""
        return f"{self.stage}.{self.field}"


THRESHOLDS = (
    Threshold("pose_estimator", "min_confidence", "joint confidence", "joints below it do not count", 1.0, 0.01),
    Threshold("person_filter", "min_confidence", "person confidence", "mean of a person's joints", 1.0, 0.01),
    Threshold("person_filter", "min_probability", "person, min", "probability that a candidate is a person", 1.0, 0.01),
    Threshold("region_filter", "min_probability", "region, min", "the same, for part of a candidate", 1.0, 0.01),
    Threshold(
        "still_furniture",
        "min_probability",
        "still person, min",
        "the same, for people who never moved",
        1.0,
        0.01,
    ),
    Threshold(
        "known_people",
        "min_probability",
        "known person, min",
        "the same, for people of the last frame",
        1.0,
        0.01,
    ),
    Threshold(
        "person_filter",
        "max_background",
        "background, max",
        "mean probability of class 0, without a classifier",
        1.0,
        0.01,
    ),
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
"""A threshold applies where the pipeline's stage has its field."""


@dataclass(frozen=True, slots=True)
class ThresholdSettings:
    """Values of thresholds, and the two other settings of a pipeline that go with them."""

    values: Mapping[Threshold, float] = field(default_factory=dict)  #: those that are set
    max_people: int | None = None  #: people of highest confidence are kept; None = all
    smooth: bool = False  #: whether tracks are smoothed

    @classmethod
    def of(cls, pipeline: Pipeline, smooth: bool = False) -> ThresholdSettings:
        """Take the value of every threshold that a pipeline has."""
        found = {each: getattr(getattr(pipeline, each.stage), each.field, None) for each in THRESHOLDS}
        values = {each: float(value) for each, value in found.items() if value is not None}
        return cls(values, pipeline.max_people, smooth)

    def apply(self, pipeline: Pipeline) -> None:
        """Set the fields of the stages that the pipeline has, and `max_people`; the state of stages stays."""
        for threshold, value in self.values.items():
            stage = getattr(pipeline, threshold.stage)
            if getattr(stage, threshold.field, None) not in (None, value):
                setattr(pipeline, threshold.stage, _with(stage, threshold.field, value))
        pipeline.max_people = self.max_people

    def to_toml(self) -> str:
        """Format as the TOML file that `read_thresholds` reads."""
        lines = [] if self.max_people is None else [f"max_people = {self.max_people}"]
        lines += ["smooth = true"] if self.smooth else []
        for stage in dict.fromkeys(threshold.stage for threshold in self.values):
            own = {each.field: value for each, value in self.values.items() if each.stage == stage}
            lines += ["", f"[{stage}]", *(f"{name} = {round(value, 6)!r}" for name, value in own.items())]
        return "\n".join(lines).lstrip("\n") + "\n"


def read_thresholds(path: str | Path) -> ThresholdSettings:
    """Read a file of thresholds: a table for each stage, and ``max_people`` and ``smooth`` above them.

    Raises
    ------
    FormatError
        When the file is no TOML, names no threshold, or a value is not of the type and range of its threshold.
    PosepipeError
        When the file is missing or cannot be read.
    """
    data = read_toml(path)
    max_people, smooth = data.pop("max_people", None), data.pop("smooth", False)
    if max_people is not None and (type(max_people) is not int or max_people < 1):
        raise FormatError(
            path, f"max_people: wanted a whole number from 1 up, got {max_people!r}; leave it out for all"
        )
    if type(smooth) is not bool:
        raise FormatError(path, f"smooth: wanted true or false, got {smooth!r}")
    values = dict(
        _checked(path, stage, name, value) for stage, own in data.items() for name, value in _table(path, stage, own)
    )
    return ThresholdSettings(values, max_people, smooth)


def _table(path: str | Path, stage: str, own: Any) -> list[tuple[str, Any]]:
    if not isinstance(own, dict) or stage not in {each.stage for each in THRESHOLDS}:
        stages = ", ".join(dict.fromkeys(f"[{each.stage}]" for each in THRESHOLDS))
        raise FormatError(path, f"{stage}: wanted max_people, smooth, or a table of {stages}")
    return list(own.items())


def _checked(path: str | Path, stage: str, name: str, value: Any) -> tuple[Threshold, float]:
    """Return the threshold of these names and its value, if it fits."""
    known = {each.field: each for each in THRESHOLDS if each.stage == stage}
    if name not in known:
        raise FormatError(path, f"{stage}.{name}: no such threshold; [{stage}] has {', '.join(known)}")
    threshold = known[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not threshold.min <= value <= threshold.max:
        wanted = f"wanted a number from {threshold.min:g} to {threshold.max:g}"
        raise FormatError(path, f"{threshold.name}: {wanted}, got {value!r}")
    return threshold, float(value)


def _with(stage: Any, field: str, value: float) -> Any:
    """Return the stage with another value: a copy if it is frozen, else itself."""
    parameters = getattr(stage, "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return replace(stage, **{field: value})
    setattr(stage, field, value)
    return stage
