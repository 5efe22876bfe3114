"""Evidence for a person: numbers of a whole candidate that tell people from furniture.

They measure the confidence of labels and joints, the shares of the parts, bone lengths, size, outline and curvature of
the surface. More numbers may join the list: a person classifier names those that it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.person_classifier.pixel_evidence import distance_to_joints, label_confidence
from posepipe.segmentation.person_classifier.quantiles import quantiles
from posepipe.segmentation.person_classifier.surface_curvature import QUANTILES, curvature_names, surface_curvature

STEP_M = 0.15
"""Depth step, metres, across the outline of a candidate above which its surface ends there."""
OUTLINE_PX = 5
"""Width, pixels, of the neighbourhood in which a pixel outside is compared with the candidate."""
UNKNOWN = -1.0
"""Value of a number that cannot be measured, such as bone lengths of a pose without bones."""


@dataclass(frozen=True, slots=True, eq=False)
class BoneLengths:
    """Typical bone lengths of a body, against which those of a pose are held."""

    bones: tuple[tuple[int, int], ...]  #: index pairs (joint, parent)
    median_m: np.ndarray  #: float32 (B,), metres

    @classmethod
    def measure(cls, body: BodyDefinition, joints_m: np.ndarray) -> BoneLengths:
        """Measure true poses, float (P, J, 3) metres."""
        bones = tuple(body.bones())
        ends = np.array(bones, np.int64).reshape(-1, 2)
        lengths_m = np.linalg.norm(joints_m[:, ends[:, 0]] - joints_m[:, ends[:, 1]], axis=-1)
        return cls(bones, np.median(lengths_m, axis=0).astype(np.float32))


def evidence_names(body: BodyDefinition) -> tuple[str, ...]:
    """Name the numbers of `person_evidence`, in their order."""
    of_labels = [f"{name} {q}" for name in ("background", "top part", "entropy") for q in ("mean", *QUANTILES)]
    of_parts = [f"share of {body.parts[code - 1]}" for code in _one_of_each_pair(body)]
    of_joints = [f"confidence of joint {k + 1} by rank" for k in range(len(body.joints))]
    return (
        *of_labels,
        *of_parts,
        *of_joints,
        *("joints on the surface", "bone error", "largest bone error"),
        *("distance to joints", "distance to joints 0.9"),
        *("width", "height", "depth", "area", "distance", "filled box"),
        *("outline before", "outline free", "outline behind", "outline unread", "outline at border"),
        *curvature_names(),
    )


def person_evidence(
    depth_m: np.ndarray,
    mask: np.ndarray,
    intrinsics: Intrinsics,
    parts: PartProbabilities,
    pose: Pose,
    body: BodyDefinition,
    lengths: BoneLengths,
) -> np.ndarray:
    """Measure the evidence for a person in a candidate.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), the candidate
    intrinsics : Intrinsics
    parts : of the candidate, at least one pixel
    pose : Pose found in it
    body : of parts and pose
    lengths : BoneLengths

    Returns
    -------
    float32 (E,), in the order of `evidence_names`
    """
    rows, cols = parts.pixels.T
    z = depth_m[rows, cols]
    points_m = intrinsics.deproject_pixels(rows, cols, z)
    area_m2 = z**2 * (parts.stands_for / (intrinsics.fx * intrinsics.fy))
    return np.array(
        [
            *_of_labels(parts.values),
            *_of_parts(parts.values, area_m2, body),
            *np.sort(_padded(pose.confidences, len(body.joints)))[::-1],
            *_of_pose(pose, mask, intrinsics, body, lengths),
            *_of_distances(points_m, pose.joints_m),
            *_of_size(points_m, area_m2, mask),
            *_of_outline(depth_m, mask),
            *surface_curvature(depth_m, mask, parts.pixels, intrinsics),
        ],
        np.float32,
    )


def _of_labels(values: np.ndarray) -> list[float]:
    """Mean and quantiles of the probability of class 0, of the most probable part, and of the entropy in nats."""
    confidence = label_confidence(values)
    found = quantiles(confidence, QUANTILES)
    return np.column_stack([confidence.mean(axis=1), found]).ravel().tolist()


def _one_of_each_pair(body: BodyDefinition) -> list[int]:
    """Classes of parts, left out those whose mirror image came before."""
    mirrored = body.mirrored_classes()
    return [code for code in range(1, body.n_classes) if code <= mirrored[code]]


def _of_parts(values: np.ndarray, area_m2: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Share of the surface of each part, with its mirror image."""
    share = area_m2 @ values / area_m2.sum()
    mirrored, codes = body.mirrored_classes(), _one_of_each_pair(body)
    return np.array([share[code] + (share[mirrored[code]] if mirrored[code] != code else 0) for code in codes])


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([values, np.zeros(size - len(values))])


