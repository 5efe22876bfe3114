"""Figure of the domain gap: a frame of each of two sources, the noise on its surfaces, and curves of both."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.evaluation.domain_gap.depth_statistics import MIN_WINDOWS, DepthStatistics, residual_image
from posepipe.frames import DepthFrame
from posepipe.sinks.images.shading import shade_depth

_PICTURE_PX = 280  # side of a picture
_GAP_PX, _TITLE_PX, _PLOT_PX = 20, 34, 300
_WIDTH_PX = 4 * _PICTURE_PX + 5 * _GAP_PX
_PAPER, _INK, _GREY = (250, 250, 250), (60, 60, 60), (205, 205, 205)
_COLOURS = ((160, 90, 30), (40, 110, 225))
"""Colours of the curves of the two sources, BGR: blue and orange."""
_HEAT_MM = 15.0
"""Maximum of the colour scale."""
_BIN_M = 0.25
_QUARTILES = (0.25, 0.5, 0.75)


def draw_comparison(sources: Mapping[str, DepthStatistics], without_frame: Collection[str] = ()) -> np.ndarray:
    """Draw the figure of two sources.

    Parameters
    ----------
    sources : statistics of two sources, by name
    without_frame : names of sources of which only curves are shown

    Returns
    -------
    uint8 (H, W, 3), BGR

    Raises
    ------
    ValueError
        When there are not two sources.
    """
    if len(sources) != 2:
        raise ValueError(f"wanted two sources to compare, got {len(sources)}")
    height = _TITLE_PX + _PICTURE_PX + _GAP_PX + _TITLE_PX + _PLOT_PX + _GAP_PX
    image = np.full((height, _WIDTH_PX, 3), _PAPER, np.uint8)
    for k, (name, statistics) in enumerate(sources.items()):
        left = _GAP_PX + 2 * k * (_PICTURE_PX + _GAP_PX)
        _write_fitting(image, name, (left, 23), 2 * _PICTURE_PX + _GAP_PX, _COLOURS[k])
        if name in without_frame:
            cv2.rectangle(
                image, (left, _TITLE_PX), (left + 2 * _PICTURE_PX + _GAP_PX, _TITLE_PX + _PICTURE_PX), _GREY, 1
            )
            _write_centred(
                image, "no frame of this source is shown", (left + _PICTURE_PX, _TITLE_PX + _PICTURE_PX // 2)
            )
            continue
        frame = _around_person(statistics.example)
        for picture, step in ((_shaded(frame), 0), (_heat(frame), _PICTURE_PX + _GAP_PX)):
            rows = slice(_TITLE_PX, _TITLE_PX + _PICTURE_PX)
            image[rows, left + step : left + step + _PICTURE_PX] = _fit(picture)
        _draw_scale(image, left + _PICTURE_PX + _GAP_PX + 8, _TITLE_PX + 8)
    top = _TITLE_PX + _PICTURE_PX + _GAP_PX
    width = (_WIDTH_PX - 4 * _GAP_PX) // 3
    for k, plot in enumerate((_residual_plot, _hole_plot, _raggedness_plot)):
        left = _GAP_PX + k * (width + _GAP_PX)
        plot(image[top : top + _TITLE_PX + _PLOT_PX, left : left + width], list(sources.values()))
    return image


# ---- pictures -------------------------------------------------------------------------------------------------------


def _around_person(frame: DepthFrame) -> DepthFrame:
    """Crop a frame to the square around its readings."""
    rows, cols = np.nonzero(frame.depth_m > 0)
    side = math.ceil(1.1 * max(int(np.ptp(rows)), int(np.ptp(cols)), 20))
    top, left = (int(values.min() + values.max() - side) // 2 for values in (rows, cols))
    padded = np.pad(frame.depth_m, side)  # the square may exceed the image
    cut = padded[top + side : top + 2 * side, left + side : left + 2 * side]
    return DepthFrame(cut, frame.intrinsics.cropped(top, left))


def _shaded(frame: DepthFrame) -> np.ndarray:
    shade = shade_depth(frame.depth_m, frame.intrinsics)
    return np.repeat((225 * shade).astype(np.uint8)[..., None], 3, axis=2)


def _heat(frame: DepthFrame) -> np.ndarray:
    """Residuals as a heat map; surfaces that are not smooth stay grey."""
    residual_m = residual_image(frame.depth_m)
    heat = np.nan_to_num(residual_m * 1000 / _HEAT_MM).clip(0, 1)
    picture = cv2.applyColorMap((255 * heat).astype(np.uint8), cv2.COLORMAP_VIRIDIS)
    return np.where(np.isnan(residual_m)[..., None], _shaded(frame) // 3, picture)


def _fit(picture: np.ndarray) -> np.ndarray:
    shrinks = len(picture) > _PICTURE_PX
    interpolation_mode = cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST  # keep single pixels visible
    return cv2.resize(picture, (_PICTURE_PX, _PICTURE_PX), interpolation=interpolation_mode)


def _draw_scale(image: np.ndarray, left: int, top: int) -> None:
    """Draw the colour scale with its labels."""
    steps = np.arange(99, -1, -1, dtype=np.float32)[:, None] / 99
    bar = cv2.applyColorMap(np.repeat((255 * steps).astype(np.uint8), 8, axis=1), cv2.COLORMAP_VIRIDIS)
    image[top : top + len(bar), left : left + 8] = bar
    _write(image, f"{_HEAT_MM:g} mm off a plane", (left + 13, top + 10), _PAPER, 0.4)
    _write(image, "0", (left + 13, top + len(bar)), _PAPER, 0.4)


# ---- plots ----------------------------------------------------------------------------------------------------------


def _residual_plot(canvas: np.ndarray, sources: Sequence[DepthStatistics]) -> None:
    curves = [_by_distance(statistics) for statistics in sources]
    known = [curve for curve in curves if len(curve)]
    if not known:
        _write(canvas, "no smooth surface was seen", (4, 23), _INK)
        return
    every = np.concatenate(known)
    across = float(every[:, 0].min()) - _BIN_M / 2, float(every[:, 0].max()) + _BIN_M / 2
    upwards = 0, max(float(every[:, 1:].max()), 0.1)  # a perfect camera has no noise at all
    axes = _Axes(canvas, "noise on smooth surfaces, mm, by distance, m", across, upwards)
    for curve, colour in zip(curves, _COLOURS, strict=True):
        if len(curve):
            axes.band(curve[:, 0], curve[:, 1], curve[:, 3], colour)
    for curve, colour in zip(curves, _COLOURS, strict=True):
        if len(curve):
            axes.line(curve[:, 0], curve[:, 2], colour)
    axes.note("line: median, band: the middle half of windows")


def _by_distance(statistics: DepthStatistics) -> np.ndarray:
    """Distance, m, and quartiles of the residual, mm: float64 (n, 4), for bins with more than MIN_WINDOWS windows."""
    bins = np.floor(statistics.depth_m / _BIN_M).astype(int)
    rows = []
    for number in np.unique(bins):
        inside = statistics.residual_m[bins == number]
        if len(inside) > MIN_WINDOWS:
            rows.append([(number + 0.5) * _BIN_M, *(1000 * np.quantile(inside, _QUARTILES))])
    return np.array(rows).reshape(-1, 4)


def _hole_plot(canvas: np.ndarray, sources: Sequence[DepthStatistics]) -> None:
    _shares_plot(
        canvas, "holes inside the silhouette, %", [100 * statistics.holes for statistics in sources], minimum=0.0
    )


def _raggedness_plot(canvas: np.ndarray, sources: Sequence[DepthStatistics]) -> None:
    _shares_plot(canvas, "raggedness of the silhouette", [statistics.raggedness for statistics in sources], minimum=1.0)


def _shares_plot(canvas: np.ndarray, title: str, values: Sequence[np.ndarray], minimum: float) -> None:
    """Draw the cumulative distribution over frames: similar cameras have similar curves."""
    values = [np.sort(each) for each in values]
    maximum = max((float(np.quantile(each, 0.98)) for each in values if len(each)), default=minimum + 1)
    axes = _Axes(canvas, title, (minimum, max(maximum, minimum + 0.01)), (0, 100))
    for each, colour in zip(values, _COLOURS, strict=True):
        if len(each):
            axes.line(each, 100 * (np.arange(len(each)) + 1) / len(each), colour)
    axes.note("% of the frames with at most so much")


@dataclass(frozen=True, slots=True)
class _Axes:
    """Axes with ticks on a canvas, and drawing methods in their coordinates."""

    canvas: np.ndarray
    title: str
    across: tuple[float, float]
    upwards: tuple[float, float]

    def __post_init__(self) -> None:
        left, right, top, bottom = self._sides()
        _write(self.canvas, self.title, (left, top - 10), _INK)
        for value in _ticks(*self.across):
            col = self._place(value, self.upwards[0])[0]
            cv2.line(self.canvas, (col, top), (col, bottom), _GREY, 1)
            _write_centred(self.canvas, f"{value:g}", (col, bottom + 16))
        for value in _ticks(*self.upwards):
            row = self._place(self.across[0], value)[1]
            cv2.line(self.canvas, (left, row), (right, row), _GREY, 1)
            _write_centred(self.canvas, f"{value:g}", (left - 15, row + 4))
        cv2.rectangle(self.canvas, (left, top), (right, bottom), _INK, 1)

    def line(self, x: np.ndarray, y: np.ndarray, colour: tuple[int, int, int]) -> None:
        """Draw a curve, clipped to the axes."""
        cv2.polylines(self._inside(), [self._path(x, y)], False, colour, 2, cv2.LINE_AA)

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: tuple[int, int, int]) -> None:
        """Fill the area between two curves, translucently."""
        inside = self._inside()
        filled = inside.copy()
        outline = np.concatenate([self._path(x, low), self._path(x, high)[::-1]])
        cv2.fillPoly(filled, [outline], colour)
        inside[:] = cv2.addWeighted(filled, 0.2, inside, 0.8, 0)

    def note(self, text: str) -> None:
        """Write a line of text below the axis."""
        left, _, _, bottom = self._sides()
        _write(self.canvas, text, (left, bottom + 34), _INK, 0.4)

    def _sides(self) -> tuple[int, int, int, int]:
        """Left, right, top and bottom of the axes, pixels of the canvas."""
        return 34, self.canvas.shape[1] - 12, _TITLE_PX, self.canvas.shape[0] - 44

    def _place(self, x: float, y: float) -> tuple[int, int]:
        left, right, top, bottom = self._sides()
        u = (x - self.across[0]) / (self.across[1] - self.across[0])
        v = (y - self.upwards[0]) / (self.upwards[1] - self.upwards[0])
        return round(left + u * (right - left)), round(bottom - v * (bottom - top))

    def _inside(self) -> np.ndarray:
        left, right, top, bottom = self._sides()
        return self.canvas[top : bottom + 1, left : right + 1]

    def _path(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Points of a curve, pixels relative to the axes: int32 (n, 2)."""
        left, _, top, _ = self._sides()
        places = [self._place(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]
        return np.array(places, np.int32).reshape(-1, 2) - np.array([left, top], np.int32)


def _ticks(minimum: float, maximum: float) -> list[float]:
    """Four to ten round numbers: multiples of 1, 2 or 5 times a power of ten."""
    size = 10.0 ** math.floor(math.log10(maximum - minimum))
    step = next(size * part for part in (0.1, 0.2, 0.5, 1.0) if (maximum - minimum) / (size * part) <= 9)
    first, last = math.ceil(minimum / step - 1e-9), math.floor(maximum / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def _write(
    image: np.ndarray, text: str, at: tuple[int, int], colour: tuple[int, int, int], scale: float = 0.45
) -> None:
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)


def _write_centred(image: np.ndarray, text: str, at: tuple[int, int]) -> None:
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.4, 1)
    _write(image, text, (at[0] - width // 2, at[1]), _INK, 0.4)


def _write_fitting(
    image: np.ndarray, text: str, at: tuple[int, int], width_px: int, colour: tuple[int, int, int]
) -> None:
    """Write text as large as the width allows."""
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 1.0, 1)
    scale = min(0.6, width_px / max(width, 1))
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)
