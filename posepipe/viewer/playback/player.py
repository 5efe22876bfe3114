"""Which frame of a recording is shown when: play, pause, step, scrub, speed. It knows neither frames nor pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

USUAL_STEP_S = 1 / 30
"""Between frames that have no times of their own."""
SHORTEST_STEP_S, LONGEST_STEP_S = 1e-3, 1.0
"""What is less is no time; and nobody waits longer for the next frame, whatever the recording did meanwhile."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def playing_times(timestamps_s: np.ndarray) -> np.ndarray:
    """When frames are due, seconds after the first: float64 (N,), rising.

    Frames that share a time, or step back, follow each other at the usual pace of the rest; long gaps are cut.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(np.asarray(timestamps_s, float))
    good = np.isfinite(steps) & (steps >= SHORTEST_STEP_S)
    steps = np.where(good, steps, float(np.median(steps[good])) if good.any() else USUAL_STEP_S)
    return np.concatenate([[0.0], np.cumsum(np.minimum(steps, LONGEST_STEP_S))])[: len(timestamps_s)]


@dataclass(frozen=True, slots=True)
class Turn:
    """A frame whose turn it is."""

    row: int  #: place in the recording
    follows: bool  #: goes on from the one before; False after a jump, when nothing that is remembered holds


class Player:
    """Gives frames their turn. Commands may come from any thread, `next` and `wait` from one.

    In real time, when frames are due faster than they are asked for, the newest wins and those between are counted as
    dropped; with `every_frame`, playing takes as long as it takes. The clock starts after the first frame of a
    stretch was dealt with: what a first frame costs more than others drops nothing.

    Parameters
    ----------
    timestamps_s : float (N,), of the frames; at least one
    """

    def __init__(self, timestamps_s: np.ndarray, clock: Callable[[], float] = time.monotonic) -> None:
        if len(timestamps_s) == 0:
            raise ValueError("there are no frames to play")
        self._due_s = playing_times(timestamps_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._row, self._wanted = -1, 0  # the last that had its turn; the one asked for, -1 = the next when it is due
        self._playing, self._every, self._speed, self._dropped = True, False, 1.0, 0
        self._anchor: tuple[float, float] | None = None  # clock and due time that belong together; None = with the next

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self._due_s)

    @property
    def row(self) -> int:
        """The last frame that had its turn; -1 = none yet."""
        return self._row

    @property
    def playing(self) -> bool:
        return self._playing

    @property
    def ended(self) -> bool:
        """Whether the last frame has been shown."""
        return self._row == self.count - 1 and self._wanted < 0

    @property
    def dropped(self) -> int:
        """How many frames were left out because newer ones were due."""
        return self._dropped

    def play(self) -> None:
        """Go on; from the end, start over."""
        with self._lock:
            if self._row == self.count - 1 and self._wanted < 0:
                self._wanted = 0
            self._playing, self._anchor = True, None
        self._news.set()

    def pause(self) -> None:
        with self._lock:
            self._playing = False
        self._news.set()

    def seek(self, row: int) -> None:
        """Show this frame next."""
        with self._lock:
            self._wanted = min(max(row, 0), self.count - 1)
        self._news.set()

    def step(self, by: int) -> None:
        """Pause, and show the frame so many further on."""
        with self._lock:
            self._playing = False
            origin = self._row if self._wanted < 0 else self._wanted
            self._wanted = min(max(origin + by, 0), self.count - 1)
        self._news.set()

    def set_speed(self, speed: float) -> None:
        """How many recorded seconds a second; above 0."""
        with self._lock:
            self._speed, self._anchor = speed, None
        self._news.set()

    def set_every_frame(self, every: bool) -> None:
        """Whether to show all frames, however long that takes."""
        with self._lock:
            self._every, self._anchor = every, None
        self._news.set()

    def next(self) -> Turn | None:
        """The frame to show now; None while there is none."""
        with self._lock:
            if self._wanted >= 0:
                return self._jump()
            if not self._playing or self._row == self.count - 1:
                self._playing = False
                return None
            now_s = self._now_s()
            if self._due_s[self._row + 1] > now_s:
                return None
            row = self._row + 1
            if self._every:
                if row + 1 < self.count and self._due_s[row + 1] <= now_s:  # late: the clock waits for us
                    self._anchor = (self._clock(), float(self._due_s[row]))
            else:
                newest = int(np.searchsorted(self._due_s, now_s, side="right")) - 1
                self._dropped += newest - row
                row = newest
            self._row = row
            return Turn(row, follows=True)

    def wait(self, most_s: float) -> None:
        """Return when the next frame is due, when a command came, or after so many seconds."""
        with self._lock:
            if self._wanted >= 0:
                return
            if self._playing and self._row < self.count - 1:
                due_s = (self._due_s[self._row + 1] - self._now_s()) / self._speed
                most_s = max(0.0, min(most_s, due_s))
        self._news.wait(most_s)
        self._news.clear()

    def _jump(self) -> Turn:
        row, self._wanted = self._wanted, -1
        follows, self._row, self._anchor = row == self._row + 1, row, None
        return Turn(row, follows)

    def _now_s(self) -> float:
        """The recording's time now; the clock is started when it was not."""
        if self._anchor is None:
            self._anchor = (self._clock(), float(self._due_s[self._row]))
        started, due_s = self._anchor
        return due_s + (self._clock() - started) * self._speed
