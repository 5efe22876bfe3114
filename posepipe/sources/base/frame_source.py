"""What a source of frames is, and one that hands on the frames of another, changed."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame


class FrameSource(Protocol):
    """A context manager that yields depth frames in order; iterating a file's source again starts anew.

    A source that knows how many frames it has can be entered anywhere; a camera cannot.
    """

    @property
    def name(self) -> str:
        """What the user called it."""

    @property
    def intrinsics(self) -> Intrinsics:
        """Of the first frame; every frame carries its own."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the first frame."""

    @property
    def frame_count(self) -> int | None:
        """How many frames there are, None where only time will tell."""

    @property
    def timestamps_s(self) -> np.ndarray:
        """Of every frame, float64 (N,), seconds since the first; raises TypeError where only time will tell."""

    @property
    def start_time_ns(self) -> int:
        """Time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown."""

    def __iter__(self) -> Iterator[DepthFrame]: ...

    def __getitem__(self, index: int) -> DepthFrame:
        """The frame of this place; raises TypeError where only time will tell."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class WrappedSource:
    """Frames of another source, each as `changed` makes it; a `FrameSource`."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source

    def changed(self, frame: DepthFrame) -> DepthFrame:
        """What becomes of a frame."""
        return frame

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def intrinsics(self) -> Intrinsics:
        return self._source.intrinsics

    @property
    def shape(self) -> tuple[int, int]:
        return self._source.shape

    @property
    def frame_count(self) -> int | None:
        return self._source.frame_count

    @property
    def timestamps_s(self) -> np.ndarray:
        return self._source.timestamps_s

    @property
    def start_time_ns(self) -> int:
        return self._source.start_time_ns

    def __iter__(self) -> Iterator[DepthFrame]:
        return map(self.changed, self._source)

    def __getitem__(self, index: int) -> DepthFrame:
        return self.changed(self._source[index])

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)
