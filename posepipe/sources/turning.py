"""A source whose camera stands on its side or on its head, or whose driver mirrors the picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.base.frame_source import FrameSource, WrappedSource

ANGLES = (0, 90, 180, 270)
"""Degrees clockwise that a picture can be turned by."""


def mirror_frame(frame: DepthFrame) -> DepthFrame:
    """Left and right exchanged: what a mirrored stream shows, or the way back."""
    lens = _mirrored(frame.intrinsics, frame.depth_m.shape[1])
    return replace(frame, depth_m=frame.depth_m[:, ::-1], intrinsics=lens)


def turn_frame(frame: DepthFrame) -> DepthFrame:
    """The picture turned clockwise by a quarter; the lens turns with it."""
    lens = frame.intrinsics.turned(frame.depth_m.shape[0])
    return replace(frame, depth_m=np.rot90(frame.depth_m, -1), intrinsics=lens)


def _mirrored(lens: Intrinsics, width: int) -> Intrinsics:
    return replace(lens, cx=width - 1 - lens.cx)


class TurnedSource(WrappedSource):
    """Frames of another source, un-mirrored and turned.

    Parameters
    ----------
    source : FrameSource
    mirror : exchange left and right first
    rotate : degrees clockwise, 0, 90, 180 or 270: so that heads are up

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
        height, width = self._source.shape
        return (width, height) if self._quarters % 2 else (height, width)

    @property
    def intrinsics(self) -> Intrinsics:
        lens, (height, width) = self._source.intrinsics, self._source.shape
        if self._mirror:
            lens = _mirrored(lens, width)
        for _ in range(self._quarters):
            lens = lens.turned(height)
            height, width = width, height
        return lens

    def changed(self, frame: DepthFrame) -> DepthFrame:
        if self._mirror:
            frame = mirror_frame(frame)
        for _ in range(self._quarters):
            frame = turn_frame(frame)
        return frame
