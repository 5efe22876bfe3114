"""How a source is played: from when to when, how many of its frames, how fast."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.base.frame_source import FrameSource, WrappedSource
from posepipe.sources.base.indexed_source import whole_frames


class StretchOfSource(WrappedSource):
    """Some frames of a source; each keeps the index and the time that it has there.

    Parameters
    ----------
    source : FrameSource
    start_s : first time that is played, seconds since the source's first frame
    end_s : last time that is played; None = to the end
    every : each so many-th frame, counted from the first that is played

    Raises
    ------
    ValueError
        For an ``every`` below 1, or an end before the start.
    """

    def __init__(self, source: FrameSource, start_s: float = 0.0, end_s: float | None = None, every: int = 1) -> None:
        super().__init__(source)
        if every < 1:
            raise ValueError(f"every: wanted 1 or more, got {every}")
        self._start_s, self._end_s, self._every = start_s, np.inf if end_s is None else end_s, every
        if not self._start_s <= self._end_s:
            raise ValueError(f"the end, {end_s} s, lies before the start, {start_s} s")
        self._rows: np.ndarray | None = None
        if source.frame_count is not None and not self._plays_all:
            times = source.timestamps_s
            self._rows = np.nonzero((times >= self._start_s) & (times <= self._end_s))[0][::every]

    @property
    def _plays_all(self) -> bool:
        return (self._start_s, self._end_s, self._every) == (0, np.inf, 1)

    @property
    def frame_count(self) -> int | None:
        return self._source.frame_count if self._rows is None else len(self._rows)

    @property
    def timestamps_s(self) -> np.ndarray:
        times = self._source.timestamps_s
        return times if self._rows is None else times[self._rows]

    def __getitem__(self, index: int) -> DepthFrame:
        return self._source[index if self._rows is None else int(self._rows[index])]

    def __iter__(self) -> Iterator[DepthFrame]:
        if self._rows is not None:
            return whole_frames(self._source, self._rows)
        return iter(self._source) if self._plays_all else self._as_they_come()

    def _as_they_come(self) -> Iterator[DepthFrame]:
        count = 0
        for frame in self._source:
            if frame.timestamp_s > self._end_s:
                return
            if frame.timestamp_s >= self._start_s:
                if count % self._every == 0:
                    yield frame
                count += 1


class NeverEmptySource(WrappedSource):
    """Frames of another source; SourceError where not one comes, so that nothing takes the place of older results."""

    def __iter__(self) -> Iterator[DepthFrame]:
        came = False
        for frame in self._source:
            came = True
            yield frame
        if not came:
            raise SourceError(self.name, "no frame came; what was written before is kept")


class PacedSource(WrappedSource):
    """Frames no sooner than a camera would give them: a recording in real time.

    Who is slower than that gets every frame, late; nothing is dropped.
    """

    def __init__(
        self,
        source: FrameSource,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(source)
        self._clock, self._sleep = clock, sleep

    def __iter__(self) -> Iterator[DepthFrame]:
        offset = None
        for frame in self._source:
            if offset is None:
                offset = self._clock() - frame.timestamp_s
            wait = offset + frame.timestamp_s - self._clock()
            if wait > 0:
                self._sleep(wait)
            yield frame
