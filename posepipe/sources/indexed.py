"""What all files of frames have in common: every frame has an index and a time, and can be had at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame


class IndexedSource(ABC):
    """Frames of a file or folder; a `FrameSource` that can also be entered anywhere.

    A format sets these fields when it is opened and answers `__getitem__`.
    """

    name: str  #: what the user called it
    intrinsics: Intrinsics  #: of the first frame
    shape: tuple[int, int]  #: rows and columns of the first frame
    timestamps_s: np.ndarray  #: float64 (N,), of every frame, seconds since the first
    start_time_ns: int = 0  #: time of the first, nanoseconds since the Unix epoch; 0 = unknown

    @property
    def frame_count(self) -> int | None:
        return len(self)

    def __len__(self) -> int:
        return len(self.timestamps_s)

    @abstractmethod
    def __getitem__(self, index: int) -> DepthFrame:
        """Frame ``index``, 0 <= index < len(self). Raises FormatError where the file is damaged there."""

    def __iter__(self) -> Iterator[DepthFrame]:
        return (self[index] for index in range(len(self)))

    def close(self) -> None:  # noqa: B027 - formats that read a file at a time have nothing to close
        """Close what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
