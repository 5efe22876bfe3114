"""What all files of frames have in common: every frame has an index and a time, and can be had at once."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.recording import DamagedMessageError
from posepipe.sources.base.frame_source import FrameSource

_log = logging.getLogger(__name__)


class IndexedSource(ABC):
    """Frames of a file or folder; a `FrameSource` that can also be entered anywhere.

    A format sets these fields when it is opened and answers `__getitem__`.
    """

    name: str  #: what the user called it
    intrinsics: Intrinsics  #: of the first frame
    shape: tuple[int, int]  #: rows and columns of the first frame
    timestamps_s: np.ndarray  #: float64 (N,), of every frame, seconds since the first
    start_time_ns: int = 0  #: time of the first, nanoseconds since the Unix epoch; 0 = unknown
    lens_from: str = ""  #: who says what `intrinsics` are, for people

    @property
    def frame_count(self) -> int | None:
        return len(self)

    def __len__(self) -> int:
        return len(self.timestamps_s)

    @abstractmethod
    def __getitem__(self, index: int) -> DepthFrame:
        """Frame ``index``, 0 <= index < len(self). Raises FormatError where the file is damaged there."""

    def __iter__(self) -> Iterator[DepthFrame]:
        return whole_frames(self, range(len(self)))

    def close(self) -> None:  # noqa: B027 - formats that read a file at a time have nothing to close
        """Close what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def whole_frames(source: FrameSource, rows: Iterable[int]) -> Iterator[DepthFrame]:
    """The frames of these places of a source, which rise, but not those that are damaged.

    Logs one warning for each stretch of damaged ones. Raises what the source raises of anything else.
    """
    lost: list[int] = []
    problem = ""
    for row in map(int, rows):
        try:
            frame = source[row]
        except DamagedMessageError as error:
            lost.append(row)
            problem = problem or str(error)
            continue
        _tell_lost(lost, problem)
        lost, problem = [], ""
        yield frame
    _tell_lost(lost, problem)


def _tell_lost(rows: list[int], problem: str) -> None:
    if rows:
        which = f"frame {rows[0]} is" if len(rows) == 1 else f"frames {rows[0]} to {rows[-1]} are"
        _log.warning("%s; %s left out", problem, which)
