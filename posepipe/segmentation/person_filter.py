"""Person filter: decides whether a candidate is a person, and which of its pixels are."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics, Plane
from posepipe.frames import window_of
from posepipe.parts import PartProbabilities, Stride
from posepipe.results import Pose
from posepipe.segmentation.person_classifier.person_classifier import MIN_PROBABILITY, PersonClassifier
from posepipe.segmentation.pixel_grid import enlarged, grid_shape
from posepipe.segmentation.views.view import View
from posepipe.stage import Share, Stateless

WINDOW = 5
"""Side, in classified pixels, of the window of the majority filter."""


@dataclass(frozen=True, slots=True)
class PersonFilter(Stateless):
    """Removes background pixels, and rejects candidates of which too little is left.

    A classifier judges the rest. Without one, candidates with a high mean probability of class 0 are rejected:
    furniture that resembles a person does so with low confidence. A forest trained only on cut-out people has no class
    0 and accepts every candidate.
    """

    min_share: Share = 0.5  #: minimum share of a candidate's surface that is a person
    min_area_m2: float = 0.04  #: minimum surface of a person, seen face on
    min_component_m2: float = 0.15  #: minimum surface of a component that is classified again alone
    max_background: Share = 0.25  #: maximum mean probability of class 0 over the pixels last classified
    min_confidence: Share = 0.1  #: minimum mean confidence of a pose
    classifier: PersonClassifier | None = None  #: judges the whole candidate instead of ``max_background``
    min_probability: Share = MIN_PROBABILITY  #: minimum probability of a person, by the classifier

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """Find the pixels of the person in a candidate.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        parts : PartProbabilities of the candidate's pixels

        Returns
        -------
        bool (H, W), within the candidate; None when it shows no person. Where background prevails, only the largest
        component of person pixels is kept, if large enough: a person on a sofa
        """
        if not len(parts.pixels):
            return None
        cells, corner = _cells_of(mask, parts.stride)
        grid, area_m2 = np.zeros((2, *cells.shape), np.float32)
        cell = tuple((parts.pixels // parts.stride - corner).T)
        area_m2[cell] = depth_m[tuple(parts.pixels.T)] ** 2 * (parts.stands_for / (intrinsics.fx * intrinsics.fy))
        grid[cell] = parts.probabilities[:, 0] <= 0.5
        votes, voters = (
            cv2.boxFilter(image, -1, (WINDOW, WINDOW), normalize=False, borderType=cv2.BORDER_CONSTANT)
            for image in (grid, np.sign(area_m2))
        )
        person = cells & (2 * votes >= voters)
        person_m2 = area_m2[person].sum()
        if person_m2 < self.min_area_m2:
            return None
        if person_m2 < self.min_share * area_m2.sum():
            person = _largest_component(person, area_m2)
            if area_m2[person].sum() < self.min_component_m2:
                return None
        (rows, cols), whole = parts.stride, mask.copy()
        top, left = corner * parts.stride
        window = whole[top : top + rows * len(person), left : left + cols * person.shape[1]]
        window &= enlarged(person, parts.stride, window.shape)
        return whole

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        """Probability that the parts and the pose found in a candidate are those of a person.

        0 for a pose of little confidence. Without a classifier it is 1 or 0, by ``max_background``.
        """
        if pose.confidence < self.min_confidence:
            return 0.0
        if self.classifier is None:
            return float(parts.probabilities[:, 0].mean() <= self.max_background)
        return self.classifier.probability(view.depth_m, view.mask, view.intrinsics, parts, pose, floor)

    def accepts(self, probability: float) -> bool:
        """Whether a candidate of that probability is a person."""
        return probability >= self.min_probability


def filter_by(classifier: PersonClassifier | None) -> PersonFilter:
    """Make the filter of a model, which takes candidates for people from the probability of its classifier on."""
    if classifier is None:
        return PersonFilter()
    return PersonFilter(classifier=classifier, min_probability=classifier.min_probability)


@dataclass(frozen=True, slots=True)
class AcceptAll(Stateless):
    """Accepts every candidate whole, for frames in which each is known to be a person."""

    min_confidence: Share = 0.0

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """Return the candidate itself; None when it has no readings."""
        return mask if len(parts.pixels) else None

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        """1 where the pose reaches the minimum confidence, else 0."""
        return float(pose.confidence >= self.min_confidence)

    def accepts(self, probability: float) -> bool:
        """Whether a candidate of that probability is a person."""
        return probability > 0


def _cells_of(mask: np.ndarray, stride: Stride) -> tuple[np.ndarray, np.ndarray]:
    """Grid cells that contain pixels of the mask, whether or not their own pixel was classified.

    Returns bool (R, C), cropped to the mask, and row and column of the first cell, int (2,).
    """
    (row_step, col_step), (rows, cols) = stride, window_of(mask)
    top, left = rows.start // row_step, cols.start // col_step
    held = mask[top * row_step : rows.stop, left * col_step : cols.stop]
    cells = np.zeros(grid_shape(held.shape, stride), bool)
    for row in range(row_step):
        for col in range(col_step):
            cell_pixels = held[row::row_step, col::col_step]
            cells[: len(cell_pixels), : cell_pixels.shape[1]] |= cell_pixels
    return cells, np.array([top, left])


def _largest_component(mask: np.ndarray, area_m2: np.ndarray) -> np.ndarray:
    """The connected component of a mask with the most surface: both (H, W)."""
    count, components = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    areas = np.bincount(components.ravel(), weights=np.where(mask, area_m2, 0).ravel(), minlength=count)
    return mask & (components == areas.argmax())
