"""Whether a candidate is a person, and which of its pixels are: what the forest's class 0 says."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import window_of
from posepipe.parts import PartProbabilities, Stride
from posepipe.results import Pose

WINDOW = 5
"""Classified pixels, each way, whose majority decides: what is alone among others was mistaken."""


@dataclass(frozen=True, slots=True)
class PersonFilter:
    """Takes away the pixels that are no person's, and refuses what then is too small a part or a surface.

    And what may be nobody after all: furniture that looks like a person pixel by pixel does so with less certainty,
    while somebody who lies in a way of his own is known for a person long before his joints are. A forest that was
    trained on cut-out people alone knows no class 0: to it everything is a person.
    """

    min_share: float = 0.5  #: of the candidate's surface that must be a person
    min_area_m2: float = 0.04  #: of a person's surface, seen face on
    min_component_m2: float = 0.15  #: one component this large is classified again by itself
    max_background: float = 0.25  #: mean probability of class 0 over all pixels classified last
    min_confidence: float = 0.1  #: mean of a pose's joints

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """Find the person in a candidate.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        parts : PartProbabilities of the candidate's pixels

        Returns
        -------
        bool (H, W), within the candidate; None when it shows no person. Of a candidate that is mostly nobody's it is
        the largest component of a person, if that is large: somebody on a sofa, to be looked at by himself
        """
        if not len(parts.pixels):
            return None
        cells, corner = _cells_of(mask, parts.stride)
        grid, area_m2 = np.zeros((2, *cells.shape), np.float32)
        cell = tuple((parts.pixels // parts.stride - corner).T)
        area_m2[cell] = depth_m[tuple(parts.pixels.T)] ** 2 * (parts.stands_for / (intrinsics.fx * intrinsics.fy))
        grid[cell] = parts.values[:, 0] <= 0.5
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
        window &= person.repeat(rows, axis=0).repeat(cols, axis=1)[: len(window), : window.shape[1]]
        return whole

    def is_person(self, parts: PartProbabilities, pose: Pose) -> bool:
        """Whether what was found of a person, his parts and his pose, speaks for one."""
        return bool(parts.values[:, 0].mean() <= self.max_background) and pose.confidence >= self.min_confidence


@dataclass(frozen=True, slots=True)
class AcceptAll:
    """In place of a check, where every candidate is known to be a person: nobody and nothing is taken away."""

    min_confidence: float = 0.0

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """The candidate itself; None when it has no readings."""
        return mask if len(parts.pixels) else None

    def is_person(self, parts: PartProbabilities, pose: Pose) -> bool:
        """He is, unless more certainty was asked for."""
        return pose.confidence >= self.min_confidence


def _cells_of(mask: np.ndarray, stride: Stride) -> tuple[np.ndarray, np.ndarray]:
    """Cells of the grid that hold some of the mask, whether or not their own pixel was classified.

    As bool (R, C), no more of them than the mask reaches over, and row and column of the first, int (2,).
    """
    (rows, cols), (across, along) = stride, window_of(mask)
    top, left = across.start // rows, along.start // cols
    held = mask[top * rows : across.stop, left * cols : along.stop]
    cells = np.zeros((-(-len(held) // rows), -(-held.shape[1] // cols)), bool)
    for row in range(rows):
        for col in range(cols):
            here = held[row::rows, col::cols]
            cells[: len(here), : here.shape[1]] |= here
    return cells, np.array([top, left])


def _largest_component(mask: np.ndarray, area_m2: np.ndarray) -> np.ndarray:
    """The connected component of a mask with the most surface: both (H, W)."""
    count, components = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    areas = np.bincount(components.ravel(), weights=np.where(mask, area_m2, 0).ravel(), minlength=count)
    return mask & (components == areas.argmax())
