"""What the view shows next: a frame of a recording whose turn it is, or the newest of a camera."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from posepipe.frames import DepthFrame
from posepipe.recording import DamagedMessageError
from posepipe.viewer.playback.player import LONGEST_STEP_S, Player

_log = logging.getLogger(__name__)

Item = TypeVar("Item", covariant=True)
JOIN_S = 0.5
"""A source that has not given its next frame by then is left to whoever closes it."""


@dataclass(frozen=True, slots=True)
class Shot(Generic[Item]):
    """What to show, and whether it goes on from what was shown before."""

    item: Item
    follows: bool


class Feed(Protocol[Item]):
    """Gives shots one after another; `next` and `wait` are called in one thread."""

    @property
    def ended(self) -> bool:
        """Whether the last has been given, until somebody asks for another."""

    def next(self) -> Shot[Item] | None:
        """What to show now; None while there is nothing new."""

    def wait(self, most_s: float) -> None:
        """Return when there may be something new, at the latest after so many seconds."""

    def facts(self) -> list[tuple[str, str]]:
        """How far it is, for people: (value, what it is)."""

    def close(self) -> None:
        """Stop."""


class PlayedFeed(Generic[Item]):
    """What can be entered anywhere, as a player plays it. Frames that are damaged are passed over, each warned of once.

    Parameters
    ----------
    item_at : what stands in a row; raises DamagedMessageError where that cannot be read
    player : says which row when
    """

    def __init__(self, item_at: Callable[[int], Item], player: Player) -> None:
        self._item_at, self.player = item_at, player
        self._damaged: set[int] = set()
        self._jumped = False  # to a damaged frame: the next goes on from nothing that was shown

    @property
    def ended(self) -> bool:
        return self.player.ended

    def facts(self) -> list[tuple[str, str]]:
        dropped = self.player.dropped + len(self._damaged)
        return [(f"{self.player.row + 1}/{self.player.count}", "frame"), (str(dropped), "dropped")]

    def next(self) -> Shot[Item] | None:
        turn = self.player.next()
        if turn is None:
            return None
        self._jumped |= not turn.follows
        try:
            item = self._item_at(turn.row)
        except DamagedMessageError as error:
            if turn.row not in self._damaged:
                _log.warning("%s; frame %d is left out", error, turn.row)
            self._damaged.add(turn.row)
            return None
        jumped, self._jumped = self._jumped, False
        return Shot(item, follows=not jumped)

    def wait(self, most_s: float) -> None:
        self.player.wait(most_s)

    def close(self) -> None:
        pass


class StreamFeed:
    """Frames as they come, read in a thread of their own, so that the page answers while a camera is silent.

    A frame is taken from the source when the one before has been dealt with: what comes meanwhile is the source's
    to keep or to drop, and what waits here never grows old.

    Parameters
    ----------
    frames : the source, open
    paced : frames come no sooner than their times say: a file, which would give them at once
    dropped : how many the source has dropped so far
    """

    def __init__(
        self, frames: Iterable[DepthFrame], paced: bool = False, dropped: Callable[[], int] = lambda: 0
    ) -> None:
        self._frames, self._paced, self._source_dropped = frames, paced, dropped
        self._frame: DepthFrame | None = None
        self._error: BaseException | None = None
        self._asked, self._news, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self._finished, self._given, self._excused = False, 0, 0
        self._dropped_at_pause: int | None = None
        self._reader = threading.Thread(target=self._read, name="posepipe-reader", daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        return self._finished and self._frame is None and self._error is None

    @property
    def paused(self) -> bool:
        return self._dropped_at_pause is not None

    def set_paused(self, paused: bool) -> None:
        """Show nothing new; what a camera drops meanwhile is not counted."""
        if paused and self._dropped_at_pause is None:
            self._dropped_at_pause = self._source_dropped()
        elif not paused and self._dropped_at_pause is not None:
            self._excused += self._source_dropped() - self._dropped_at_pause
            self._dropped_at_pause = None
            self._news.set()

    def facts(self) -> list[tuple[str, str]]:
        now = self._source_dropped() if self._dropped_at_pause is None else self._dropped_at_pause
        return [(str(self._given), "frame"), (str(now - self._excused), "dropped")]

    def next(self) -> Shot[DepthFrame] | None:
        """Raises what the source raised."""
        if self.paused:
            return None
        frame, self._frame = self._frame, None
        if frame is not None:
            self._given += 1
            return Shot(frame, follows=True)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self._asked.set()
        return None

    def wait(self, most_s: float) -> None:
        self._news.wait(most_s)
        self._news.clear()

    def close(self) -> None:
        self._stopped.set()
        self._asked.set()
        self._reader.join(JOIN_S)

    def _read(self) -> None:
        last: tuple[float, float] | None = None  # time of a frame, and the clock when it was given
        try:
            self._asked.wait()
            for frame in self._frames:
                if self._paced and last is not None:
                    step_s = min(frame.timestamp_s - last[0], LONGEST_STEP_S)
                    self._stopped.wait(max(0.0, step_s - (time.monotonic() - last[1])))
                if self._stopped.is_set():
                    return
                last = frame.timestamp_s, time.monotonic()
                self._asked.clear()
                self._frame = frame
                self._news.set()
                self._asked.wait()
        except BaseException as error:  # handed to whoever asks for the next frame
            self._error = error
        finally:
            self._finished = True
            self._news.set()
