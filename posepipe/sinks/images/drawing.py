"""Drawing of results: depth, body parts, and the joints from the front, the side and above.

The person's left has warm colours and the right cold ones, which makes a swap of sides visible.
"""

from __future__ import annotations

import colorsys

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.results import FrameResult, Pose

PANEL_PX = 320
"""Width and height of a panel."""
HALF_SIDE_M = 1.15
"""Half the side of the cube that the three views of the joints show, metres."""
_LIGHT = (250, 250, 250)
_DARK = (60, 60, 60)
_VIEWS = {"front": (0, 1), "side": (2, 1), "top": (0, 2)}


def part_colours(body: BodyDefinition) -> np.ndarray:
    """Colour of every label, uint8 (C, 3), BGR: warm = left, cold = right, green = middle, black = background."""
    table = np.zeros((body.n_classes, 3), np.uint8)
    for code, part in enumerate(body.parts, start=1):
        table[code] = _colour(part, code)
    return table


def _colour(name: str, code: int) -> tuple[int, int, int]:
    phase = (code * 0.618034) % 1  # golden ratio: codes close to each other get different hues
    if name.startswith("left_"):
        hue = 0.14 * phase  # red to yellow
    elif name.startswith("right_"):
        hue = 0.5 + 0.22 * phase  # cyan to violet
    else:
        hue = 0.33
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.55 + 0.45 * ((code * 0.37) % 1), 0.75 + 0.25 * ((code * 0.71) % 1))
    return int(blue * 255), int(green * 255), int(red * 255)


def draw_depth(depth_m: np.ndarray) -> np.ndarray:
    """Draw depth as grey, near = bright, no reading = black: uint8 (H, W, 3), BGR."""
    seen = depth_m > 0
    grey = np.zeros(depth_m.shape, np.float32)
    if seen.any():
        near, far = np.percentile(depth_m[seen], [1, 99])
        grey[seen] = 250 - 190 * np.clip((depth_m[seen] - near) / max(far - near, 0.05), 0, 1)
    return cv2.cvtColor(grey.astype(np.uint8), cv2.COLOR_GRAY2BGR)


def draw_parts(parts: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Draw part labels in their colours: uint8 (H, W, 3), BGR."""
    return part_colours(body)[parts]


def draw_skeleton(image: np.ndarray, pose: Pose, body: BodyDefinition, pixels: dict[str, tuple[int, int]]) -> None:
    """Draw bones and joints into an image, in place; ``pixels`` are joint name -> (column, row)."""
    for row, parent_row in body.bones():
        ends = [body.joints[row], body.joints[parent_row]]
        if all(end in pixels for end in ends):
            cv2.line(image, pixels[ends[0]], pixels[ends[1]], _DARK, 2, cv2.LINE_AA)
    for joint, pixel in pixels.items():
        radius = 3 + round(3 * pose.joints[joint].confidence)
        cv2.circle(image, pixel, radius, _colour(joint, body.joint_index(joint)), -1, cv2.LINE_AA)
        cv2.circle(image, pixel, radius, _DARK, 1, cv2.LINE_AA)


def draw_result(result: FrameResult, body: BodyDefinition) -> np.ndarray:
    """Draw one frame: depth | parts | front | side | top | colour. uint8 (320, 1600, 3), BGR; 1920 wide with colour."""
    depth = draw_depth(result.frame.depth_m)
    for track in result.people:
        draw_skeleton(depth, track.pose, body, joint_pixels(track.pose, result.frame.intrinsics))
    panels = [
        _titled(_fit(depth), "depth"),
        _titled(_fit(draw_parts(result.parts, body)), "parts"),
        *(_titled(_draw_view(result, body, name), name) for name in _VIEWS),
    ]
    if result.frame.colour is not None:
        panels.append(_titled(_fit(np.ascontiguousarray(result.frame.colour[:, :, ::-1])), "colour"))
    return np.hstack(panels)


def joint_pixels(pose: Pose, intrinsics: Intrinsics) -> dict[str, tuple[int, int]]:
    """Pixel (column, row) of every joint before the camera, for `draw_skeleton`."""
    pixels = {}
    for name, joint in pose.joints.items():
        if joint.xyz_m[2] > 0.1:
            row, col = intrinsics.project(np.array(joint.xyz_m))
            pixels[name] = (round(float(np.clip(col, -1e4, 1e4))), round(float(np.clip(row, -1e4, 1e4))))
    return pixels


def _draw_view(result: FrameResult, body: BodyDefinition, view: str) -> np.ndarray:
    across, down = _VIEWS[view]
    image = np.full((PANEL_PX, PANEL_PX, 3), _LIGHT, np.uint8)
    rows, cols = np.nonzero(result.mask)
    points = result.frame.intrinsics.deproject_pixels(rows, cols, result.frame.depth_m[rows, cols])
    # of several cameras another one may see people, and the image shows no pixel of them
    around = next((each for each in (points, *(track.pose.joints_m for track in result.people)) if len(each)), None)
    if around is None:
        return image
    centre = np.median(around, axis=0)
    flip = -1 if view == "top" else 1  # in the top view the camera is at the bottom of the picture

    def pixel(xyz_m: np.ndarray) -> np.ndarray:
        local = (np.asarray(xyz_m) - centre)[..., [across, down]] * [1, flip]
        return np.clip((local / HALF_SIDE_M + 1) / 2 * PANEL_PX, -1e4, 1e4).astype(int)

    cloud = pixel(points)
    inside = ((cloud >= 0) & (cloud < PANEL_PX)).all(axis=1)
    colours = (part_colours(body)[result.parts[rows, cols]] // 3 + 165).astype(np.uint8)
    image[cloud[inside, 1], cloud[inside, 0]] = colours[inside]
    for track in result.people:
        pixels = {name: tuple(pixel(np.array(joint.xyz_m)).tolist()) for name, joint in track.pose.joints.items()}
        draw_skeleton(image, track.pose, body, pixels)
    return image


def _fit(image: np.ndarray) -> np.ndarray:
    """Scale an image into a square panel, keeping its aspect ratio."""
    scale = PANEL_PX / max(image.shape[:2])
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST)
    panel = np.zeros((PANEL_PX, PANEL_PX, 3), np.uint8)
    top, left = (PANEL_PX - size[1]) // 2, (PANEL_PX - size[0]) // 2
    panel[top : top + size[1], left : left + size[0]] = small
    return panel


def _titled(panel: np.ndarray, title: str) -> np.ndarray:
    colour = _DARK if panel[0, 0].min() > 128 else _LIGHT
    cv2.putText(panel, title, (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)
    return panel
