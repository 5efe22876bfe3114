"""Sources of rotated cameras, and of drivers that mirror the image."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from posepipe.camera import Intrinsics, UpVector
from posepipe.frames import DepthFrame
from posepipe.sources.base.frame_source import FrameSource, WrappedSource

ANGLES = (0, 90, 180, 270)
"""Supported rotations, degrees clockwise."""
MIN_UP = 0.7
"""Minimum component of up along an axis of the image that tells which side of it is up; 1 = a level camera."""

_log = logging.getLogger(__name__)


def mirror_frame(frame: DepthFrame) -> DepthFrame:
    """Exchange left and right of an image, its colour and intrinsics. Up stays: drivers mirror no accelerometer."""
    intrinsics = frame.intrinsics.mirrored(frame.depth_m.shape[1])
    colour = None if frame.colour is None else frame.colour[:, ::-1]
    return replace(frame, depth_m=frame.depth_m[:, ::-1], intrinsics=intrinsics, colour=colour)


def rotate_frame(frame: DepthFrame) -> DepthFrame:
    """Rotate an image, its colour and its intrinsics clockwise by 90 degrees."""
    intrinsics = frame.intrinsics.rotated(frame.depth_m.shape[0])
    colour = None if frame.colour is None else np.rot90(frame.colour, -1)
    up = None if frame.up is None else (-frame.up[1], frame.up[0], frame.up[2])
    return replace(frame, depth_m=np.rot90(frame.depth_m, -1), intrinsics=intrinsics, up=up, colour=colour)


def upright_rotation(up: UpVector) -> int:
    """Rotation, degrees clockwise, that brings up to the top of the image; 0 also where a steep view leaves it open."""
    right, down, _ = up
    if max(abs(right), abs(down)) < MIN_UP:
        return 0
    if abs(down) >= abs(right):
        return 180 if down > 0 else 0
    return 270 if right > 0 else 90


class RotatedSource(WrappedSource):
    """Frames of another source, mirrored and rotated; one logged warning where the accelerometer says they lie wrong.

    Parameters
    ----------
    source : FrameSource
    mirror : exchange left and right, before the rotation
    rotate : degrees clockwise, 0, 90, 180 or 270, until heads are up

    Raises
    ------
    ValueError
        For another angle.
    """

    def __init__(self, source: FrameSource, mirror: bool = False, rotate: int = 0) -> None:
        super().__init__(source)
        if rotate not in ANGLES:
            raise ValueError(f"rotate: wanted {', '.join(map(str, ANGLES))} degrees, got {rotate}")
        self._mirror = mirror
        self._quarters = rotate // 90
        self._judged = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the first frame, after the rotation."""
        height, width = self._source.shape
        return (width, height) if self._quarters % 2 else (height, width)

    @property
    def intrinsics(self) -> Intrinsics:
        """Intrinsics of the first frame, mirrored and rotated."""
        intrinsics, (height, width) = self._source.intrinsics, self._source.shape
        if self._mirror:
            intrinsics = intrinsics.mirrored(width)
        for _ in range(self._quarters):
            intrinsics = intrinsics.rotated(height)
            height, width = width, height
        return intrinsics

    def transform(self, frame: DepthFrame) -> DepthFrame:
        """Mirror and rotate a frame."""
        if self._mirror:
            frame = mirror_frame(frame)
        for _ in range(self._quarters):
            frame = rotate_frame(frame)
        if frame.up is not None and not self._judged:
            self._judged = True
            self._judge(frame.up)
        return frame

    def _judge(self, up: UpVector) -> None:
        """Log which rotation makes the image upright, if another one does."""
        if turn := upright_rotation(up):
            rotate = (90 * self._quarters + turn) % 360
            _log.warning(
                "%s: by its accelerometer the image is not upright: people are missed, joints wrong; give --rotate %d",
                *(self.name, rotate),
            )
