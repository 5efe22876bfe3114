"""Frames of several sources, paired by time.

Each source is read by a thread of its own, a few frames ahead. Of files every frame set waits for the next frame of
all: the pairs do not depend on speed. Of a live camera the newest frames are kept, and one that is late is not waited
for again until it has a frame. Where its next frame should be nearer than the one that is there, it is waited for.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from posepipe.errors import PosepipeError, SourceError
from posepipe.frames import DepthFrame
from posepipe.results import BACKWARDS_S
from posepipe.sources import FrameSource

_log = logging.getLogger(__name__)

QUEUE_FRAMES, LIVE_FRAMES = 4, 2
"""Maximum number of frames of a file, and of a live camera, that are read and not yet used."""
PATIENCE = 2.0
"""Time that a frame set waits for a live camera that was in time before, frame intervals."""
UNPAIRED_SETS = 60
"""Frame sets without a frame of a live camera that gives some, until one line tells of it."""
_FIRST_INTERVAL_S = 1 / 30
_INTERVALS = 15  # of a live camera, whose median is its frame interval
_POLL_S = 0.05
_ROUNDING_S = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class FrameSet:
    """Frames of one time."""

    index: int  #: counted from 0
    timestamp_s: float  #: on the clock of the first source
    frames: tuple[DepthFrame | None, ...]  #: of every source; None = it has none at this time


class _Time(NamedTuple):
    """When a frame was taken. Times of a later session of a file are later, whatever their seconds."""

    session: int  #: how often the times of the file have started anew
    seconds: float  #: on the clock of the first source


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
        self._readers: list[_Reader] = []
        self._now = _Time(0, -math.inf)  # of the last frame set
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
            self._readers = [_Reader(source, shift_s, self._changed, of_files) for source, shift_s in pairs]
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
                self._changed.wait(_POLL_S)
            for reader in self._readers:
                reader.late = not reader.queue and not reader.ended
                reader.raise_failure()
            return any(each.queue for each in self._readers)

    def _missing(self) -> list[_Reader]:
        """Readers that have not ended and have no frame, once those whose time is over are dropped."""
        for reader in self._readers[1:]:  # the first leads: it repeats a time where its frames do
            reader.drop_until(self._now)
        return [each for each in self._readers if not each.queue and not each.ended]

    def _next_frame_set(self, index: int) -> FrameSet:
        with self._changed:
            waiting = [each for each in self._readers if each.queue]
            first = min(each.head for each in waiting)
            # a full queue drops frames: for another camera, whose clock or frames are behind, it would do so for ever
            due = [each for each in waiting if each.full or each.head < _later(first, each.interval_s - _ROUNDING_S)]
            leader = due[0]
            now, reach_s = leader.head, leader.interval_s / 2 + _ROUNDING_S
            self._now = now
            own = leader.take()  # before the others are waited for
            frames = tuple(
                own if each is leader else each.nearest(now, reach_s) if each.queue else None for each in self._readers
            )
            for each, frame in zip(self._readers, frames, strict=True):
                each.count_frame_set(now.seconds, frame is not None)
            self._changed.notify_all()
        return FrameSet(index, now.seconds, frames)


class _Reader:
    """A source that is read by a thread into a short queue; all but the thread hold ``changed``."""

    def __init__(self, source: FrameSource, shift_s: float, changed: threading.Condition, has_sessions: bool) -> None:
        self.live = source.frame_count is None
        self.queue: deque[tuple[_Time, DepthFrame]] = deque()
        self.ended = False
        self.late = False
        self._source, self._shift_s, self._changed = source, shift_s, changed
        self._stopped = False
        self._frames = self._frames_before = 0  # that were read, in all and until the last frame set
        self._unpaired, self._told = 0, False  # frame sets in a row without a frame of this camera though it gave some
        self._has_sessions, self._session = has_sessions, 0
        self._last_s: float | None = None  # time of the last frame that was read
        self._failure: BaseException | None = None
        self._steps_s: deque[float] = deque(maxlen=_INTERVALS)
        self._thread = threading.Thread(target=self._read, name=source.name, daemon=True)
        if not self.live and (steps_s := np.diff(source.timestamps_s)).max(initial=0.0) > 0:
            self._steps_s.append(float(np.median(steps_s[steps_s > 0])))

    @property
    def interval_s(self) -> float:
        """Median time between frames."""
        steps_s = [step_s for step_s in self._steps_s if step_s > 0]
        return max(float(np.median(steps_s)), 2 * _ROUNDING_S) if steps_s else _FIRST_INTERVAL_S

    @property
    def full(self) -> bool:
        """Whether the next frame of a live camera takes the place of an older one."""
        return self.live and len(self.queue) >= LIVE_FRAMES

    @property
    def head(self) -> _Time:
        """Time of the next frame."""
        return self.queue[0][0]

    def take(self) -> DepthFrame:
        """Remove the next frame from the queue."""
        self._changed.notify_all()
        return self.queue.popleft()[1]

    def drop_until(self, time: _Time) -> None:
        """Drop frames up to a time, and those of that time; a camera that is a little behind is waited for again."""
        while self.queue and self.head <= time:
            self.late = self.late and _apart_s(self.head, time) >= PATIENCE * self.interval_s
            self.take()

    def nearest(self, now: _Time, reach_s: float) -> DepthFrame | None:
        """Take the frame nearest to a time, and drop earlier ones; None where it is out of reach."""
        give_up_s = time.monotonic() + self.interval_s
        while self.head < now and self._has_next(now, give_up_s):
            if self.queue[1][0] != self.head and _apart_s(self.queue[1][0], now) >= _apart_s(self.head, now):
                break
            self.take()
        if _apart_s(self.head, now) <= reach_s:
            return self.take()
        if self.head < now:
            self.take()
        return None

    def count_frame_set(self, now_s: float, used: bool) -> None:
        """Count a frame set; log once where a live camera gives frames and all are of other times."""
        came, self._frames_before = self._frames > self._frames_before, self._frames
        if used:
            self._unpaired = 0
        elif self.live and came and self._last_s is not None:
            self._unpaired += 1
            if self._unpaired >= UNPAIRED_SETS and not self._told:
                self._told = True
                behind_s = now_s - self._last_s
                _log.warning(
                    "%s: its frames are left out, the newest is %.2f s %s those of the other cameras; does it send in"
                    " time, and do the clocks agree?",
                    *(self._source.name, abs(behind_s), "older than" if behind_s > 0 else "newer than"),
                )

    def _has_next(self, now: _Time, give_up_s: float) -> bool:
        """Whether the frame after the next is there.

        Of a file it is waited for. Of a live camera it is waited for until ``give_up_s``, where it should be nearer to
        a time than the next one: that one would be dropped, and the other come too late for ever.
        """
        while len(self.queue) < 2 and not self.ended:
            left_s = give_up_s - time.monotonic()
            if self.live and (left_s <= 0 or _apart_s(self.head, now) <= self.interval_s / 2):
                break
            self._changed.wait(min(left_s, _POLL_S) if self.live else _POLL_S)
        return len(self.queue) > 1

    def raise_failure(self) -> None:
        """Raise what ended the source, but for a camera or file that failed after its first frame."""
        if self._failure is not None and not (self._frames and isinstance(self._failure, PosepipeError | OSError)):
            raise self._failure

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end after the frame that it reads."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the thread."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _read(self) -> None:
        try:
            for frame in self._source:
                if not self._put(frame):
                    break
        except BaseException as error:  # the consumer raises it, see `raise_failure`
            with self._changed:
                self._failure = error
                if self._frames and not self._stopped and isinstance(error, PosepipeError | OSError):
                    _log.warning("%s; the other cameras go on", error)
        finally:
            with self._changed:
                self.ended = True
                self._changed.notify_all()

    def _put(self, frame: DepthFrame) -> bool:
        """Queue a frame once there is space, of a live camera in place of the oldest; False when stopped."""
        with self._changed:
            if self.full:
                self.queue.popleft()
            while len(self.queue) >= QUEUE_FRAMES and not self._stopped:
                self._changed.wait(_POLL_S)
            now_s = frame.timestamp_s + self._shift_s
            if self.live and self._last_s is not None:
                self._steps_s.append(now_s - self._last_s)
            if self._has_sessions and self._last_s is not None and now_s < self._last_s - BACKWARDS_S:
                self._session += 1
            self._last_s = now_s
            self.queue.append((_Time(self._session, now_s), frame))
            self._frames += 1
            self._changed.notify_all()
            return not self._stopped


def _later(time: _Time, by_s: float) -> _Time:
    return time._replace(seconds=time.seconds + by_s)


def _apart_s(one: _Time, other: _Time) -> float:
    """Seconds between two times; infinite between sessions."""
    return abs(one.seconds - other.seconds) if one.session == other.session else math.inf


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
