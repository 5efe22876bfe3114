"""Person segmentation: a small forest says of every pixel of a whole frame whether it shows a person.

Its probes see the room around a pixel, where those of the body-part forest see one candidate alone. It needs no planes
and no connected components, and it knows furniture from training.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.parts import PartClassifier, Stride
from posepipe.segmentation.pixel_grid import grid_shape
from posepipe.stage import Share, Stateless

SEGMENTS = BodyDefinition("segments", ("person", "surroundings"), (), {})
"""Classes of a segmentation forest; class 0 is not used."""
GRID_PX = 140
"""Focal length, pixels, of the image that is segmented; finer ones are subsampled. Half of that of 320x240."""
STRIDE: Stride = (2, 2)
"""Grid of that image whose pixels are classified."""
WINDOW = 3
"""Side, in classified pixels, of the window over which probabilities are averaged."""


@dataclass(frozen=True, slots=True)
class PersonSegmentation(Stateless):
    """Finds the pixels of people by a forest trained on whole frames."""

    classifier: PartClassifier  #: its body is SEGMENTS
    min_probability: Share = 0.2  #: minimum probability, averaged over neighbouring pixels, of a person's pixel

    def segment(self, depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
        """Find the pixels of people.

        Parameters
        ----------
        depth_m : float32 (H, W), metres, 0 = no reading
        intrinsics : Intrinsics

        Returns
        -------
        bool (H, W), readings only; the probability is interpolated between the classified pixels
        """
        size, step = (depth_m.shape[1], depth_m.shape[0]), intrinsics.step_to(GRID_PX)
        to_grid = np.diag([1 / (step * STRIDE[1]), 1 / (step * STRIDE[0]), 1])[:2]
        probability = cv2.warpAffine(
            self.person_probability(depth_m, intrinsics),
            to_grid,
            size,
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return (probability >= self.min_probability) & (depth_m > 0)

    def person_probability(self, depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
        """Probability of a person on the grid of classified pixels.

        Parameters
        ----------
        depth_m : float32 (H, W), metres, 0 = no reading
        intrinsics : Intrinsics

        Returns
        -------
        float32 (R, C), mean over the WINDOW x WINDOW readings around; 0 where there is none
        """
        coarse_m, coarse = on_segmentation_grid(depth_m, intrinsics)
        readings = coarse_m > 0
        found = self.classifier.predict(coarse_m, readings, coarse, STRIDE)
        shape = grid_shape(coarse_m.shape, STRIDE)
        person, known = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        cell = tuple((found.pixels // STRIDE).T)
        person[cell], known[cell] = found.probabilities[:, SEGMENTS.part_code("person")], 1
        sums = [
            cv2.boxFilter(image, -1, (WINDOW, WINDOW), normalize=False, borderType=cv2.BORDER_CONSTANT)
            for image in (person, known)
        ]
        return sums[0] / np.maximum(sums[1], 1)


def on_segmentation_grid(depth_m: np.ndarray, intrinsics: Intrinsics) -> tuple[np.ndarray, Intrinsics]:
    """Subsample an image to a focal length of about GRID_PX.

    Parameters
    ----------
    depth_m : (H, W), or another image of the frame
    intrinsics : Intrinsics of the whole image

    Returns
    -------
    contiguous image, and its Intrinsics
    """
    step = intrinsics.step_to(GRID_PX)
    return np.ascontiguousarray(depth_m[::step, ::step]), intrinsics.subsampled(step)
