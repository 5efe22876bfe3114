"""The schedule of a recording: play, pause, step, seek and speed. It depends neither on frames nor on the page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DEFAULT_STEP_S = 1 / 30
"""Step between frames without timestamps, seconds."""
MIN_STEP_S, MAX_STEP_S = 1e-3, 1.0
"""Steps below the minimum count as missing timestamps. Steps above the maximum are shortened to it."""
LOOP_PAUSE_S = 1.0
"""How long a recording that plays again stays at its last frame, seconds."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def due_times(timestamps_s: np.ndarray) -> np.ndarray:
    """Times when frames are due, seconds after the first: float64 (N,), increasing.

    A step that is missing or negative is replaced by the median of the others. Long steps are cut to MAX_STEP_S.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(np.asarray(timestamps_s, float))
    valid = np.isfinite(steps) & (steps >= MIN_STEP_S)
    steps = np.where(valid, steps, float(np.median(steps[valid])) if valid.any() else DEFAULT_STEP_S)
    return np.concatenate([[0.0], np.cumsum(np.minimum(steps, MAX_STEP_S))])[: len(timestamps_s)]


@dataclass(frozen=True, slots=True)
class DueFrame:
    """A frame that is to be shown now."""

    row: int  #: index in the recording
    follows: bool  #: it continues the previous frame; False after a jump


class Player:
    """Schedules frames. Commands may come from any thread, `next` and `wait` from one only.

    In real time, if frames are due faster than they are requested, the newest is shown and the others count as dropped.
    With `set_every_frame` no frame is dropped. The clock starts after the first frame of a stretch was processed, so a
    slow first frame drops nothing.

    Parameters
    ----------
    timestamps_s : float (N,), N > 0, of the frames
    clock : returns the time, seconds

    Raises
    ------
    ValueError
        If there are no frames.
    """

    def __init__(self, timestamps_s: np.ndarray, clock: Callable[[], float] = time.monotonic) -> None:
        if len(timestamps_s) == 0:
            raise ValueError("there are no frames to play")
        self._due_s = due_times(timestamps_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._row, self._requested = -1, 0  # the last frame given; the frame asked for, -1 = the next one when due
        self._playing, self._every, self._speed, self._dropped = True, False, 1.0, 0
        self._loops: Callable[[], bool] = lambda: False
        self._watched: Callable[[], bool] = lambda: True
        self._anchor: tuple[float, float] | None = None  # a clock time and its due time; None = set at the next frame

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self._due_s)

    @property
    def row(self) -> int:
        """Index of the last frame given; -1 = none yet."""
        return self._row

    @property
    def playing(self) -> bool:
        """Whether frames follow each other in time; False = paused."""
        return self._playing

    @property
    def ended(self) -> bool:
        """Whether the last frame was given."""
        return self._row == self.count - 1 and self._requested < 0

    @property
    def dropped(self) -> int:
        """Number of frames skipped because newer ones were due."""
        return self._dropped

    def play(self) -> None:
        """Continue; at the end, start from the beginning."""
        with self._lock:
            if self._row == self.count - 1 and self._requested < 0:
                self._requested = 0
            self._playing, self._anchor = True, None
        self._changed.set()

    def pause(self) -> None:
        """Stop at the current frame."""
        with self._lock:
            self._playing = False
        self._changed.set()

    def seek(self, row: int) -> None:
        """Show the frame with this index next; beyond the ends, the first or last one."""
        with self._lock:
            self._requested = min(max(row, 0), self.count - 1)
        self._changed.set()

    def step(self, by: int) -> None:
        """Pause, and show the frame ``by`` frames ahead; a negative number steps back."""
        with self._lock:
            self._playing = False
            origin = self._row if self._requested < 0 else self._requested
            self._requested = min(max(origin + by, 0), self.count - 1)
        self._changed.set()

    def set_speed(self, speed: float) -> None:
        """Set the ratio of recorded time to real time; above 0."""
        with self._lock:
            self._speed, self._anchor = speed, None
        self._changed.set()

    def set_every_frame(self, every: bool) -> None:
        """Choose whether to show all frames, even if that takes longer than the recording."""
        with self._lock:
            self._every, self._anchor = every, None
        self._changed.set()

    def loop_while(self, loops: Callable[[], bool], watched: Callable[[], bool] = lambda: True) -> None:
        """Play again from the start at every end where ``loops`` returns True, as soon as ``watched`` does."""
        self._loops, self._watched = loops, watched

    def next(self) -> DueFrame | None:
        """Return the frame to show now; None if none is due."""
        with self._lock:
            if self._requested >= 0:
                return self._jump()
            if not self._playing:
                return None
            now_s = self._now_s()
            if self._row == self.count - 1:
                return self._end(now_s)
            if self._due_s[self._row + 1] > now_s:
                return None
            row = self._row + 1
            if self._every:
                if row + 1 < self.count and self._due_s[row + 1] <= now_s:  # behind: restart the clock at this frame
                    self._anchor = (self._clock(), float(self._due_s[row]))
            else:
                newest = int(np.searchsorted(self._due_s, now_s, side="right")) - 1
                self._dropped += newest - row
                row = newest
            self._row = row
            return DueFrame(row, follows=True)

    def wait(self, timeout_s: float) -> None:
        """Return when the next frame is due, after a command, or after the timeout."""
        with self._lock:
            if self._requested >= 0:
                return
            if self._playing and self._row < self.count - 1:
                due_s = (self._due_s[self._row + 1] - self._now_s()) / self._speed
                timeout_s = max(0.0, min(timeout_s, due_s))
        self._changed.wait(timeout_s)
        self._changed.clear()

    def _end(self, now_s: float) -> DueFrame | None:
        """Stop after the last frame, or return the first one where playing loops and somebody watches."""
        if not self._loops():
            self._playing = False
        elif now_s >= self._due_s[-1] + LOOP_PAUSE_S and self._watched():
            self._requested = 0
            return self._jump()
        return None

    def _jump(self) -> DueFrame:
        row, self._requested = self._requested, -1
        follows, self._row, self._anchor = row == self._row + 1, row, None
        return DueFrame(row, follows)

    def _now_s(self) -> float:
        """Current time in the recording; starts the clock if it is not running."""
        if self._anchor is None:
            self._anchor = (self._clock(), float(self._due_s[self._row]))
        started, due_s = self._anchor
        return due_s + (self._clock() - started) * self._speed
