"""Depth frames, and depth frames with ground truth."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics, UpVector, unit_up

MIN_DEPTH_M = 0.1
"""Minimum depth. Nearer readings are noise: no depth camera measures them."""
MAX_DEPTH_M = 9.5
"""Maximum depth. Farther readings are dropped, to keep every reading below BACKGROUND_M (10 m)."""
MISTAKEN_M = 100.0
"""Median of floating point depth beyond which it seems to be millimetres: 10 cm of them, or too far for any room."""
EARLIEST_DATE_NS = 946_684_800_000_000_000
"""Year 2000, since the Unix epoch. Earlier times are no dates, but of simulations and of clocks that begin at 0."""


def clean_depth(depth: np.ndarray) -> np.ndarray:
    """Check a depth image and convert it to float32 metres with 0 = no reading.

    Parameters
    ----------
    depth : (H, W); floating point is metres, uint16 is millimetres

    Returns
    -------
    float32 (H, W), metres; NaN, infinities and values outside [MIN_DEPTH_M, MAX_DEPTH_M] become 0

    Raises
    ------
    ValueError
        When ``depth`` has another number of axes or another dtype.
    """
    depth = np.asarray(depth)
    if depth.ndim != 2 or depth.size == 0:
        raise ValueError(f"a depth image has two axes (rows, columns) and at least one pixel, got shape {depth.shape}")
    if depth.dtype.newbyteorder("=") == np.uint16:
        depth_m = depth.astype(np.float32) * np.float32(0.001)
    elif depth.dtype.kind == "f":
        with np.errstate(over="ignore"):  # float32 overflow becomes infinity, and so no reading
            depth_m = depth.astype(np.float32, copy=False)
    else:
        advice = "; of whole millimetres give depth.astype(np.uint16)" if depth.dtype.itemsize > 1 else ""
        raise ValueError(f"depth must be floating point metres or uint16 millimetres, got {depth.dtype}{advice}")
    depth_m = np.ascontiguousarray(depth_m)  # kernels are compiled for row-major layout only
    with np.errstate(invalid="ignore"):
        usable = (depth_m >= MIN_DEPTH_M) & (depth_m <= MAX_DEPTH_M)
    return cv2.copyTo(depth_m, usable.view(np.uint8))  # a new image, 0 elsewhere; faster than np.where


def _warn_of_unit(depth: np.ndarray) -> None:
    """Warn when depth of which no reading is usable seems to be floating point millimetres, or whole metres."""
    readings = depth[np.isfinite(depth) & (depth > 0)]
    if not readings.size:
        return
    median, mistake = float(np.median(readings)), ""
    if depth.dtype.kind != "f":
        if readings.max() <= MAX_DEPTH_M:
            mistake = f"uint16 depth is millimetres, got none above {readings.max()}; give metres as floating point"
    elif median > MISTAKEN_M:
        mistake = (
            f"floating point depth is metres, got a median of {median:g} and no reading of at most {MAX_DEPTH_M:g};"
            " divide millimetres by 1000"
        )
    if mistake:
        warnings.warn(mistake, stacklevel=4)  # who made the frame


def check_depth_and_mask(depth_m: np.ndarray, mask: np.ndarray) -> None:
    """Raise ValueError unless a depth image is floating point and has the shape of a mask."""
    if depth_m.dtype.kind != "f":
        raise ValueError(f"depth must be floating point metres, got {depth_m.dtype}; DepthFrame(...).depth_m converts")
    if depth_m.ndim != 2 or depth_m.shape != mask.shape:
        raise ValueError(f"depth and mask must have one shape (H, W), got {depth_m.shape} and {mask.shape}")


def window_of(mask: np.ndarray) -> tuple[slice, slice]:
    """Bounding box of a mask (H, W), as row and column slices; empty for an empty mask."""
    if mask.itemsize > 1:
        mask = mask != 0
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    return slice(top, top + height), slice(left, left + width)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DepthFrame:
    """One image of a depth camera.

    ``depth_m`` is given as floating point metres or uint16 millimetres, (H, W), 0 = no reading. `clean_depth` makes it
    float32 metres on construction, for all later stages.

    Raises
    ------
    ValueError
        When the depth is not an image, the time is not finite, up is no direction, or colour is no image.
    TypeError
        When the intrinsics are anything else, such as four numbers.

    Warns
    -----
    UserWarning
        When no reading is in range, and floating point depth seems to be millimetres, as most are beyond MISTAKEN_M, or
        whole numbers seem to be metres, as none is above MAX_DEPTH_M.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import DepthFrame, Intrinsics
    >>> millimetres = np.array([[2000, 0, 60000]], np.uint16)  # 60 m is out of range
    >>> frame = DepthFrame(millimetres, Intrinsics(fx=500.0, fy=500.0, cx=1.0, cy=0.0))
    >>> frame.depth_m.tolist(), frame.depth_m.dtype.name
    ([[2.0, 0.0, 0.0]], 'float32')
    """

    depth_m: np.ndarray  #: float32 (H, W), metres; 0 = no reading
    intrinsics: Intrinsics
    timestamp_s: float = 0.0  #: seconds since the first frame of the source
    index: int = 0  #: position in the source, counting skipped and dropped frames
    up: UpVector | None = None  #: away from the ground, by the camera's accelerometer; None = unknown

    #: uint8 (h, w, 3), RGB, of a camera beside this one, with a lens of its own; shown and recorded only
    colour: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.timestamp_s):
            raise ValueError(f"a frame's time must be a finite number of seconds, got {self.timestamp_s}")
        if not isinstance(self.intrinsics, Intrinsics):
            raise TypeError(f"a frame's intrinsics are Intrinsics(fx, fy, cx, cy), got {self.intrinsics!r:.60}")
        depth_m = clean_depth(self.depth_m)
        if not cv2.countNonZero(depth_m):
            _warn_of_unit(np.asarray(self.depth_m))
        object.__setattr__(self, "depth_m", depth_m)
        if self.up is not None:
            object.__setattr__(self, "up", unit_up(self.up))
        if self.colour is not None and (self.colour.dtype != np.uint8 or self.colour.shape[2:] != (3,)):
            raise ValueError(f"colour: wanted uint8 (h, w, 3), got {self.colour.dtype} {self.colour.shape}")

    def __repr__(self) -> str:
        height, width = self.depth_m.shape
        return f"<frame {self.index} at {self.timestamp_s:g} s, {width}x{height}>"


@dataclass(frozen=True, slots=True, eq=False)
class BodyTruth:
    """True orientations and sizes of the P people in a frame, of bodies with J joints; of exercises also joint angles.

    Each joint has the orientation of the segment that starts there, as a fitted body has (docs/reference/results.md).
    """

    rotations_xyzw: np.ndarray  #: float32 (P, J, 4), unit quaternions: from the rest pose to camera axes
    bone_lengths_m: np.ndarray  #: float32 (P, J), from each joint to its parent in the rest pose; NaN = no parent
    angle_names: tuple[str, ...] = ()  #: as `posepipe.kinematics.joint_angles` names them
    angles_deg: np.ndarray | None = None  #: float32 (P, A), lean of the trunk from the vertical; NaN = undefined


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrame:
    """A depth frame with its ground truth, as a renderer supplies it.

    Raises
    ------
    ValueError
        When labels are not uint8 images of the size of the depth, or joints and their visibility do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import DepthFrame, Intrinsics, LabelledFrame
    >>> depth = DepthFrame(np.full((2, 3), 1500, np.uint16), Intrinsics(500.0, 500.0, 1.0, 0.5))
    >>> people = np.array([[0, 1, 1], [0, 1, 0]], np.uint8)  # person 1 on background 0
    >>> parts = np.array([[0, 2, 2], [0, 5, 0]], np.uint8)  # parts 2 and 5 of the body definition
    >>> joints_m = np.array([[[0.0, 0.0, 1.5]]], np.float32)  # one person with one joint
    >>> frame = LabelledFrame(depth, parts, people, joints_m, visible=np.array([[True]]))
    >>> int((frame.people == 1).sum()), frame.joints_m.shape
    (3, (1, 1, 3))
    """

    depth: DepthFrame
    parts: np.ndarray  #: uint8 (H, W), label code of the body part, 0 = background
    people: np.ndarray  #: uint8 (H, W), id of the person, 0 = background
    joints_m: np.ndarray  #: float32 (P, J, 3), camera axes, metres; person of id k is row k - 1
    visible: np.ndarray  #: bool (P, J), whether the surface around the joint is visible (docs/reference/formats.md)
    bodies: BodyTruth | None = None  #: None = orientations and bone lengths are not known

    def __post_init__(self) -> None:
        shape = self.depth.depth_m.shape
        for name, labels in (("parts", self.parts), ("people", self.people)):
            if labels.dtype != np.uint8 or labels.shape != shape:
                raise ValueError(f"{name}: wanted uint8 {shape}, as depth, got {labels.dtype} {labels.shape}")
        joints_m, visible = self.joints_m, self.visible
        if joints_m.dtype.kind != "f" or joints_m.ndim != 3 or joints_m.shape[2] != 3:
            raise ValueError(f"joints_m: wanted floating point (P, J, 3), got {joints_m.dtype} {joints_m.shape}")
        if visible.dtype != bool or visible.shape != joints_m.shape[:2]:
            raise ValueError(f"visible: wanted bool {joints_m.shape[:2]}, got {visible.dtype} {visible.shape}")

    @property
    def located(self) -> np.ndarray:
        """Whether any joint of each person is known: bool (P,). The others are there, but cannot be scored."""
        return np.isfinite(self.joints_m).all(axis=2).any(axis=1)

    def unlocated_people(self) -> np.ndarray:
        """Pixels of people of whom no joint is known: bool (H, W)."""
        return (self.people > 0) & ~np.isin(self.people, 1 + np.flatnonzero(self.located))
