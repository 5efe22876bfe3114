"""Contact sheets: many frames as small tiles in one picture, for a quick inspection of a source."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.io.files import disk_errors, name_text, replace_file
from posepipe.sinks.images.drawing import part_colours
from posepipe.sinks.images.shading import shade_depth

TILE_PX = 192
"""Width and height of a tile."""
MARGIN = 0.12
"""Margin around the person, as a fraction of the longer side."""
MIN_SIDE_PX = 24
"""Minimum side of the image section in a tile, pixels; it limits the magnification of a few stray pixels."""
_GAP_PX, _TITLE_PX = 2, 36
_MIN_COLUMNS = 3  # the title needs their width
_BACKGROUND, _TEXT = (24, 24, 24), (240, 240, 240)
_OUTSIDE = (70, 52, 44)  # outside the image; it marks a person who is cut off at the border
_SURFACE = (225, 225, 225)  # depth without labels


def draw_tile(frame: DepthFrame | LabelledFrame, body: BodyDefinition | None = None, whole: bool = False) -> np.ndarray:
    """Draw one frame as a tile: shaded depth and the frame's index; if it is labelled also parts, joints and people.

    Visible joints are dots, hidden ones rings. If there are several people, each has an outline. Pixels outside the
    image are blue-grey, pixels without a reading black.

    Parameters
    ----------
    frame : DepthFrame or LabelledFrame
    body : BodyDefinition of the labels; without it only the depth is drawn
    whole : bool, show the whole image instead of the person with a margin

    Returns
    -------
    uint8 (TILE_PX, TILE_PX, 3), BGR
    """
    labelled = frame if isinstance(frame, LabelledFrame) and body is not None else None
    depth = frame.depth if isinstance(frame, LabelledFrame) else frame
    shade = shade_depth(depth.depth_m, depth.intrinsics)[..., None]
    if labelled is None or body is None:
        image = (shade * _SURFACE).astype(np.uint8)
        corner, side = _square(depth.depth_m > 0, whole)
    else:
        colours = part_colours(body)
        colours[0] = _SURFACE
        image = (shade * colours[labelled.parts]).astype(np.uint8)
        person = labelled.people > 0
        corner, side = _square(person if person.any() else depth.depth_m > 0, whole)
    tile = _fit(_crop(image, corner, side, _OUTSIDE))
    if labelled is not None:
        _draw_outlines(tile, labelled.people, corner, side)
        _draw_joints(tile, labelled, depth.intrinsics, corner, side, dot_px=2 if whole else 3)
    _write(tile, str(depth.index), (4, 14), 0.42)
    return tile


def draw_sheet(tiles: Sequence[np.ndarray], title: str) -> np.ndarray:
    """Arrange tiles under a title, about as many rows as columns: uint8 (H, W, 3), BGR."""
    title = name_text(title)  # OpenCV crashes at a lone surrogate
    columns = max(math.ceil(math.sqrt(len(tiles))), _MIN_COLUMNS)
    rows = math.ceil(len(tiles) / columns)
    step = TILE_PX + _GAP_PX
    sheet = np.full((_TITLE_PX + rows * step, columns * step, 3), _BACKGROUND, np.uint8)
    for i, tile in enumerate(tiles):
        top, left = _TITLE_PX + i // columns * step, i % columns * step
        sheet[top : top + TILE_PX, left : left + TILE_PX] = tile
    (width, _), _ = cv2.getTextSize(title, cv2.FONT_HERSHEY_SIMPLEX, 1.0, 1)
    _write(sheet, title, (6, 25), min(0.7, (sheet.shape[1] - 12) / max(width, 1)))
    return sheet


def write_sheet(path: str | Path, sheet: np.ndarray) -> None:
    """Write a sheet as PNG and make its folder; an older file is replaced when the new one is complete."""
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, cv2.imencode(".png", sheet)[1].tobytes())


def _square(mask: np.ndarray, whole: bool) -> tuple[tuple[int, int], int]:
    """Corner (row, column) and side, pixels, of a square around a mask with a margin, or around the whole image."""
    rows, cols = np.nonzero(mask)
    if whole or len(rows) == 0:
        first, last, side = (0, 0), (mask.shape[0] - 1, mask.shape[1] - 1), max(mask.shape)
    else:
        first, last = (int(rows.min()), int(cols.min())), (int(rows.max()), int(cols.max()))
        longer = 1 + max(last[0] - first[0], last[1] - first[1])
        side = max(math.ceil(longer * (1 + 2 * MARGIN)), MIN_SIDE_PX)
    row, col = ((f + to + 1 - side) // 2 for f, to in zip(first, last, strict=True))
    return (row, col), side


def _crop(image: np.ndarray, corner: tuple[int, int], side: int, outside: int | tuple[int, int, int]) -> np.ndarray:
    """A square section of an image, filled with a value outside the image."""
    crop = np.full((side, side, *image.shape[2:]), outside, image.dtype)
    (top, left), (height, width) = corner, image.shape[:2]
    rows, cols = slice(max(top, 0), min(top + side, height)), slice(max(left, 0), min(left + side, width))
    crop[rows.start - top : rows.stop - top, cols.start - left : cols.stop - left] = image[rows, cols]
    return crop


def _fit(square: np.ndarray) -> np.ndarray:
    shrinks = len(square) > TILE_PX
    return cv2.resize(square, (TILE_PX, TILE_PX), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST)


def _draw_outlines(tile: np.ndarray, people: np.ndarray, corner: tuple[int, int], side: int) -> None:
    ids = np.unique(people[people > 0])
    if len(ids) < 2:
        return
    for person in ids:
        mask = _fit(_crop((people == person).astype(np.uint8), corner, side, 0))
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(tile, outlines, -1, person_colour(int(person)), 1)


def person_colour(person: int) -> tuple[int, int, int]:
    """Colour of a person's outline, BGR; consecutive ids get different hues."""
    red, green, blue = colorsys.hsv_to_rgb((0.15 + 0.618034 * person) % 1, 0.6, 1.0)
    return int(blue * 255), int(green * 255), int(red * 255)


def _draw_joints(
    tile: np.ndarray, frame: LabelledFrame, intrinsics: Intrinsics, corner: tuple[int, int], side: int, dot_px: int
) -> None:
    """Draw visible joints as dots and hidden ones as rings; unknown joints (NaN) are left out."""
    drawn = np.isfinite(frame.joints_m).all(axis=-1) & (frame.joints_m[..., 2] > 0.01)
    pixels = intrinsics.project(frame.joints_m[drawn])
    positions = np.rint((pixels + 0.5 - corner) * TILE_PX / side - 0.5)
    for (row, col), visible in zip(positions, frame.visible[drawn], strict=True):
        if abs(row) > 4 * TILE_PX or abs(col) > 4 * TILE_PX:
            continue
        centre = (int(col), int(row))
        if visible:
            cv2.circle(tile, centre, dot_px, (0, 0, 0), -1, cv2.LINE_AA)
            cv2.circle(tile, centre, dot_px - 1, (255, 255, 255), -1, cv2.LINE_AA)
        else:
            cv2.circle(tile, centre, dot_px, (255, 255, 255), 1, cv2.LINE_AA)


def _write(image: np.ndarray, text: str, corner: tuple[int, int], scale: float) -> None:
    for colour, shift in (((0, 0, 0), 1), (_TEXT, 0)):  # the shadow keeps text readable on a bright surface
        shifted = (corner[0] + shift, corner[1] + shift)
        cv2.putText(image, text, shifted, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)
