"""Implausible depth, lenses and times: one logged line with the likely cause, instead of results without people.

A wrong depth unit moves all depth outside the range of depth cameras, and `DepthFrame` then clears it. The rule
therefore looks at the depth before it is cleaned.
"""

from __future__ import annotations

import logging
import math

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import MAX_DEPTH_M, MIN_DEPTH_M, clean_depth

MIN_VIEW_DEG = 10.0
"""Minimum plausible field of view along an image axis; depth cameras have 40 degrees or more."""
MAX_VIEW_DEG = 150.0
"""Maximum plausible field of view along an image axis; the widest depth cameras have 120 degrees."""
MAX_CENTRE_OFFSET = 0.25
"""Maximum plausible distance of the optical axis from the middle, picture widths or heights."""
MIN_USABLE_SHARE = 0.05
"""Minimum share of the readings between MIN_DEPTH_M and MAX_DEPTH_M."""
MAX_MEDIAN_M = 7.0
"""Maximum plausible median of the depth; that of 163 frames of real rooms is at most 5.9 m."""
MIN_FARTHEST_M = 0.6
"""Minimum plausible depth that 95 % of the readings stay below; that of the same frames is at least 0.83 m."""
MIN_READINGS_SHARE = 0.01
"""Minimum share of pixels with a reading; fewer are noise and decide nothing."""
JUDGED_FRAMES = 3
"""Consecutive frames that must be implausible: the first frames of a camera may be noise."""

MAX_REPEATED_SHARE = 0.5
"""Maximum plausible share of frames with the time of the one before; doubled frames of drivers are fewer."""
MAX_STEP_S = 5.0
"""Maximum plausible time between frames, median; trackers forget people earlier."""
MAX_GAP_S = 2.0
"""Maximum time between two frames that people are remembered for, as trackers do by default."""
MAX_GAP_STEPS = 10
"""Maximum time between two frames that is no gap, median steps: of a picture a second, two may be lost."""
MIN_STEP_S = 1e-4
"""Minimum plausible time between frames that are not doubled, median; no depth camera takes 10,000 a second."""
JUDGED_TIMES = 31
"""Frames of a camera by whose times they are judged; odd, as doubled frames repeat no more than half of the steps."""

_FAR_M = 100.0  #: beyond this, a unit that is wrong by 1,000 explains the depth better than a large scene
_SATURATED = np.iinfo(np.uint16).max  #: value of many cameras for no reading
_MAX_BYTE = 255
_STRETCHES = (256, 257)  #: factors by which programs convert 8-bit levels to 16 bits
_MIN_LEVELS = 4  #: distinct levels that indicate an 8-bit image; made-up images have fewer

_log = logging.getLogger(__name__)


class PlausibilityCheck:
    """The check of one source: at most one warning about its lens, one about its depth and one about its times.

    Parameters
    ----------
    name : name of the source, for messages
    frame_count : number of frames; None = unknown
    """

    def __init__(self, name: str, frame_count: int | None = None) -> None:
        self.played = slice(None)  #: rows of the frames that are played; gaps before and after them concern nobody
        self._name = name
        self._wanted = JUDGED_FRAMES if frame_count is None else min(JUDGED_FRAMES, frame_count)
        self._lens_judged = self._depth_judged = self._times_judged = False
        self._implausible = 0

    def inspect(self, depth: np.ndarray, intrinsics: Intrinsics) -> None:
        """Inspect a frame until the source is judged; log what is implausible.

        Parameters
        ----------
        depth : (H, W), not yet cleaned; floating point metres, or uint16 millimetres
        intrinsics : Intrinsics of the frame
        """
        if not self._lens_judged:
            self._lens_judged = True
            self._warn(lens_problem(intrinsics, depth.shape))
        if not self._depth_judged:
            self._judge_depth(depth)

    def inspect_times(self, timestamps_s: np.ndarray, live: bool = False) -> None:
        """Inspect the times of all frames, (N,), seconds; log once where they go back, stand, leap or have a gap.

        Live frames have gaps wherever they were not taken in time. Only gaps between frames that are played count.
        """
        if not self._times_judged:
            self._times_judged = True
            self._warn(times_problem(timestamps_s) or ("" if live else gap_problem(timestamps_s, self.played)))

    def _judge_depth(self, depth: np.ndarray) -> None:
        readings = _readings(depth)
        if readings.size < max(1, MIN_READINGS_SHARE * depth.size):
            return
        problem = depth_problem(readings)
        self._implausible += bool(problem)
        if not problem or self._implausible >= self._wanted:
            self._depth_judged = True
            self._warn(problem)

    def _warn(self, problem: str) -> None:
        if problem:
            _log.warning("%s: %s", self._name, problem)


