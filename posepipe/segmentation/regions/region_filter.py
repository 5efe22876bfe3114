"""Region filter: decides whether a region of a candidate is somebody."""

from __future__ import annotations

from dataclasses import dataclass

from posepipe.camera import Plane
from posepipe.segmentation.regions.pose_distances import mean_distance_m
from posepipe.segmentation.regions.region_classifier import MIN_PROBABILITY, RegionClassifier
from posepipe.segmentation.regions.region_evidence import SeenRegion
from posepipe.stage import Share, Stateless

MIN_PERSON_PROBABILITY = 0.05
"""Probability by the person filter below which a region is nobody, whatever else is known about it: most are."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionFilter(Stateless):
    """Accepts regions that show somebody who is not known yet.

    The person filter has learned from whole candidates, and is sure of pieces of furniture and of people at times. A
    classifier that has learned from regions judges them anew. Without one, the person filter must be surer than of
    whole candidates, and beside people who are known the pose must be confident and far from theirs. Where nobody is
    known, `CandidateInference` asks that the person filter accepts a region, too.
    """

    classifier: RegionClassifier | None = None  #: None = the person filter's probability counts, and the bounds below
    min_probability: Share = 0.75  #: minimum probability of somebody
    min_confidence: Share = 0.3  #: without a classifier: minimum mean confidence of the joints beside known people
    min_distance_m: float = 0.5  #: without a classifier: minimum mean distance between the joints of two people

    def probability(self, seen: SeenRegion, floor: Plane | None = None) -> float:
        """Probability that a region shows somebody: by the classifier, or the person filter where that is enough."""
        if self.classifier is None or seen.probability < MIN_PERSON_PROBABILITY:
            return seen.probability
        return self.classifier.probability(seen, floor)

    def accepts(self, seen: SeenRegion, probability: float) -> bool:
        """Whether a region of that probability is somebody who is not known yet.

        Without a classifier, joints that two poses both have must be far apart; they may have none in common.
        """
        if self.classifier is not None or probability < self.min_probability:
            return probability >= self.min_probability
        known, pose = seen.region.known, seen.best_pose
        if known and pose.confidence < self.min_confidence:
            return False
        return all(mean_distance_m(each, pose) >= self.min_distance_m for each in known)


def region_filter_by(classifier: RegionClassifier | None) -> RegionFilter:
    """Make the region filter of a model."""
    return RegionFilter() if classifier is None else RegionFilter(classifier, MIN_PROBABILITY)
