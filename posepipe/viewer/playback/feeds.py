"""The next frame to show: from a recording by its schedule, or the newest of a camera."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from posepipe.frames import DepthFrame
from posepipe.recording import DamagedMessageError
from posepipe.viewer.playback.player import MAX_STEP_S, Player

_log = logging.getLogger(__name__)

Item = TypeVar("Item", covariant=True)
JOIN_S = 0.5
"""Time that `StreamFeed.close` waits for a source that does not answer, seconds."""


@dataclass(frozen=True, slots=True)
class FeedItem(Generic[Item]):
    """An item to show, such as a frame."""

    item: Item
    follows: bool  #: it continues what was shown before; False after a jump


class Feed(Protocol[Item]):
    """Gives items one after another. Call `next` and `wait` from one thread."""

    @property
    def ended(self) -> bool:
        """Whether the last item was given and no other is requested."""

    def next(self) -> FeedItem[Item] | None:
        """Return the item to show now; None if there is nothing new."""

    def wait(self, timeout_s: float) -> None:
        """Return when there may be a new item, or after the timeout."""

    def readouts(self) -> list[tuple[str, str]]:
        """Progress to display, as (value, label)."""

    def close(self) -> None:
        """Stop."""


class PlayedFeed(Generic[Item]):
    """Items with random access, scheduled by a player. Damaged frames are skipped; each is logged once.

    Parameters
    ----------
    item_at : returns the item of a row; raises DamagedMessageError if it cannot be read
    player : schedule of the rows
    """

    def __init__(self, item_at: Callable[[int], Item], player: Player) -> None:
        self._item_at, self.player = item_at, player
        self._damaged: set[int] = set()
        self._jumped = False  # to a damaged frame: the next item does not follow the last one shown

    @property
    def ended(self) -> bool:
        """Whether the last item was given and no other is requested."""
        return self.player.ended

    def readouts(self) -> list[tuple[str, str]]:
        """Frame number and number of dropped frames."""
        dropped = self.player.dropped + len(self._damaged)
        return [(f"{self.player.row + 1}/{self.player.count}", "frame"), (str(dropped), "dropped")]

    def next(self) -> FeedItem[Item] | None:
        """Return the item that is due now; None if there is none."""
        due = self.player.next()
        if due is None:
            return None
        self._jumped |= not due.follows
        try:
            item = self._item_at(due.row)
        except DamagedMessageError as error:
            if due.row not in self._damaged:
                _log.warning("%s; frame %d is left out", error, due.row)
            self._damaged.add(due.row)
            return None
        jumped, self._jumped = self._jumped, False
        return FeedItem(item, follows=not jumped)

    def wait(self, timeout_s: float) -> None:
        """Return when an item is due, after a command, or after the timeout."""
        self.player.wait(timeout_s)

    def close(self) -> None:
        """Do nothing: there is no thread to stop."""


class StreamFeed:
    """Frames of a stream, read in a separate thread, so the page responds while a camera is silent.

    The next frame is taken from the source after the current one is processed. In between the source keeps or drops
    frames, and no old frame waits here.

    Parameters
    ----------
    frames : the open source
    paced : wait between frames as their timestamps say; for a file, which would give all frames at once
    dropped : returns the number of frames the source has dropped so far
    """

    def __init__(
        self, frames: Iterable[DepthFrame], paced: bool = False, dropped: Callable[[], int] = lambda: 0
    ) -> None:
        self._frames, self._paced, self._source_dropped = frames, paced, dropped
        self._frame: DepthFrame | None = None
        self._error: BaseException | None = None
        self._requested, self._changed, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self._finished, self._given, self._dropped_while_paused = False, 0, 0
        self._dropped_at_pause: int | None = None
        self._reader = threading.Thread(target=self._read, name="posepipe-reader", daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        """Whether the source has ended and its last frame was given."""
        return self._finished and self._frame is None and self._error is None

    @property
    def paused(self) -> bool:
        """Whether no new frames are shown."""
        return self._dropped_at_pause is not None

    def set_paused(self, paused: bool) -> None:
        """Pause or resume; frames that a camera drops during a pause are not counted."""
        if paused and self._dropped_at_pause is None:
            self._dropped_at_pause = self._source_dropped()
        elif not paused and self._dropped_at_pause is not None:
            self._dropped_while_paused += self._source_dropped() - self._dropped_at_pause
            self._dropped_at_pause = None
            self._changed.set()

    def readouts(self) -> list[tuple[str, str]]:
        """Number of frames shown and dropped."""
        dropped = self._source_dropped() if self._dropped_at_pause is None else self._dropped_at_pause
        return [(str(self._given), "frame"), (str(dropped - self._dropped_while_paused), "dropped")]

    def next(self) -> FeedItem[DepthFrame] | None:
        """Return the newest frame; None if there is no new one. Raises the errors of the source."""
        if self.paused:
            return None
        frame, self._frame = self._frame, None
        if frame is not None:
            self._given += 1
            return FeedItem(frame, follows=True)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self._requested.set()
        return None

    def wait(self, timeout_s: float) -> None:
        """Return when there may be a new frame, or after the timeout."""
        self._changed.wait(timeout_s)
        self._changed.clear()

    def close(self) -> None:
        """Stop the thread; waits at most JOIN_S."""
        self._stopped.set()
        self._requested.set()
        self._reader.join(JOIN_S)

    def _read(self) -> None:
        last: tuple[float, float] | None = None  # timestamp of a frame, and the clock when it was given
        try:
            self._requested.wait()
            for frame in self._frames:
                if self._paced and last is not None:
                    step_s = min(frame.timestamp_s - last[0], MAX_STEP_S)
                    self._stopped.wait(max(0.0, step_s - (time.monotonic() - last[1])))
                if self._stopped.is_set():
                    return
                last = frame.timestamp_s, time.monotonic()
                self._requested.clear()
                self._frame = frame
                self._changed.set()
                self._requested.wait()
        except BaseException as error:  # raised by `next`
            self._error = error
        finally:
            self._finished = True
            self._changed.set()
