"""Playback of a source: time range, frame step, speed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.base.frame_source import FrameSource, WrappedSource, row_of
from posepipe.sources.base.indexed_source import IndexedSource, undamaged_frames
from posepipe.sources.base.plausibility import MAX_GAP_S, max_step_s


class SlicedSource(WrappedSource):
    """Some frames of a source. Each keeps its index and time in that source.

    Parameters
    ----------
    source : FrameSource
    start_s : minimum time of a frame, seconds since the first frame of the source
    end_s : maximum time of a frame; None = no limit
    frame_step : play one frame in ``frame_step``, starting with the first in the time range

    Raises
    ------
    ValueError
        When ``frame_step`` is below 1, or the end is before the start.
    """

    def __init__(
        self, source: FrameSource, start_s: float = 0.0, end_s: float | None = None, frame_step: int = 1
    ) -> None:
        super().__init__(source)
        if frame_step < 1:
            raise ValueError(f"frame step: wanted 1 or more, got {frame_step}")
        self._start_s, self._end_s, self._step = start_s, np.inf if end_s is None else end_s, frame_step
        if not self._start_s <= self._end_s:
            raise ValueError(f"the end, {end_s} s, lies before the start, {start_s} s")
        self._rows: np.ndarray | None = None
        if source.frame_count is not None and not self._plays_all:
            times = source.timestamps_s
            inside = np.nonzero((times >= self._start_s) & (times <= self._end_s))[0]
            self._rows = inside[::frame_step]
            if isinstance(source, IndexedSource) and len(inside):
                source.plausibility.played = slice(inside[0], inside[-1] + 1)

    @property
    def _plays_all(self) -> bool:
        return (self._start_s, self._end_s, self._step) == (0, np.inf, 1)

    @property
    def frame_count(self) -> int | None:
        """Number of selected frames; None for a camera."""
        return self._source.frame_count if self._rows is None else len(self._rows)

    @property
    def timestamps_s(self) -> np.ndarray:
        """Times of the selected frames, float64 (N,), seconds since the first frame of the source."""
        times = self._source.timestamps_s
        return times if self._rows is None else times[self._rows]

    def __getitem__(self, index: int) -> DepthFrame:
        if self._rows is None or isinstance(index, slice):
            return super().__getitem__(index)
        return super().__getitem__(int(self._rows[row_of(index, len(self._rows), self.name)]))

    def __iter__(self) -> Iterator[DepthFrame]:
        if self._rows is not None:
            return undamaged_frames(self._source, self._rows)
        return iter(self._source) if self._plays_all else self._live_frames()

    def _live_frames(self) -> Iterator[DepthFrame]:
        count = 0
        for frame in self._source:
            if frame.timestamp_s > self._end_s:
                return
            if frame.timestamp_s >= self._start_s:
                if count % self._step == 0:
                    yield frame
                count += 1


class NonEmptySource(WrappedSource):
    """Frames of another source. Raises SourceError instead of ending without any frame.

    Sinks replace older results on the first frame. This error keeps the older results.
    """

    def __iter__(self) -> Iterator[DepthFrame]:
        empty = True
        for frame in self._source:
            empty = False
            yield frame
        if empty:
            raise SourceError(self.name, "no frame came; what was written before is kept")


class PacedSource(WrappedSource):
    """Frames of a recording in real time: none earlier than the camera delivered it.

    A slower consumer gets every frame, late; nothing is dropped. Where times go back, as between the recordings of a
    dataset, the clock starts anew. A gap, as a warning calls it, is shortened: its frame comes after 2 seconds, or 10
    frames of a slow recording, and the clock goes on from there.

    Parameters
    ----------
    source : FrameSource
    clock : current time, seconds
    sleep : waits for some seconds
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
        longest_s = MAX_GAP_S if self.frame_count is None else max_step_s(self.timestamps_s)
        offset, last_s = 0.0, math.inf
        for frame in self._source:
            if frame.timestamp_s < last_s:  # also the first frame
                offset = self._clock() - frame.timestamp_s
            else:
                offset -= max(0.0, frame.timestamp_s - last_s - longest_s)
            last_s = frame.timestamp_s
            wait = offset + frame.timestamp_s - self._clock()
            if wait > 0:
                self._sleep(wait)
            yield frame
