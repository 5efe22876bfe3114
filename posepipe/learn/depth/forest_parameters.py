"""Parameters of the training of a depth forest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from posepipe.learn.class_weights import CLASS_WEIGHTS
from posepipe.learn.depth.splitting.responses import OffsetRange
from posepipe.learn.growing import GrowthRules


@dataclass(frozen=True, slots=True)
class ForestParameters:
    """Parameters of forest training; the card of a model tells those of its trees.

    Raises
    ------
    ValueError
        For fewer than 1 tree or 1 pixel per person, and for unknown class weights.

    Examples
    --------
    >>> from posepipe import ForestParameters
    >>> from posepipe.learn.growing import GrowthRules
    >>> small = ForestParameters(trees=1, growth=GrowthRules(max_depth=8, candidates=100))
    >>> small.trees, small.pixels_per_person, small.growth.max_depth
    (1, 300, 8)
    """

    trees: int = 3
    pixels_per_person: int = 300
    growth: GrowthRules = field(default_factory=GrowthRules)
    offsets: OffsetRange = field(default_factory=OffsetRange)
    symmetric: bool = True  #: also walk each tree as its mirror image, if the body has sides
    seed: int = 0
    class_weight: str | None = None  #: "balanced" = classes of a tree's pixels weigh the same, as in scikit-learn
    share_frames: bool = False  #: grow every tree on all frames, each on other pixels; False = on frames of its own

    def __post_init__(self) -> None:
        if self.trees < 1 or self.pixels_per_person < 1:
            raise ValueError(
                "a forest needs at least 1 tree and 1 pixel a person,"
                f" got {self.trees} trees and {self.pixels_per_person} pixels"
            )
        if self.class_weight not in CLASS_WEIGHTS:
            raise ValueError(f"class_weight is one of {CLASS_WEIGHTS}, got {self.class_weight!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data; without class weights and shared frames where they are not used, as before there were any."""
        unused = {"class_weight": None, "share_frames": False}
        return {name: value for name, value in asdict(self).items() if name not in unused or value != unused[name]}
