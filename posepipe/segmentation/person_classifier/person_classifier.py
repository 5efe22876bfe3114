"""Person classifier: boosted trees turn the evidence of a whole candidate into the probability of a person."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics, Plane
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.person_classifier.person_evidence import BoneLengths, PersonEvidence
from posepipe.segmentation.person_classifier.sum_of_leaves import LEAF, sum_of_leaves

MAX_LOG_ODDS = 700.0
"""Log-odds are kept so far from 0: the exponential of larger ones is infinite."""
MAX_TREES = 10_000
MAX_LEVELS = 256
"""Maximum number of levels below a root."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonClassifier:
    """Boosted trees on evidence, and the calibration of their sum.

    Children of a node are adjacent; evidence up to the threshold leads to the first.

    Raises
    ------
    ValueError
        For evidence that this posepipe does not measure, or arrays that are no trees.
    """

    body: BodyDefinition
    lengths: BoneLengths
    names: tuple[str, ...]  #: evidence that it was trained on
    number: np.ndarray  #: int32 (N,), evidence that a node asks for, LEAF at a leaf; of all trees
    threshold: np.ndarray  #: float32 (N,)
    child: np.ndarray  #: int32 (N,), first child
    value: np.ndarray  #: float32 (N,), what a leaf adds to the score
    roots: np.ndarray  #: int32 (T,)
    calibration: np.ndarray  #: float32 (2,), offset and slope of the log-odds of a person against the score
    _evidence: PersonEvidence = field(init=False)
    _order: np.ndarray | slice = field(init=False)  #: places of ``names`` among all evidence

    def __post_init__(self) -> None:
        evidence = PersonEvidence(self.body, self.lengths)
        known = {name: k for k, name in enumerate(evidence.names)}
        if unknown := [name for name in self.names if name not in known]:
            raise ValueError(
                f"the person classifier needs {unknown[0]!r}, which this posepipe does not measure; update it"
            )
        inner = np.flatnonzero(self.number != LEAF)
        size = len(self.number)
        if not len(self.roots) or not ((self.roots >= 0) & (self.roots < size)).all():
            raise ValueError("a person classifier needs trees whose roots are among its nodes")
        if (self.number < LEAF).any() or self.number.max() >= len(self.names):
            raise ValueError(f"nodes of the person classifier ask for evidence outside 0..{len(self.names) - 1}")
        if ((self.child[inner] <= inner) | (self.child[inner] + 1 >= size)).any():
            raise ValueError("children of the person classifier's nodes come after them, within the tree")
        if len(self.roots) > MAX_TREES or self._exceeds(MAX_LEVELS):
            raise ValueError(f"a person classifier has at most {MAX_TREES} trees of {MAX_LEVELS} levels")
        first = evidence.names[: len(self.names)] == self.names
        order = slice(len(self.names)) if first else np.array([known[name] for name in self.names], np.int64)
        object.__setattr__(self, "_evidence", evidence)
        object.__setattr__(self, "_order", order)

    def _exceeds(self, levels: int) -> bool:
        """Whether nodes are left after so many levels."""
        nodes = np.unique(self.roots)
        for _ in range(levels + 1):
            inner = nodes[self.number[nodes] != LEAF]
            first = self.child[inner]
            nodes = np.unique(np.concatenate([first, first + 1]))
        return bool(len(nodes))

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
        """Take the numbers that the classifier was trained on, float32 (E,), from all evidence."""
        return evidence[self._order]

    def probability_of(self, evidence: np.ndarray) -> float:
        """Calibrated probability of selected evidence, float32 (E,): Platt scaling of the score (Platt 1999)."""
        score = sum_of_leaves(evidence, self.number, self.threshold, self.child, self.value, self.roots)
        log_odds = float(self.calibration[0]) + float(self.calibration[1]) * score
        return float(1 / (1 + np.exp(-min(max(log_odds, -MAX_LOG_ODDS), MAX_LOG_ODDS))))
