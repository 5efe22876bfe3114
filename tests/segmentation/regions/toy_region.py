"""A region of a small candidate, and trees that ask for one number of its evidence."""

from __future__ import annotations

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.parts import EVERY_PIXEL, PartProbabilities
from posepipe.results import Joint, Pose
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.regions.region_evidence import RegionEvidence, SeenRegion
from posepipe.segmentation.views.view import View

BODY = BodyDefinition(
    "pair",
    ("top", "bottom"),
    ("head", "hip"),
    {"head": ("top",), "hip": ("bottom",)},
    {"head": "hip", "hip": None},
)
CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)
LENGTHS = BoneLengths(((0, 1),), np.array([0.5], np.float32))
EVIDENCE = RegionEvidence(BODY, LENGTHS)


def pose_at(across_m: float, *names: str, confidence: float = 0.6) -> Pose:
    """A pose that far to the right of the middle of the image, 2 m away; its head is 0.4 m above its hip."""
    height_m = {"head": -0.2, "hip": 0.2}
    joints = {name: Joint(name, (across_m, height_m[name], 2.0), confidence) for name in names or BODY.joints}
    return Pose.of(joints)


def seen_region(
    *known: Pose, pose: Pose | None = None, probability: float = 0.8, rotated: bool = False, of_candidate: float = 0.3
) -> SeenRegion:
    """A region of 20 x 10 pixels, 0.4 x 0.2 m, in the middle of a candidate of twice the size."""
    depth_m, whole = np.full((48, 64), 4.0, np.float32), np.zeros((48, 64), bool)
    whole[14:34, 22:42] = True
    depth_m[whole] = 2.0
    mask = whole & (np.arange(64) >= 27) & (np.arange(64) < 37)
    view, pixels = View(depth_m, mask, CAMERA), pixels_of(mask)
    parts = PartProbabilities(pixels, np.tile(np.float32((0.2, 0.5, 0.3)), (len(pixels), 1)), EVERY_PIXEL)
    pose = pose_at(0.0) if pose is None else pose
    region = Region(mask, whole, of_candidate, known)
    return SeenRegion(region, view, parts, pose, pose, rotated, probability)


def classifier_by(name: str, threshold: float) -> RegionClassifier:
    """A classifier that is sure of regions with more than ``threshold`` of one number."""
    trees = BoostedTrees(
        EVIDENCE.names,
        number=np.array([EVIDENCE.names.index(name), LEAF, LEAF], np.int32),
        threshold=np.array([threshold, 0, 0], np.float32),
        child=np.array([1, 0, 0], np.int32),
        value=np.array([0, -2.0, 2.0], np.float32),
        roots=np.array([0], np.int32),
    )
    return RegionClassifier(BODY, LENGTHS, trees, np.array([0, 1], np.float32))
