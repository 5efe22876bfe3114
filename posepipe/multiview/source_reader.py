"""A source that is read ahead by a thread of its own, into a short queue of frames by time.

Of a file the queue waits for whoever takes the frames, of a live camera the newest frames push out older ones.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from typing import NamedTuple

import numpy as np

from posepipe.errors import PosepipeError
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
POLL_S = 0.05
ROUNDING_S = 1e-6
_FIRST_INTERVAL_S = 1 / 30
_INTERVALS = 15  # of a live camera, whose median is its frame interval


class FrameTime(NamedTuple):
    """When a frame was taken. Times of a later session of a file are later, whatever their seconds."""

    session: int  #: how often the times of the file have started anew
    seconds: float  #: on the clock of the first source

    def later(self, by_s: float) -> FrameTime:
        """Return a time of the same session, some seconds later."""
        return self._replace(seconds=self.seconds + by_s)

    def apart_s(self, other: FrameTime) -> float:
        """Seconds between two times; infinite between sessions."""
        return abs(self.seconds - other.seconds) if self.session == other.session else math.inf


class SourceReader:
    """A source that is read by a thread into a short queue.

    Parameters
    ----------
    source : FrameSource, open
    shift_s : added to its times
    changed : guards the queue, and is notified when it changes; callers of all methods but ``start``, ``stop`` and
        ``join`` hold it
    has_sessions : the times of a file may start anew
    """

    def __init__(self, source: FrameSource, shift_s: float, changed: threading.Condition, has_sessions: bool) -> None:
        self.live = source.frame_count is None
        self.queue: deque[tuple[FrameTime, DepthFrame]] = deque()
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
        return max(float(np.median(steps_s)), 2 * ROUNDING_S) if steps_s else _FIRST_INTERVAL_S

    @property
    def full(self) -> bool:
        """Whether the next frame of a live camera takes the place of an older one."""
        return self.live and len(self.queue) >= LIVE_FRAMES

    @property
    def head(self) -> FrameTime:
        """Time of the next frame."""
        return self.queue[0][0]

    def take(self) -> DepthFrame:
        """Remove the next frame from the queue."""
        self._changed.notify_all()
        return self.queue.popleft()[1]

    def drop_until(self, time: FrameTime) -> None:
        """Drop frames up to a time, and those of that time; a camera that is a little behind is waited for again."""
        while self.queue and self.head <= time:
            self.late = self.late and self.head.apart_s(time) >= PATIENCE * self.interval_s
            self.take()

    def nearest(self, now: FrameTime, reach_s: float) -> DepthFrame | None:
        """Take the frame nearest to a time, and drop earlier ones; None where it is out of reach."""
        give_up_s = time.monotonic() + self.interval_s
        while self.head < now and self._has_next(now, give_up_s):
            if self.queue[1][0] != self.head and self.queue[1][0].apart_s(now) >= self.head.apart_s(now):
                break
            self.take()
        if self.head.apart_s(now) <= reach_s:
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

    def _has_next(self, now: FrameTime, give_up_s: float) -> bool:
        """Whether the frame after the next is there.

        Of a file it is waited for. Of a live camera it is waited for until ``give_up_s``, where it should be nearer to
        a time than the next one: that one would be dropped, and the other come too late for ever.
        """
        while len(self.queue) < 2 and not self.ended:
            left_s = give_up_s - time.monotonic()
            if self.live and (left_s <= 0 or self.head.apart_s(now) <= self.interval_s / 2):
                break
            self._changed.wait(min(left_s, POLL_S) if self.live else POLL_S)
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
                self._changed.wait(POLL_S)
            now_s = frame.timestamp_s + self._shift_s
            if self.live and self._last_s is not None:
                self._steps_s.append(now_s - self._last_s)
            if self._has_sessions and self._last_s is not None and now_s < self._last_s - BACKWARDS_S:
                self._session += 1
            self._last_s = now_s
            self.queue.append((FrameTime(self._session, now_s), frame))
            self._frames += 1
            self._changed.notify_all()
            return not self._stopped
