"""Pictures of scored people: shaded depth, labelled parts, the joints found and the true ones."""

from __future__ import annotations

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.evaluation.html_report.document import picture
from posepipe.evaluation.metrics.extremes import ScoredPerson
from posepipe.results import CORRECT_M
from posepipe.sinks.images.drawing import draw_skeleton, joint_pixels, part_colours
from posepipe.sinks.images.shading import shade_depth

SIDE_PX = 360
"""Width and height of a picture."""
MARGIN = 0.15
"""Margin around the true joints, as a fraction of the longer side of their box."""
AMBIENT = 0.4
"""Brightness without light, as a fraction."""
_SURFACE, _TRUTH, _ERROR = (205, 205, 205), (255, 255, 255), (40, 40, 230)


def picture_html(person: ScoredPerson, body: BodyDefinition) -> str:
    """Embed the picture of a person."""
    caption = f"frame {person.result.frame.index}: {100 * person.error_m:.0f} cm"
    return picture(draw_scored(person, body), caption)


def draw_scored(person: ScoredPerson, body: BodyDefinition) -> np.ndarray:
    """Draw one person: uint8 (SIDE_PX, SIDE_PX, 3), BGR.

    Parts are in their colours, other surfaces grey. Joints found are discs, true visible joints white rings. A red line
    joins the two where they are 10 cm or more apart.
    """
    result = person.result
    colours = part_colours(body)
    colours[0] = _SURFACE
    shade = shade_depth(result.frame.depth_m, result.frame.intrinsics)[..., None]
    light = np.where(shade > 0, AMBIENT + (1 - AMBIENT) * shade, 0)
    image = (light * colours[np.where(result.mask, result.parts, 0)]).astype(np.uint8)
    truth = {
        body.joints[row]: result.frame.intrinsics.project(person.joints_m[row])[::-1]
        for row in np.flatnonzero(np.asarray(person.visible, bool) & np.isfinite(person.joints_m).all(axis=1))
        if person.joints_m[row, 2] > 0
    }
    whole = np.array([(0, 0), image.shape[1::-1]], float)
    corner, side = _square(np.array(list(truth.values())) if truth else whole)
    scale = SIDE_PX / side
    matrix = np.array([[scale, 0, -scale * corner[0]], [0, scale, -scale * corner[1]]])
    smooth = cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST
    picture = cv2.warpAffine(image, matrix, (SIDE_PX, SIDE_PX), flags=smooth)

    def place(pixel: np.ndarray | tuple[int, int]) -> tuple[int, int]:
        x, y = np.clip(scale * (np.asarray(pixel) - corner), -1e4, 1e4).round().astype(int)
        return int(x), int(y)

    found = {}
    for track in result.people[:1]:
        found = {name: place(pixel) for name, pixel in joint_pixels(track.pose, result.frame.intrinsics).items()}
        draw_skeleton(picture, track.pose, body, found)
    for name, pixel in truth.items():
        _mark_truth(picture, place(pixel), found.get(name), _error_m(person, name, body))
    return picture


def _mark_truth(picture: np.ndarray, truth: tuple[int, int], found: tuple[int, int] | None, error_m: float) -> None:
    if found is not None and error_m >= CORRECT_M:
        cv2.line(picture, truth, found, _ERROR, 2, cv2.LINE_AA)
    cv2.circle(picture, truth, 6, _TRUTH, 2, cv2.LINE_AA)


def _error_m(person: ScoredPerson, joint: str, body: BodyDefinition) -> float:
    found = person.result.people[0].pose.joints.get(joint) if person.result.people else None
    if found is None:
        return float("inf")
    return float(np.linalg.norm(np.subtract(found.xyz_m, person.joints_m[body.joint_index(joint)])))


def _square(pixels: np.ndarray) -> tuple[np.ndarray, float]:
    """Upper left corner (x, y) and side of the square around some pixels, float (N, 2), with a margin."""
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    side = max(float((high - low).max()) * (1 + 2 * MARGIN), 24.0)
    return (low + high) / 2 - side / 2, side