def known_metres(depth: np.ndarray) -> np.ndarray:
    """Depth (H, W) of a source that is checked here, for a `DepthFrame`, which would warn of it frame by frame."""
    return clean_depth(depth) if depth.dtype.kind == "f" else depth


def lens_problem(intrinsics: Intrinsics, shape: tuple[int, ...]) -> str:
    """Describe an implausible field of view or centre of an image (rows, columns); "" for plausible ones."""
    height, width = shape
    for name, focal, size in (("fx", intrinsics.fx, width), ("fy", intrinsics.fy, height)):
        view_deg = math.degrees(2 * math.atan(size / (2 * focal)))
        if not MIN_VIEW_DEG <= view_deg <= MAX_VIEW_DEG:
            effect = "long: people would be tiny" if view_deg < MIN_VIEW_DEG else "short: people would be giants"
            return (
                f"implausible lens, {name} {focal:g} for {width}x{height} pixels is a field of view of {view_deg:.3g} "
                f"degrees, too {effect}; is {name} in pixels of this image size? correct it, or give --camera"
            )
    for name, centre, size, lines in (("cx", intrinsics.cx, width, "columns"), ("cy", intrinsics.cy, height, "rows")):
        if abs(centre - (size - 1) / 2) > MAX_CENTRE_OFFSET * size:
            return (
                f"implausible lens, {name} {centre:g} is far from the middle of {size} {lines}; unless the images are "
                "cut out of larger ones: is it in pixels of this image size? correct it, or give --camera"
            )
    return ""


def times_problem(timestamps_s: np.ndarray) -> str:
    """Describe times, (N,), that fall, mostly stay, leap or creep; "" for others."""
    steps_s = np.diff(timestamps_s)
    if not len(steps_s):
        return ""
    falls = np.flatnonzero(steps_s < 0)
    if len(falls):
        row = int(falls[0]) + 1
        more = f" ({len(falls)} such frames)" if len(falls) > 1 else ""
        return (
            f"implausible times, frame {row} is {-steps_s[row - 1]:.3g} s before the one that it follows{more}; "
            "people are lost there; are the frames in order of time?"
        )
    repeated = np.count_nonzero(steps_s == 0)
    if repeated > MAX_REPEATED_SHARE * len(steps_s):
        return (
            f"implausible times, {repeated} of {len(timestamps_s)} frames have the time of the one before; people are "
            "lost there, and files of motion keep one frame of each time; are times rounded to seconds, or float32?"
        )
    if np.median(steps_s) > MAX_STEP_S:
        return (
            f"implausible times, the frames are {np.median(steps_s):.3g} s apart (median), longer than people are "
            "remembered; are these milliseconds, taken for seconds?"
        )
    step_s = np.median(steps_s[steps_s > 0]) if steps_s.any() else MIN_STEP_S  # drivers double frames, with their times
    if step_s < MIN_STEP_S:
        return (
            f"implausible times, the frames are {step_s:.2g} s apart (median), closer than any camera takes them; are "
            "these milliseconds or microseconds, taken for nanoseconds?"
        )
    return ""


def max_step_s(timestamps_s: np.ndarray) -> float:
    """Maximum time between two frames of these times, (N,), seconds, that is no gap."""
    if len(timestamps_s) < 2:
        return MAX_GAP_S
    return max(MAX_GAP_S, MAX_GAP_STEPS * float(np.median(np.diff(timestamps_s))))


