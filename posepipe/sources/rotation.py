"""Sources of rotated cameras, and of drivers that mirror the image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.base.frame_source import FrameSource, WrappedSource

ANGLES = (0, 90, 180, 270)
"""Supported rotations, degrees clockwise."""


def mirror_frame(frame: DepthFrame) -> DepthFrame:
    """Exchange left and right of an image, its colour and intrinsics. Up stays: drivers mirror no accelerometer."""
    intrinsics = _mirrored(frame.intrinsics, frame.depth_m.shape[1])
    colour = None if frame.colour is None else frame.colour[:, ::-1]
    return replace(frame, depth_m=frame.depth_m[:, ::-1], intrinsics=intrinsics, colour=colour)


def rotate_frame(frame: DepthFrame) -> DepthFrame:
    """Rotate an image, its colour and its intrinsics clockwise by 90 degrees."""
    intrinsics = frame.intrinsics.rotated(frame.depth_m.shape[0])
    colour = None if frame.colour is None else np.rot90(frame.colour, -1)
    up = None if frame.up is None else (-frame.up[1], frame.up[0], frame.up[2])
    return replace(frame, depth_m=np.rot90(frame.depth_m, -1), intrinsics=intrinsics, up=up, colour=colour)


def _mirrored(intrinsics: Intrinsics, width: int) -> Intrinsics:
    return replace(intrinsics, cx=width - 1 - intrinsics.cx)


class RotatedSource(WrappedSource):
    """Frames of another source, mirrored and rotated.

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
            intrinsics = _mirrored(intrinsics, width)
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
        return frame
