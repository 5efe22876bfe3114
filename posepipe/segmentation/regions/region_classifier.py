"""Region classifier: boosted trees turn the evidence of a region into the probability that it shows somebody."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Plane
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.calibration import calibrated
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.regions.region_evidence import RegionEvidence, SeenRegion

MIN_PROBABILITY = 0.5
"""Probability from which a region is taken for somebody."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionClassifier:
    """Boosted trees on the evidence for somebody in a region, and the calibration of their score.

    Raises
    ------
    ValueError
        For trees that need evidence which this posepipe does not measure.
    """

    body: BodyDefinition
    lengths: BoneLengths
    trees: BoostedTrees
    calibration: np.ndarray  #: float32 (2,), offset and slope of the log-odds against the score
    _evidence: RegionEvidence = field(init=False)
    _order: np.ndarray | slice = field(init=False)  #: places of the trees' evidence among all

    def __post_init__(self) -> None:
        evidence = RegionEvidence(self.body, self.lengths)
        object.__setattr__(self, "_evidence", evidence)
        object.__setattr__(self, "_order", self.trees.places_among(evidence.names))

    def probability(self, seen: SeenRegion, floor: Plane | None = None) -> float:
        """Probability that a region over a floor, if it is known, shows somebody who is not known yet."""
        evidence = self._evidence.measure(seen, floor)[self._order]
        return calibrated(self.trees.score(np.ascontiguousarray(evidence)), self.calibration)
