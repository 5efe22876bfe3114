"""Person classifier: boosted trees turn the evidence of a whole candidate into the probability of a person."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics, Plane
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.calibration import calibrated
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence

MIN_PROBABILITY = 0.5
"""Probability from which a candidate is taken for a person, unless a model was given another."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonClassifier:
    """Boosted trees on the evidence for a person, and the calibration of their score.

    Raises
    ------
    ValueError
        For trees that need evidence which this posepipe does not measure, and for a minimum that is no probability.
    """

    body: BodyDefinition
    lengths: BoneLengths
    trees: BoostedTrees
    calibration: np.ndarray  #: float32 (2,), offset and slope of the log-odds of a person against the score
    min_probability: float = MIN_PROBABILITY  #: of a candidate that is taken for a person
    _evidence: PersonEvidence = field(init=False)
    _order: np.ndarray | slice = field(init=False)  #: places of the trees' evidence among all

    def __post_init__(self) -> None:
        if not 0 < self.min_probability < 1:
            raise ValueError(f"the minimum probability of a person is between 0 and 1, got {self.min_probability}")
        evidence = PersonEvidence(self.body, self.lengths)
        object.__setattr__(self, "_evidence", evidence)
        object.__setattr__(self, "_order", self.trees.places_among(evidence.names))

    def probability(
        self,
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        parts: PartProbabilities,
        pose: Pose,
        floor: Plane | None = None,
    ) -> float:
        """Probability that a candidate is a person; parameters as for `PersonEvidence.measure`."""
        return self.probability_of(self.select(self._evidence.measure(depth_m, mask, intrinsics, parts, pose, floor)))

    def select(self, evidence: np.ndarray) -> np.ndarray:
        """Take the numbers that the trees were trained on, float32 (E,), from all evidence."""
        return evidence[self._order]

    def probability_of(self, evidence: np.ndarray) -> float:
        """Calibrated probability of selected evidence, float32 (E,)."""
        return calibrated(self.trees.score(evidence), self.calibration)
