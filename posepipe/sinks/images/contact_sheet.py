"""A contact sheet: many frames as small tiles in one picture, so that a person sees at a glance what is in them."""

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
from posepipe.io.files import disk_errors, replace_file
from posepipe.sinks.images.drawing import part_colours
from posepipe.sinks.images.shading import shade_depth

TILE_PX = 192
"""Width and height of a tile."""
MARGIN = 0.12
"""Round the person, as a share of the longer side."""
MIN_SIDE_PX = 24
"""Of the image, in a tile: a few stray pixels are not blown up beyond recognition."""
_GAP_PX, _TITLE_PX = 2, 36
_LEAST_ACROSS = 3  # so that the title has room
_PAPER, _INK = (24, 24, 24), (240, 240, 240)
_BEYOND = (70, 52, 44)  # what lies outside the image, so that a cut person is told from a whole one
_SURFACE = (225, 225, 225)  # depth without labels


def draw_tile(frame: DepthFrame | LabelledFrame, body: BodyDefinition | None = None, whole: bool = False) -> np.ndarray:
    """One frame as a tile: shaded depth and its number; and of a labelled one parts, joints and who is who.

    Joints that show are dots, hidden ones rings. Several people have an outline each. What lies beyond the image
    is blue-grey, no reading black.

    Parameters
    ----------
    body : whose parts are labelled; without it the depth alone is drawn
    whole : show the whole image instead of the person with a margin

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
    tile = _fit(_cut_out(image, corner, side, _BEYOND))
    if labelled is not None:
        _draw_outlines(tile, labelled.people, corner, side)
        _draw_joints(tile, labelled, depth.intrinsics, corner, side, dot_px=2 if whole else 3)
    _write(tile, str(depth.index), (4, 14), 0.42)
    return tile


def draw_sheet(tiles: Sequence[np.ndarray], title: str) -> np.ndarray:
    """Tiles row by row, about as many across as down, under a title: uint8 (H, W, 3), BGR."""
    across = max(math.ceil(math.sqrt(len(tiles))), _LEAST_ACROSS)
    down = math.ceil(len(tiles) / across)
    step = TILE_PX + _GAP_PX
    sheet = np.full((_TITLE_PX + down * step, across * step, 3), _PAPER, np.uint8)
    for i, tile in enumerate(tiles):
        top, left = _TITLE_PX + i // across * step, i % across * step
        sheet[top : top + TILE_PX, left : left + TILE_PX] = tile
    (width, _), _ = cv2.getTextSize(title, cv2.FONT_HERSHEY_SIMPLEX, 1.0, 1)
    _write(sheet, title, (6, 25), min(0.7, (sheet.shape[1] - 12) / max(width, 1)))
    return sheet


def write_sheet(path: str | Path, sheet: np.ndarray) -> None:
    """Write a picture as PNG, its folder too; a killed writer leaves the old one."""
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, cv2.imencode(".png", sheet)[1].tobytes())


def _square(mask: np.ndarray, whole: bool) -> tuple[tuple[int, int], int]:
    """Corner (row, column) and side, pixels, of a square round a mask with a margin, or round the whole image."""
    rows, cols = np.nonzero(mask)
    if whole or len(rows) == 0:
        first, last, side = (0, 0), (mask.shape[0] - 1, mask.shape[1] - 1), max(mask.shape)
    else:
        first, last = (int(rows.min()), int(cols.min())), (int(rows.max()), int(cols.max()))
        longer = 1 + max(last[0] - first[0], last[1] - first[1])
        side = max(math.ceil(longer * (1 + 2 * MARGIN)), MIN_SIDE_PX)
    row, col = ((f + to + 1 - side) // 2 for f, to in zip(first, last, strict=True))
    return (row, col), side


def _cut_out(image: np.ndarray, corner: tuple[int, int], side: int, beyond: int | tuple[int, int, int]) -> np.ndarray:
    """A square of an image; what lies beyond the image has a colour of its own."""
    cut = np.full((side, side, *image.shape[2:]), beyond, image.dtype)
    (top, left), (height, width) = corner, image.shape[:2]
    rows, cols = slice(max(top, 0), min(top + side, height)), slice(max(left, 0), min(left + side, width))
    cut[rows.start - top : rows.stop - top, cols.start - left : cols.stop - left] = image[rows, cols]
    return cut


def _fit(square: np.ndarray) -> np.ndarray:
    shrinks = len(square) > TILE_PX
    return cv2.resize(square, (TILE_PX, TILE_PX), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST)


def _draw_outlines(tile: np.ndarray, people: np.ndarray, corner: tuple[int, int], side: int) -> None:
    ids = np.unique(people[people > 0])
    if len(ids) < 2:
        return
    for person in ids:
        mask = _fit(_cut_out((people == person).astype(np.uint8), corner, side, 0))
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(tile, outlines, -1, person_colour(int(person)), 1)


def person_colour(person: int) -> tuple[int, int, int]:
    """Colour of a person's outline, BGR; ids that follow each other differ."""
    red, green, blue = colorsys.hsv_to_rgb((0.15 + 0.618034 * person) % 1, 0.6, 1.0)
    return int(blue * 255), int(green * 255), int(red * 255)


def _draw_joints(
    tile: np.ndarray, frame: LabelledFrame, intrinsics: Intrinsics, corner: tuple[int, int], side: int, dot_px: int
) -> None:
    """Dots where joints show, rings where they are hidden; joints that nobody knows (NaN) are left out."""
    drawn = np.isfinite(frame.joints_m).all(axis=-1) & (frame.joints_m[..., 2] > 0.01)
    pixels = intrinsics.project(frame.joints_m[drawn])
    places = np.rint((pixels + 0.5 - corner) * TILE_PX / side - 0.5)
    for (row, col), shows in zip(places, frame.visible[drawn], strict=True):
        if abs(row) > 4 * TILE_PX or abs(col) > 4 * TILE_PX:
            continue
        place = (int(col), int(row))
        if shows:
            cv2.circle(tile, place, dot_px, (0, 0, 0), -1, cv2.LINE_AA)
            cv2.circle(tile, place, dot_px - 1, (255, 255, 255), -1, cv2.LINE_AA)
        else:
            cv2.circle(tile, place, dot_px, (255, 255, 255), 1, cv2.LINE_AA)


def _write(image: np.ndarray, text: str, place: tuple[int, int], scale: float) -> None:
    for ink, shift in (((0, 0, 0), 1), (_INK, 0)):  # a shadow, for text on a bright surface
        shifted = (place[0] + shift, place[1] + shift)
        cv2.putText(image, text, shifted, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, 1, cv2.LINE_AA)
