"""Evidence for somebody in a region: numbers that tell them from furniture, and from what is left of a known person.

They are the evidence for a person, the probability that the person filter gives, and how the region lies to its
candidate and to the people who were found before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Plane
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.evidence.pixel_evidence import distance_to_joints
from posepipe.segmentation.evidence.pose_evidence import BoneLengths, evenly_spaced
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.regions.pose_distances import mean_distance_m, skeleton_m
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.views.view import View

REACH_M = 0.25
"""Maximum distance of a person's surface from the joints and the middles of the bones."""
FAR_M = 9.0
"""Distance to people where nobody is known, or no joint is in common; larger ones count as this."""
REGION_EVIDENCE = (
    "probability",
    "probability of candidate",
    "share of candidate",
    "joints",
    "rotated",
    "known people",
    "distance to known person",
    "joints in common",
    "surface to known people",
    "explained by known people",
)
"""Names of the numbers that join the evidence for a person."""


class SeenRegion(NamedTuple):
    """What a region shows."""

    region: Region
    view: View  #: as the image is, without background pixels
    parts: PartProbabilities  #: of the pixels of the view, and at times of background that was found last
    pose: Pose  #: found in that view
    best_pose: Pose  #: found in the best view, camera axes
    rotated: bool  #: whether that is another view
    probability: float  #: of a person, by the person filter


@dataclass(frozen=True, slots=True, eq=False)
class RegionEvidence:
    """Measures the evidence for somebody in regions."""

    body: BodyDefinition  #: of parts and poses
    lengths: BoneLengths
    names: tuple[str, ...] = field(init=False)  #: of the E numbers, in their order
    _of_person: PersonEvidence = field(init=False)

    def __post_init__(self) -> None:
        of_person = PersonEvidence(self.body, self.lengths)
        object.__setattr__(self, "_of_person", of_person)
        object.__setattr__(self, "names", (*of_person.names, *REGION_EVIDENCE))

    def measure(self, seen: SeenRegion, floor: Plane | None = None) -> np.ndarray:
        """Measure one region over a floor, if it is known: float32 (E,), in the order of ``names``."""
        view, region = seen.view, seen.region
        of_person = self._of_person.measure(view.depth_m, view.mask, view.intrinsics, seen.parts, seen.pose, floor)
        share = np.count_nonzero(region.mask) / max(1, int(np.count_nonzero(region.candidate_mask)))
        of_region = (
            *(seen.probability, region.candidate_probability, share, len(seen.best_pose.names), seen.rotated),
            *(len(region.known), *_to_nearest(seen.best_pose, region.known), *self._to_surface(seen)),
        )
        return np.concatenate([of_person, np.array(of_region, np.float32)])

    def _to_surface(self, seen: SeenRegion) -> tuple[float, float]:
        """Median distance of the surface to known people, metres, and the share of it that is within reach of them."""
        skeletons_m = [skeleton_m(self.body, pose) for pose in seen.region.known if pose.names]
        if not skeletons_m:
            return FAR_M, 0.0
        rows, cols = seen.parts.pixels[evenly_spaced(len(seen.parts.pixels))].T
        points_m = seen.view.intrinsics.deproject_pixels(rows, cols, seen.view.depth_m[rows, cols])
        distance_m = distance_to_joints(points_m, np.concatenate(skeletons_m))
        return min(float(np.median(distance_m)), FAR_M), float((distance_m <= REACH_M).mean())


def _to_nearest(pose: Pose, known: tuple[Pose, ...]) -> tuple[float, int]:
    """Mean distance to the nearest of some poses, metres, and the number of joints in common with it."""
    distances_m = [min(mean_distance_m(pose, each), FAR_M) for each in known]
    if not distances_m:
        return FAR_M, 0
    nearest = int(np.argmin(distances_m))
    return distances_m[nearest], len(set(pose.names) & set(known[nearest].names))