def gap_problem(timestamps_s: np.ndarray, played: slice) -> str:
    """Describe the first of the times (N,), in the played rows, before which nobody is remembered; "" without any."""
    steps_s = np.diff(timestamps_s)
    first, stop, _ = played.indices(len(timestamps_s))
    gaps = np.flatnonzero(steps_s > max_step_s(timestamps_s))
    gaps = gaps[(gaps >= first) & (gaps + 1 < stop)]
    if not len(gaps):
        return ""
    row, more = int(gaps[0]) + 1, f", the first of {len(gaps)} gaps" if len(gaps) > 1 else ""
    return (
        f"a gap in the times, frame {row} is {steps_s[row - 1]:,.1f} s after the one before{more}; people who are "
        "tracked have new ids after it; was the camera paused, or its clock set?"
    )


def depth_problem(readings: np.ndarray) -> str:
    """Describe implausible readings of one frame; "" for plausible ones.

    Parameters
    ----------
    readings : (N,), N > 0, all positive; floating point metres, or uint16 millimetres
    """
    if readings.dtype.kind == "u" and _is_8_bit(readings):
        return (
            f"implausible depth, its 16-bit levels are those of an 8-bit image (to {readings.max()}); "
            "save depth as 16-bit millimetres, not as a picture to look at"
        )
    depth_m = readings * np.float32(0.001) if readings.dtype.kind == "u" else readings
    usable = np.count_nonzero((depth_m >= MIN_DEPTH_M) & (depth_m <= MAX_DEPTH_M)) / depth_m.size
    median_m, farthest_m = (float(depth) for depth in np.percentile(depth_m, (50, 95)))
    if usable >= MIN_USABLE_SHARE:
        return _unlikely_depth(median_m, farthest_m)
    if median_m > _FAR_M * 1000:
        cause = "its unit (depth_unit_m) seems far too large: wanted metres per grey level, 0.001 for millimetres"
    elif median_m > _FAR_M:
        cause = (
            "its unit (depth_unit_m) seems 1,000 times too large: are these millimetres, taken for metres? "
            "(images in floating point have no unit: save them in metres)"
        )
    elif median_m < MIN_DEPTH_M:
        cause = "its unit (depth_unit_m) seems 1,000 times too small: are these metres, taken for millimetres?"
    else:
        cause = "its unit (depth_unit_m) seems too large, or the scene is too far away"
    median = f"{median_m:,.0f}" if median_m > MAX_DEPTH_M else f"{median_m:.2g}"
    return (
        f"implausible depth, the median is {median} m, and {usable:.0%} of the readings lie in the usable "
        f"{MIN_DEPTH_M:g} to {MAX_DEPTH_M:g} m; {cause}"
    )


def _unlikely_depth(median_m: float, farthest_m: float) -> str:
    """Describe depth that is usable, but not where people are: of units that are wrong by 4 to 10."""
    if median_m > MAX_MEDIAN_M:
        return (
            f"implausible depth, the median is {median_m:.2g} m, where nobody is found; unless the scene is so large, "
            "its unit is too large: is depth_unit_m 0.0002, as 5,000 levels a metre (TUM) are, 0.00025 or 0.0001?"
        )
    if farthest_m < MIN_FARTHEST_M:
        return (
            f"implausible depth, 95% of the readings are nearer than {farthest_m:.2g} m; unless something covers the "
            "camera, its unit (depth_unit_m) is too small"
        )
    return ""


def _readings(depth: np.ndarray) -> np.ndarray:
    """Pixels of a depth image (H, W) with a reading, (N,)."""
    if depth.dtype.kind == "u":
        return depth[(depth > 0) & (depth < _SATURATED)]
    with np.errstate(invalid="ignore"):
        return depth[(depth > 0) & (depth < np.inf)]


def _is_8_bit(levels: np.ndarray) -> bool:
    """Whether uint16 levels are those of an 8-bit image, unchanged or stretched to 16 bits."""
    if MAX_DEPTH_M < levels.max() <= _MAX_BYTE:  # lower ones may be whole metres
        return True
    return any(not (levels % factor).any() for factor in _STRETCHES) and len(np.unique(levels)) >= _MIN_LEVELS