def _of_pose(
    pose: Pose, mask: np.ndarray, intrinsics: Intrinsics, body: BodyDefinition, lengths: BoneLengths
) -> tuple[float, float, float]:
    """Share of joints in front of whose place the mask lies; mean and maximum of |ln(bone / median)|."""
    if not pose.names:
        return 0.0, UNKNOWN, UNKNOWN
    x, y, z = pose.joints_m.T
    col = np.rint(intrinsics.fx * x / z + intrinsics.cx)
    row = np.rint(intrinsics.fy * y / z + intrinsics.cy)
    inside = (row >= 0) & (row < mask.shape[0]) & (col >= 0) & (col < mask.shape[1])
    on_surface = mask[row[inside].astype(int), col[inside].astype(int)].sum() / len(pose.names)
    place = {body.joint_index(name): place for name, place in zip(pose.names, pose.joints_m, strict=True)}
    errors = [
        abs(np.log(max(np.linalg.norm(place[joint] - place[parent]), 1e-3) / median))
        for (joint, parent), median in zip(lengths.bones, lengths.median_m, strict=True)
        if joint in place and parent in place
    ]
    return on_surface, *((float(np.mean(errors)), max(errors)) if errors else (UNKNOWN, UNKNOWN))


def _of_distances(points_m: np.ndarray, joints_m: np.ndarray) -> tuple[float, float]:
    """Mean and upper quantile of the distance of surface points to the nearest joint, metres."""
    if not len(joints_m):
        return UNKNOWN, UNKNOWN
    nearest = distance_to_joints(points_m, joints_m)
    return float(nearest.mean()), float(quantiles(nearest[None], QUANTILES[-1:])[0, 0])


def _of_size(points_m: np.ndarray, area_m2: np.ndarray, mask: np.ndarray) -> tuple[float, ...]:
    """Extents along the camera's axes, surface, distance, and the share of its box in the image that it fills."""
    low, high = quantiles(points_m.T, (0.05, 0.95)).T
    _, _, width, height = cv2.boundingRect(mask.view(np.uint8))
    filled = float(mask.sum()) / max(1, width * height)
    return *(high - low), float(area_m2.sum()), float(quantiles(points_m.T[2:], (0.5,))[0, 0]), filled


def _of_outline(depth_m: np.ndarray, mask: np.ndarray) -> tuple[float, ...]:
    """Shares of the pixels around a candidate: nearer, farther, continuing its surface, without reading; and of the
    candidate's pixels at the image border.

    A person who stands free ends at pixels that are farther; furniture and walls continue.
    """
    kernel = np.ones((OUTLINE_PX, OUTLINE_PX), np.uint8)
    border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
    at_border = float(border.sum()) / max(1.0, float(mask.sum()) ** 0.5)
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    rows = slice(max(0, top - OUTLINE_PX), top + height + OUTLINE_PX)
    cols = slice(max(0, left - OUTLINE_PX), left + width + OUTLINE_PX)
    depth_m, mask = depth_m[rows, cols], np.ascontiguousarray(mask[rows, cols])
    ring = (cv2.dilate(mask.view(np.uint8), kernel) > 0) & ~mask
    count = max(1, int(np.count_nonzero(ring)))
    beside_m = cv2.dilate(np.where(mask, depth_m, np.float32(0)), kernel)[ring]
    here_m = depth_m[ring]
    read = here_m > 0
    nearer, farther = read & (here_m < beside_m - STEP_M), read & (here_m > beside_m + STEP_M)
    shares = (nearer, farther, read & ~nearer & ~farther, ~read)
    return *(int(np.count_nonzero(share)) / count for share in shares), at_border
