"""The base of all file formats: every frame has an index and a time, and random access."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from types import TracebackType
from typing import Protocol, Self, TypeVar, overload

import numpy as np

from posepipe.camera import Intrinsics, UpVector
from posepipe.frames import DepthFrame
from posepipe.recording import DamagedMessageError
from posepipe.sources.base.frame_source import FrameSource, WrappedSource, row_of
from posepipe.sources.base.plausibility import PlausibilityCheck, known_metres

_Frame = TypeVar("_Frame", covariant=True)

_log = logging.getLogger(__name__)


class _Frames(Protocol[_Frame]):
    """Frames with random access."""

    def __getitem__(self, index: int, /) -> _Frame: ...


class IndexedSource(ABC):
    """Frames of a file or folder; a `FrameSource` with random access.

    The constructor of a format sets these fields. The format also implements `read_frame`, by `frame`.
    """

    name: str  #: name of the source, as the user gave it
    intrinsics: Intrinsics  #: of the first frame
    shape: tuple[int, int]  #: rows and columns of the first frame
    timestamps_s: np.ndarray  #: float64 (N,), times of all frames, seconds since the first
    start_time_ns: int = 0  #: time of the first frame, nanoseconds since the Unix epoch; 0 = unknown
    intrinsics_from: str = ""  #: origin of `intrinsics`, for users: a file, a topic, a preset
    depth_unit: str = ""  #: size of a grey level, for users, where users choose it; "" = the format does

    @property
    def frame_count(self) -> int | None:
        """Number of frames."""
        return len(self)

    def __len__(self) -> int:
        return len(self.timestamps_s)

    @overload
    def __getitem__(self, index: int) -> DepthFrame: ...
    @overload
    def __getitem__(self, index: slice) -> SourceView: ...
    def __getitem__(self, index: int | slice) -> DepthFrame | SourceView:
        """Frame ``index``, or a view of the frames of a slice; negative ones count from the end.

        Raises
        ------
        IndexError
            When there is no such frame.
        FormatError
            When the file is damaged there.
        """
        if isinstance(index, slice):
            return SourceView(self, range(len(self))[index])
        return self.read_frame(row_of(index, len(self), self.name))

    @abstractmethod
    def read_frame(self, index: int) -> DepthFrame:
        """Read frame ``index``, from 0 to ``len(self) - 1``. Raises FormatError where the file is damaged there."""

    def frame(
        self,
        index: int,
        depth: np.ndarray,
        intrinsics: Intrinsics | None = None,
        up: UpVector | None = None,
        colour: np.ndarray | None = None,
    ) -> DepthFrame:
        """Build frame ``index`` of depth (H, W), metres or uint16 millimetres; warn once where it is implausible.

        ``intrinsics`` are those of the frame, for sources of several cameras; None = those of the first frame. ``up``
        and ``colour`` are as in `DepthFrame`.
        """
        own = self.intrinsics if intrinsics is None else intrinsics
        frame = DepthFrame(known_metres(depth), own, float(self.timestamps_s[index]), index, up, colour)
        self.plausibility.inspect(depth, own)
        self.plausibility.inspect_times(self.timestamps_s)
        return frame

    @cached_property
    def plausibility(self) -> PlausibilityCheck:
        """Check of the depth, before it is cleaned, of the lens and of the times."""
        return PlausibilityCheck(self.name, len(self))

    def __iter__(self) -> Iterator[DepthFrame]:
        return undamaged_frames(self, range(len(self)))

    def refuse_closed(self, closed: bool) -> None:
        """Raise ValueError if the file was closed: its frames would be left out, one by one, as damaged."""
        if closed:
            raise ValueError(f"{self.name}: this source is closed; open it again to read its frames")

    def close(self) -> None:  # noqa: B027 - formats that read one file per frame have nothing to close
        """Close open files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SourceView(WrappedSource):
    """Some frames of a file, by their places; nothing is read before they are. The file is closed with the view.

    Each frame keeps its index and time in the file.

    Parameters
    ----------
    source : FrameSource with random access
    rows : places in the source
    """

    def __init__(self, source: FrameSource, rows: range) -> None:
        super().__init__(source)
        self._rows = rows

    @property
    def frame_count(self) -> int | None:
        """Number of frames in the view."""
        return len(self)

    @property
    def timestamps_s(self) -> np.ndarray:
        """Times of the frames in the view, float64 (N,), seconds since the first frame of the file."""
        return self._source.timestamps_s[np.asarray(self._rows, np.intp)]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> DepthFrame: ...
    @overload
    def __getitem__(self, index: slice) -> SourceView: ...
    def __getitem__(self, index: int | slice) -> DepthFrame | SourceView:
        """Frame at a place in the view, or a view of some of its frames; as of an `IndexedSource`."""
        if isinstance(index, slice):
            return SourceView(self._source, self._rows[index])
        return self._source[self._rows[row_of(index, len(self), self.name)]]

    def __iter__(self) -> Iterator[DepthFrame]:
        return undamaged_frames(self._source, self._rows)


def undamaged_frames(source: _Frames[_Frame], rows: Iterable[int]) -> Iterator[_Frame]:
    """Iterate over frames of a source and skip damaged ones.

    Logs one warning for each run of damaged frames. Other errors of the source are raised.

    Parameters
    ----------
    source : frames with random access, such as a file's
    rows : ascending positions of the frames
    """
    damaged: list[int] = []
    problem = ""
    for row in map(int, rows):
        try:
            frame = source[row]
        except DamagedMessageError as error:
            damaged.append(row)
            problem = problem or str(error)
            continue
        _warn_damaged(damaged, problem)
        damaged, problem = [], ""
        yield frame
    _warn_damaged(damaged, problem)


def _warn_damaged(rows: list[int], problem: str) -> None:
    if rows:
        which = f"frame {rows[0]} is" if len(rows) == 1 else f"frames {rows[0]} to {rows[-1]} are"
        _log.warning("%s; %s left out", problem, which)
