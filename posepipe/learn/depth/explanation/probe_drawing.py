"""The probes of one pixel drawn on the person, as SVG."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import cv2
import numpy as np

from posepipe.learn.depth.explanation.pixel_path import PixelExplanation, Probe, ProbeStep, Walk
from posepipe.learn.tables.plotting.svg import FAINT_INK, INK, Drawing, document, element, label, shortened, text_of

WIDTH = 640.0
"""Width of the picture, pixels."""
MARGIN, HEADING = 14.0, 44.0
"""Margin of the texts, and height of the heading, pixels."""
U_COLOUR, V_COLOUR, PIXEL_COLOUR = "#0072b2", "#d55e00", "#ffffff"
NEAR, FAR, BACKGROUND = 235, 90, 24
"""Grey of the nearest and the farthest reading of the person, and of everything else."""


def draw_probes(
    explained: PixelExplanation, depth_m: np.ndarray, mask: np.ndarray, walk: Walk | None = None
) -> Drawing:
    """Draw the probes of one walk: u in blue, v in orange, numbered by split; hollow ones read background.

    Parameters
    ----------
    explained : PixelExplanation
    depth_m : float32 (H, W), metres; the frame that was explained
    mask : bool (H, W), the person
    walk : one of ``explained.walks``; None = the clearest

    Returns
    -------
    Drawing, an SVG document with the picture inside; the tooltip of a probe is its reading

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import Intrinsics, PoseModel
    >>> from posepipe.learn import draw_probes, explain_pixel
    >>> depth_m = np.full((60, 40), 2.5, np.float32)
    >>> lens = Intrinsics(fx=70.0, fy=70.0, cx=19.5, cy=29.5)
    >>> explained = explain_pixel(PoseModel.load("person").forest, depth_m, depth_m > 0, (30, 20), lens)
    >>> draw_probes(explained, depth_m, depth_m > 0).startswith("<svg")
    True
    """
    walk = explained.clearest if walk is None else walk
    rows, cols = _window(explained, walk, mask)
    scale = WIDTH / (cols.stop - cols.start)
    height = scale * (rows.stop - rows.start)
    picture = _picture(depth_m, mask, rows, cols)
    shapes = [
        element("image", x=0, y=HEADING, width=WIDTH, height=height, href=picture, image_rendering="pixelated"),
        *_heading(explained, walk),
    ]
    pixel_x, pixel_y = _centre(*explained.pixel, rows, cols, scale)
    for k, step in enumerate(walk.steps, start=1):
        shapes += _step(k, step, (pixel_x, pixel_y), rows, cols, scale)
    shapes.append(element("circle", cx=pixel_x, cy=pixel_y, r=5.0, fill=PIXEL_COLOUR, stroke=INK, stroke_width=2))
    return document(WIDTH, HEADING + height, f"Why this pixel is {explained.part}", shapes)


def _heading(explained: PixelExplanation, walk: Walk) -> list[str]:
    row, col = explained.pixel
    title = f"row {row}, column {col}, {explained.depth_m:.2f} m: {explained.part}"
    says = shortened(walk.title, WIDTH - 190, 12)
    return [
        label(MARGIN, 14, title, 14, text_anchor="start", font_weight="bold"),
        label(MARGIN, 32, says, 12, text_anchor="start", fill=FAINT_INK),
        element("circle", cx=WIDTH - 150, cy=32.0, r=4.0, fill=U_COLOUR),
        label(WIDTH - 140, 32, "u", 12, text_anchor="start"),
        element("circle", cx=WIDTH - 115, cy=32.0, r=4.0, fill=V_COLOUR),
        label(WIDTH - 105, 32, "v", 12, text_anchor="start"),
        element("circle", cx=WIDTH - 84, cy=32.0, r=4.0, fill="none", stroke=INK, stroke_width=1.5),
        label(WIDTH - 75, 32, "background", 12, text_anchor="start"),
    ]


def _step(k: int, step: ProbeStep, pixel: tuple[float, float], rows: slice, cols: slice, scale: float) -> Sequence[str]:
    """Lines from the pixel to both probes of a split, with its number at the farther one."""
    shapes, far = [], pixel
    for probe, colour in ((step.u, U_COLOUR), (step.v, V_COLOUR)):
        x, y = _centre(probe.row, probe.col, rows, cols, scale)
        shapes.append(
            element("line", x1=pixel[0], y1=pixel[1], x2=x, y2=y, stroke=colour, stroke_width=1.2, opacity=0.6)
        )
        shapes.append(_dot(x, y, probe, colour))
        if np.hypot(x - pixel[0], y - pixel[1]) >= np.hypot(far[0] - pixel[0], far[1] - pixel[1]):
            far = x, y
    outlined = {"stroke": INK, "stroke_width": 2.5, "paint_order": "stroke"}
    shapes.append(label(far[0] + 9, far[1] - 7, str(k), 11, fill="#ffffff", font_weight="bold", **outlined))
    return [element("g", element("title", text_of(f"{k}. {step}")) + "".join(shapes))]


def _dot(x: float, y: float, probe: Probe, colour: str) -> str:
    if probe.depth_m is None:
        return element("circle", cx=x, cy=y, r=4.0, fill="none", stroke=colour, stroke_width=2)
    return element("circle", cx=x, cy=y, r=4.0, fill=colour, stroke="#ffffff", stroke_width=0.8)


def _window(explained: PixelExplanation, walk: Walk, mask: np.ndarray) -> tuple[slice, slice]:
    """Rows and columns of the picture: the person and the probes, and some pixels around both, within limits."""
    probes = [probe for step in walk.steps for probe in (step.u, step.v)]
    spans = []
    for axis, own in enumerate(explained.pixel):
        of_person = np.flatnonzero(mask.any(axis=1 - axis))
        low, high = int(of_person[0]), int(of_person[-1])
        size = high - low + 1
        places = [probe.row if axis == 0 else probe.col for probe in probes]
        near = [place for place in [*places, own] if low - size <= place <= high + size]  # others leave the drawing
        spans.append((min(low, *near) - 4, max(high, *near) + 5))
    return slice(*spans[0]), slice(*spans[1])


def _centre(row: int, col: int, rows: slice, cols: slice, scale: float) -> tuple[float, float]:
    """Place of the middle of an image pixel in the drawing, moved to its edge from beyond."""
    x, y = (col + 0.5 - cols.start) * scale, (row + 0.5 - rows.start) * scale
    bottom = (rows.stop - rows.start) * scale
    return float(np.clip(x, 0, WIDTH)), float(HEADING + np.clip(y, 0, bottom))


def _picture(depth_m: np.ndarray, mask: np.ndarray, rows: slice, cols: slice) -> str:
    """Draw the person in greys, nearer is brighter, on a window that may reach beyond the image: a data URI."""
    shown = mask & (depth_m > 0)
    nearest, farthest = depth_m[shown].min(), depth_m[shown].max()
    share = (depth_m - nearest) / max(float(farthest - nearest), 1e-6)
    grey = np.where(shown, NEAR + np.clip(share, 0, 1) * (FAR - NEAR), BACKGROUND).astype(np.uint8)
    height, width = grey.shape
    window = np.full((rows.stop - rows.start, cols.stop - cols.start), BACKGROUND, np.uint8)
    top, left = max(rows.start, 0), max(cols.start, 0)
    part = grey[top : min(rows.stop, height), left : min(cols.stop, width)]
    window[top - rows.start :, left - cols.start :][: part.shape[0], : part.shape[1]] = part
    encoded = cv2.imencode(".png", window)[1].tobytes()
    return "data:image/png;base64," + base64.b64encode(encoded).decode()
