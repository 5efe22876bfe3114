"""Which forests are grown for curves of accuracy, and what each curve varies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from posepipe.errors import counted
from posepipe.learn.depth.forest_parameters import ForestParameters

CURVES = {
    "depth": "maximum depth",
    "trees": "trees",
    "frames": "training frames",
    "candidates": "candidate features a level",
    "probe_range": "maximum length of a probe, metres",
}
"""Name of each curve, and what stands along it."""
LARGEST = "largest"
"""Name of the forest with the largest of all numbers."""


class ForestRun(NamedTuple):
    """A forest to be grown."""

    name: str  #: LARGEST, or the curve that it is a point of, and its number
    curve: str  #: empty for LARGEST, which is a point of every curve
    value: float  #: along that curve
    frames: int
    parameters: ForestParameters


@dataclass(frozen=True, slots=True)
class CurvePlan:
    """Numbers that forests are grown with. Of each list, all other curves use the largest.

    One forest gives the curves of depth and trees: a tree of fewer levels is the beginning of a deep one, and a forest
    of fewer trees has some of its trees.

    Raises
    ------
    ValueError
        For an empty list, numbers up to 0, or fewer frames than trees.
    """

    parameters: ForestParameters  #: of all forests; the lists below replace its candidates and probe range
    frames: tuple[int, ...]
    candidates: tuple[int, ...]
    probe_range_m: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("frames", "candidates", "probe_range_m"):
            if not getattr(self, name) or min(getattr(self, name)) <= 0:
                raise ValueError(f"{name} takes at least one number, all above 0, got {getattr(self, name)}")
        if min(self.frames) < self.parameters.trees:
            trees, frames = counted(self.parameters.trees, "tree"), counted(min(self.frames), "frame")
            raise ValueError(f"every tree needs separate frames: {trees}, {frames}")

    def runs(self, curves: Iterable[str] = tuple(CURVES)) -> Iterator[ForestRun]:
        """Yield the forests of some curves, the largest first."""
        yield self._run("", 0)
        for curve, values in (
            ("candidates", self.candidates),
            ("probe_range", self.probe_range_m),
            ("frames", self.frames),
        ):
            if curve in curves:
                yield from (self._run(curve, value) for value in sorted(set(values)) if value < max(values))

    def largest(self) -> dict[str, float]:
        """Numbers of the largest forest along the curves that need others, too."""
        return {"frames": max(self.frames), "candidates": max(self.candidates), "probe_range": max(self.probe_range_m)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, by which a run that is resumed is recognised."""
        lists = {name: list(values) for name, values in asdict(self).items() if name != "parameters"}
        return {"parameters": self.parameters.to_dict(), **lists}

    def _run(self, curve: str, value: float) -> ForestRun:
        numbers = self.largest() | ({curve: value} if curve else {})
        growth = replace(self.parameters.growth, candidates=int(numbers["candidates"]))
        offsets = replace(self.parameters.offsets, longest_m=numbers["probe_range"])
        name = f"{curve}-{value:g}" if curve else LARGEST
        parameters = replace(self.parameters, growth=growth, offsets=offsets)
        return ForestRun(name, curve, value, int(numbers["frames"]), parameters)
