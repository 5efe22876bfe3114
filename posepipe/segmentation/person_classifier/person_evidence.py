"""Evidence for a person: numbers of a whole candidate that tell people from furniture.

They measure the confidence of labels and joints, the shares of the parts, bone lengths, size, outline, curvature of
the surface and height over the floor. More numbers may join at the end of the list: a person classifier names those
that it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import FINEST_PX, Intrinsics, Plane
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.evidence.pixel_evidence import label_confidence
from posepipe.segmentation.evidence.pose_evidence import (
    POSE_EVIDENCE,
    BoneLengths,
    evenly_spaced,
    pose_evidence,
)
from posepipe.segmentation.evidence.quantiles import quantiles
from posepipe.segmentation.evidence.surface_curvature import (
    QUANTILES,
    UNKNOWN,
    curvature_names,
    surface_curvature,
)

STEP_M = 0.15
"""Depth step, metres, across the outline of a candidate above which its surface ends there."""
OUTLINE_PX = 5
"""Width, pixels, of the neighbourhood in which a pixel outside is compared with the candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonEvidence:
    """Measures the evidence for a person in candidates."""

    body: BodyDefinition  #: of parts and poses
    lengths: BoneLengths
    names: tuple[str, ...] = field(init=False)  #: of the E numbers, in their order
    #: float32 (C, K), 1 where a class counts as one of K parts; a class and its mirror image count as the same
    _pairs: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        body, mirrored = self.body, self.body.mirrored_classes()
        codes = [code for code in range(1, body.n_classes) if code <= mirrored[code]]  # one of each pair
        pairs = np.zeros((body.n_classes, len(codes)), np.float32)
        pairs[codes, np.arange(len(codes))] = pairs[mirrored[codes], np.arange(len(codes))] = 1
        object.__setattr__(self, "names", _names(body, codes))
        object.__setattr__(self, "_pairs", pairs)

    def measure(
        self,
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        parts: PartProbabilities,
        pose: Pose,
        floor: Plane | None = None,
    ) -> np.ndarray:
        """Measure one candidate.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        parts : of the candidate, at least one pixel
        pose : Pose found in it
        floor : Plane; None = not known

        Returns
        -------
        float32 (E,), in the order of ``names``
        """
        sample = evenly_spaced(len(parts.pixels))
        pixels, values = parts.pixels[sample], parts.probabilities[sample]
        rows, cols = pixels.T
        z = depth_m[rows, cols]
        points_m = intrinsics.deproject_pixels(rows, cols, z)
        pixel_m2 = parts.stands_for * len(parts.pixels) / len(pixels) / (intrinsics.fx * intrinsics.fy)
        area_m2 = z**2 * np.float32(pixel_m2)
        box = cv2.boundingRect(mask.view(np.uint8))
        return np.array(
            [
                *_of_labels(values),
                *(area_m2 @ values @ self._pairs / area_m2.sum()),
                *self._ranked(pose.confidences),
                *pose_evidence(pose, mask, points_m, intrinsics, self.body, self.lengths),
                *_of_size(points_m, float(area_m2.sum())),
                np.count_nonzero(mask) / max(1, box[2] * box[3]),
                *_of_outline(depth_m, mask, intrinsics.step_to(FINEST_PX)),
                *surface_curvature(depth_m, mask, pixels, intrinsics),
                *_over_floor(points_m, floor),
            ],
            np.float32,
        )

    def _ranked(self, confidences: np.ndarray) -> np.ndarray:
        """Confidences in falling order, with 0 for joints that were not found."""
        ranked = np.zeros(len(self.body.joints))
        ranked[: len(confidences)] = np.sort(confidences)[::-1]
        return ranked


def _names(body: BodyDefinition, codes: list[int]) -> tuple[str, ...]:
    of_labels = [f"{name} {q}" for name in ("background", "top part", "entropy") for q in ("mean", *QUANTILES)]
    return (
        *of_labels,
        *(f"share of {body.parts[code - 1]}" for code in codes),
        *(f"confidence of joint {k + 1} by rank" for k in range(len(body.joints))),
        *POSE_EVIDENCE,
        *("width", "height", "depth", "area", "distance", "filled box"),
        *("outline before", "outline free", "outline behind", "outline unread", "outline at border"),
        *curvature_names(),
        *("floor known", "lowest over floor", "middle over floor", "highest over floor"),
    )


def _of_labels(values: np.ndarray) -> list[float]:
    """Mean and quantiles of the probability of class 0, of the most probable part, and of the entropy in nats."""
    confidence = label_confidence(values)
    found = quantiles(confidence, QUANTILES)
    return np.column_stack([confidence.mean(axis=1), found]).ravel().tolist()


def _of_size(points_m: np.ndarray, area_m2: float) -> tuple[float, ...]:
    """Extents along the camera's axes, metres, surface, square metres, and distance, metres."""
    low, middle, high = quantiles(points_m.T, (0.05, 0.5, 0.95)).T
    return *(high - low).tolist(), area_m2, float(middle[2])


def _over_floor(points_m: np.ndarray, floor: Plane | None) -> tuple[float, ...]:
    """Whether the floor is known, and quantiles of the height over it, metres."""
    if floor is None:
        return 0.0, UNKNOWN, UNKNOWN, UNKNOWN
    return 1.0, *quantiles(floor.height_m(points_m)[None], (0.02, 0.5, 0.98))[0].tolist()


def _of_outline(depth_m: np.ndarray, mask: np.ndarray, step: int) -> tuple[float, ...]:
    """Shares of the pixels around a candidate: nearer, farther, continuing its surface, without reading; and of the
    candidate's pixels at the image border.

    A person who stands free ends at pixels that are farther; furniture and walls continue. Of the images every
    ``step``-th row and column is looked at: neighbours of a finer image would be of one surface.
    """
    depth_m, mask = depth_m[::step, ::step], np.ascontiguousarray(mask[::step, ::step])
    kernel = np.ones((OUTLINE_PX, OUTLINE_PX), np.uint8)
    border = sum(np.count_nonzero(edge) for edge in (mask[0], mask[-1], mask[:, 0], mask[:, -1]))
    at_border = border / max(1.0, float(np.count_nonzero(mask)) ** 0.5)
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    rows = slice(max(0, top - OUTLINE_PX), top + height + OUTLINE_PX)
    cols = slice(max(0, left - OUTLINE_PX), left + width + OUTLINE_PX)
    mask = np.ascontiguousarray(mask[rows, cols])
    depth_m = np.ascontiguousarray(depth_m[rows, cols])
    beside_m = cv2.dilate(depth_m * mask, kernel)  # farthest reading of the candidate beside each pixel
    ring = (beside_m > 0) & ~mask
    count = max(1, int(np.count_nonzero(ring)))
    read = ring & (depth_m > 0)
    step_m = depth_m[read] - beside_m[read]
    nearer, farther = int(np.count_nonzero(step_m < -STEP_M)), int(np.count_nonzero(step_m > STEP_M))
    shares = (nearer, farther, len(step_m) - nearer - farther, count - len(step_m))
    return *(share / count for share in shares), at_border
