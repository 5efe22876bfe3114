"""Frames of several sources, paired by time.

Of files every frame set waits for the next frame of all: the pairs do not depend on speed. A live camera that is late
is not waited for again until it has a frame. Where its next frame should be nearer than the one that is there, it is
waited for.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.multiview.source_reader import PATIENCE, POLL_S, ROUNDING_S, FrameTime, SourceReader
from posepipe.sources import FrameSource


@dataclass(frozen=True, slots=True, eq=False)
class FrameSet:
    """Frames of one time."""

    index: int  #: counted from 0
    timestamp_s: float  #: on the clock of the first source
    frames: tuple[DepthFrame | None, ...]  #: of every source; None = it has none at this time


class FrameSets:
    """Frame sets of several sources; a context manager to iterate over once.

    The leader of a frame set is the first source whose next frame is due within a frame interval: usually the first of
    all. Every other source gives its nearest frame, if that lies within half a frame interval of the leader's. A frame
    is used once; frames that are nearest to no frame set are dropped: so are doubled ones, and those of all but the
    first source that come after a frame set of their time or a later one. Where the times of files start anew, as
    between the recordings of a dataset, each session is paired by itself. A source that ends or fails does not end the
    others.

    Parameters
    ----------
    sources : at least two; entered and closed with this object
    offsets_s : added to the times of each source for those of the first; None = no offset. Sources that all know their
        date are also paired by it

    Raises
    ------
    SourceError
        When two files share no time, a source fails before its first frame, or no source has a frame.
    """

    def __init__(self, sources: Sequence[FrameSource], offsets_s: Sequence[float] | None = None) -> None:
        self._sources = sources
        self._offsets_s = [0.0] * len(sources) if offsets_s is None else list(offsets_s)
        self._changed = threading.Condition()  # guards the queues of all readers
        self._readers: list[SourceReader] = []
        self._now = FrameTime(0, -math.inf)  # of the last frame set
        self.shifts_s: list[float] = []  #: added to the times of each source for those of the first; known once open
        self._open = ExitStack()

    @property
    def frame_count(self) -> int | None:
        """Number of frames of the first source, for progress bars; None for a live camera."""
        return self._sources[0].frame_count

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            for source in self._sources:
                opening.enter_context(source)
            self.shifts_s = clock_shifts_s(self._sources, self._offsets_s)
            _check_overlap(self._sources, self.shifts_s)
            pairs = zip(self._sources, self.shifts_s, strict=True)
            of_files = all(source.frame_count is not None for source in self._sources)
            self._readers = [SourceReader(source, shift_s, self._changed, of_files) for source, shift_s in pairs]
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for reader in self._readers:
            reader.stop()
        for reader in self._readers:
            reader.join(0 if reader.live else None)
        self._open.__exit__(kind, error, trace)  # ends the threads of live cameras, too
        for reader in self._readers:
            reader.join()

    def __iter__(self) -> Iterator[FrameSet]:
        for reader in self._readers:
            reader.start()
        index = 0
        while True:
            with self._changed:  # held throughout: a frame that came between the two could turn back the time
                frame_set = self._next_frame_set(index) if self._wait_for_heads() else None
            if frame_set is None:
                break
            yield frame_set
            index += 1
        if not index:
            raise SourceError(self._sources[0].name, "no frame came from any camera; what was written before is kept")

    def _wait_for_heads(self) -> bool:
        """Wait until every reader has a frame, has ended, or is late; False when all have ended."""
        with self._changed:
            began_s = None
            while missing := self._missing():
                waiting = [each for each in self._readers if each.queue]
                if waiting and all(each.live for each in missing):
                    began_s = time.monotonic() if began_s is None else began_s
                    patience_s = PATIENCE * max(each.interval_s for each in waiting)
                    if all(each.late for each in missing) or time.monotonic() - began_s > patience_s:
                        break
                self._changed.wait(POLL_S)
            for reader in self._readers:
                reader.late = not reader.queue and not reader.ended
                reader.raise_failure()
            return any(each.queue for each in self._readers)

    def _missing(self) -> list[SourceReader]:
        """Readers that have not ended and have no frame, once those whose time is over are dropped."""
        for reader in self._readers[1:]:  # the first leads: it repeats a time where its frames do
            reader.drop_until(self._now)
        return [each for each in self._readers if not each.queue and not each.ended]

    def _next_frame_set(self, index: int) -> FrameSet:
        with self._changed:
            waiting = [each for each in self._readers if each.queue]
            first = min(each.head for each in waiting)
            # a full queue drops frames: for another camera, whose clock or frames are behind, it would do so for ever
            due = [each for each in waiting if each.full or each.head < first.later(each.interval_s - ROUNDING_S)]
            leader = due[0]
            now, reach_s = leader.head, leader.interval_s / 2 + ROUNDING_S
            self._now = now
            own = leader.take()  # before the others are waited for
            frames = tuple(
                own if each is leader else each.nearest(now, reach_s) if each.queue else None for each in self._readers
            )
            for each, frame in zip(self._readers, frames, strict=True):
                each.count_frame_set(now.seconds, frame is not None)
            self._changed.notify_all()
        return FrameSet(index, now.seconds, frames)


def clock_shifts_s(sources: Sequence[FrameSource], offsets_s: Sequence[float]) -> list[float]:
    """Seconds to add to the times of each source for those of the first: by their dates, where all have one."""
    starts_ns = [source.start_time_ns for source in sources]
    dated = all(starts_ns)
    return [
        offset_s + ((start_ns - starts_ns[0]) / 1e9 if dated else 0.0)
        for offset_s, start_ns in zip(offsets_s, starts_ns, strict=True)
    ]


def _check_overlap(sources: Sequence[FrameSource], shifts_s: Sequence[float]) -> None:
    """Refuse two files that were recorded one after the other."""
    times_s = [
        None if source.frame_count is None else source.timestamps_s + shift_s
        for source, shift_s in zip(sources, shifts_s, strict=True)
    ]
    spans_s = [None if times is None else (times.min(), times.max()) for times in times_s]
    first_s = spans_s[0]
    for source, span_s in zip(sources[1:], spans_s[1:], strict=True):
        if first_s is None or span_s is None or (span_s[0] <= first_s[1] and first_s[0] <= span_s[1]):
            continue
        raise SourceError(
            source.name,
            f"its frames are of {span_s[0]:.1f} to {span_s[1]:.1f} s and those of {sources[0].name} of {first_s[0]:.1f}"
            f" to {first_s[1]:.1f} s by their clocks: they share no moment; are they of one recording session?",
        )
