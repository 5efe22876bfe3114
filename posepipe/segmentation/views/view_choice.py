"""Choice of views: boosted trees tell which view of a person shows the pose best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.views.view_evidence import NAMES, SeenView, ViewEvidence


@dataclass(frozen=True, slots=True, eq=False)
class ViewChoice:
    """Boosted trees on the evidence for a view; their score is the higher the better its pose.

    Raises
    ------
    ValueError
        For trees that need evidence which this posepipe does not measure.
    """

    body: BodyDefinition
    lengths: BoneLengths
    trees: BoostedTrees
    _evidence: ViewEvidence = field(init=False)
    _order: np.ndarray | slice = field(init=False)  #: places of the trees' evidence among all

    def __post_init__(self) -> None:
        object.__setattr__(self, "_evidence", ViewEvidence(self.body, self.lengths))
        object.__setattr__(self, "_order", self.trees.places_among(NAMES))

    def best(self, seen: Mapping[int, SeenView]) -> int:
        """Quarter turns of the view of the highest score; parameters as for `ViewEvidence.measure`."""
        rows = self._evidence.measure(seen)[:, self._order]
        return max(zip(map(self.score, rows), seen, strict=True), key=lambda scored: scored[0])[1]

    def score(self, evidence: np.ndarray) -> float:
        """Score of the trees' own evidence, float32 (E,), of one view."""
        return self.trees.score(np.ascontiguousarray(evidence))
