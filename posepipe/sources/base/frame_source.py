"""The interface of all sources of frames, and the base of sources that transform another."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame


class FrameSource(Protocol):
    """A context manager that yields depth frames in order.

    A file has a known number of frames, random access, and can be iterated again. A live camera has none of these.
    """

    @property
    def name(self) -> str:
        """Name of the source, as the user gave it."""

    @property
    def intrinsics(self) -> Intrinsics:
        """Intrinsics of the first frame; every frame carries its own."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the first frame."""

    @property
    def frame_count(self) -> int | None:
        """Number of frames; None for a live camera."""

    @property
    def timestamps_s(self) -> np.ndarray:
        """Times of all frames, float64 (N,), seconds since the first. Raises TypeError for a live camera."""

    @property
    def start_time_ns(self) -> int:
        """Time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown."""

    def __iter__(self) -> Iterator[DepthFrame]: ...

    def __getitem__(self, index: int) -> DepthFrame:
        """Frame at a position; negative ones count from the end. Raises TypeError for a live camera."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


def row_of(index: int, count: int, name: str) -> int:
    """Place, from 0, of the frame that ``index`` means among ``count``; negative ones count from the end.

    Raises
    ------
    IndexError
        When there is no such frame of the source ``name``.
    TypeError
        For anything but a whole number.
    """
    try:
        row = operator.index(index)
    except TypeError:
        raise TypeError(f"{name}: wanted the index of a frame, a whole number, got {index!r:.60}") from None
    if not -count <= row < count:
        raise IndexError(f"{name}: wanted the index of one of its {count} frames, got {row}")
    return row % count


class WrappedSource:
    """Frames of another source, each passed through `transform`; a `FrameSource`.

    Parameters
    ----------
    source : FrameSource, entered and closed with this one
    """

    def __init__(self, source: FrameSource) -> None:
        self._source = source

    def transform(self, frame: DepthFrame) -> DepthFrame:
        """Return the transformed frame; unchanged by default."""
        return frame

    @property
    def name(self) -> str:
        """Name of the wrapped source."""
        return self._source.name

    @property
    def intrinsics(self) -> Intrinsics:
        """Intrinsics of the first frame."""
        return self._source.intrinsics

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the first frame."""
        return self._source.shape

    @property
    def frame_count(self) -> int | None:
        """Number of frames; None for a live camera."""
        return self._source.frame_count

    @property
    def timestamps_s(self) -> np.ndarray:
        """Times of all frames, float64 (N,), seconds since the first. Raises TypeError for a live camera."""
        return self._source.timestamps_s

    @property
    def start_time_ns(self) -> int:
        """Time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown."""
        return self._source.start_time_ns

    def __iter__(self) -> Iterator[DepthFrame]:
        return map(self.transform, self._source)

    def __getitem__(self, index: int) -> DepthFrame:
        if isinstance(index, slice):
            raise TypeError(f"{self.name}: a {type(self).__name__} has no slices; give it a slice of its source")
        return self.transform(self._source[index])

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)
