"""Frames of a camera as they come: a thread takes them, so that the camera never waits for what is made of them."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import NoReturn, Self

import numpy as np

from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.cameras.depth_camera import CameraFrame, DepthCamera
from posepipe.sources.cameras.frame_clock import FrameClock

_log = logging.getLogger(__name__)

STALL_S = 5.0
"""A camera that gives nothing for so long is opened again."""
PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0)
"""How long we wait before each time that we open it again; after the last we give up."""
WAITING_BYTES = 256 << 20
"""Frames that may wait for whoever wants every one of them: 14 s of 640x480 at 30 fps."""

_POLL_S = 0.1  # how soon a thread sees that it is to end
_CLOSE_S = 10.0  # a vendor's library that does not return must not keep us
_MOST_LOST = 1000  # a larger step in a camera's count is another count


class LiveSource:
    """A camera that is running; a `FrameSource` of which only time will tell how many frames it has.

    Parameters
    ----------
    camera : DepthCamera, not yet open
    every_frame : keep frames in order while they wait, for a recording. Otherwise the newest one wins, and whoever
        is slower than the camera misses those between. Either way what is lost is counted in `dropped`, and
        `DepthFrame.index` counts what the camera took, so that gaps show it.
    stall_s : after so long without a frame the camera is opened again
    pauses_s : before each of these tries, until that is an error
    waiting_bytes : depth that may wait when every frame is wanted; what overflows is lost, the oldest first

    Raises
    ------
    SourceError
        When the camera cannot be opened; later, from the iterator, when it is gone for good.
    """

    def __init__(
        self,
        camera: DepthCamera,
        every_frame: bool = False,
        stall_s: float = STALL_S,
        pauses_s: Sequence[float] = PAUSES_S,
        waiting_bytes: int = WAITING_BYTES,
    ) -> None:
        self._camera = camera
        self._stall_s, self._pauses_s = stall_s, pauses_s
        self._tries = 0  # since the last frame
        self._stop = threading.Event()
        try:
            camera.open(self._stop)
        except BaseException:
            camera.close()
            raise
        self.name = camera.name
        self.intrinsics = camera.intrinsics
        self.shape = camera.shape
        self.dropped = 0  #: frames that the camera took and nobody got
        self._waiting_bytes = waiting_bytes if every_frame or camera.recorded else 0
        self._patient = camera.recorded or (every_frame and camera.waits)
        self._clock = FrameClock()
        self._waiting: deque[tuple[np.ndarray, float, int]] = deque()
        self._changed = threading.Condition()  # guards what waits, `_ended` and `_failure`
        self._ended = False
        self._failure: BaseException | None = None
        self._count = 0
        self._last_number: int | None = None
        self._last_frame_s = time.monotonic()
        self._thread: threading.Thread | None = None

    @property
    def frame_count(self) -> int | None:
        return None

    @property
    def timestamps_s(self) -> NoReturn:
        raise TypeError(f"{self.name} is live: the times of its frames are not known before they come")

    def __getitem__(self, index: int) -> NoReturn:
        raise TypeError(f"{self.name} is live: its frames cannot be chosen, only taken as they come")

    @property
    def start_time_ns(self) -> int:
        """Of the first frame; waits for it. Raises SourceError where none comes."""
        self._start()
        with self._changed:
            while not self._clock.start_time_ns and not self._ended:
                self._changed.wait(_POLL_S)
            if not self._clock.start_time_ns and self._failure is not None:
                raise self._failure
        return self._clock.start_time_ns

    def __iter__(self) -> Iterator[DepthFrame]:
        """Frames from now on.

        Raises SourceError, after the last that came, when the camera is gone; and where it ended before its first, so
        that nothing takes the place of older results.
        """
        self._start()
        while (taken := self._take()) is not None:
            depth, seconds, index = taken
            yield DepthFrame(depth, self.intrinsics, seconds, index)
        if not self._count and not self._stop.is_set():
            raise SourceError(self.name, "ended before its first frame came")

    def _take(self) -> tuple[np.ndarray, float, int] | None:
        with self._changed:
            while not self._waiting and not self._ended:
                self._changed.wait(_POLL_S)  # not for ever: Windows would not hear Ctrl-C
            if self._waiting:
                self._changed.notify_all()
                return self._waiting.popleft()
            if self._failure is not None:
                raise self._failure
        return None

    def _start(self) -> None:
        with self._changed:
            if self._thread is not None or self._stop.is_set():
                return
            self._last_frame_s = time.monotonic()
            self._thread = threading.Thread(target=self._receive, name=self.name, daemon=True)
            self._thread.start()
        atexit.register(self.close)  # a driver at work while Python ends would crash it

    def _receive(self) -> None:
        failure: BaseException | None = None
        try:
            while not self._stop.is_set():
                frame = self._read()
                if frame is not None:
                    self._put(frame)
        except EOFError:
            pass
        except BaseException as error:  # whoever waits for frames shall hear of it, whatever it is
            failure = error
        finally:
            try:
                self._camera.close()
            finally:
                with self._changed:
                    self._ended, self._failure = True, None if self._stop.is_set() else failure
                    self._changed.notify_all()

    def _read(self) -> CameraFrame | None:
        """A frame, or None where there is none yet; the camera is opened again when it fails or is silent."""
        try:
            frame = self._camera.read(_POLL_S)
            if frame is None and time.monotonic() - self._last_frame_s > self._stall_s:
                raise SourceError(self.name, f"no frame for {self._stall_s:g} s; is it unplugged?")
        except SourceError as error:
            self._reopen(error)
            return None
        if frame is not None:
            self._last_frame_s = time.monotonic()
            self._tries = 0
        return frame

    def _reopen(self, error: SourceError) -> None:
        while not self._stop.is_set():
            if self._tries == len(self._pauses_s):
                raise error
            pause_s = self._pauses_s[self._tries]
            self._tries += 1
            _log.warning("%s; trying again, %d of %d", error, self._tries, len(self._pauses_s))
            self._stop.wait(pause_s)
            try:
                self._camera.open(self._stop)
            except SourceError as again:
                error = again
                continue
            self._check_same()
            self._clock.restart()
            self._last_number = None
            self._last_frame_s = time.monotonic()
            return

    def _check_same(self) -> None:
        if (self._camera.shape, self._camera.intrinsics) != (self.shape, self.intrinsics):
            raise SourceError(
                self.name,
                f"came back with {self._camera.shape} pixels and {self._camera.intrinsics}, "
                f"before it had {self.shape} and {self.intrinsics}; start anew",
            )

    def _put(self, frame: CameraFrame) -> None:
        """Let a frame wait, and drop the oldest where there is no room."""
        if frame.depth.shape != self.shape:
            raise SourceError(self.name, f"gave a picture {frame.depth.shape}, wanted {self.shape}")
        room = max(2, self._waiting_bytes // frame.depth.nbytes) if self._waiting_bytes else 1
        with self._changed:
            lost = self._lost_before(frame)
            seconds = self._clock.seconds(frame)
            while self._patient and len(self._waiting) >= room and not self._stop.is_set():
                self._changed.wait(_POLL_S)
            self.dropped += lost
            if len(self._waiting) >= room:
                self._waiting.popleft()
                self.dropped += 1
            self._waiting.append((frame.depth, seconds, self._count + lost))
            self._count += lost + 1
            self._changed.notify_all()

    def _lost_before(self, frame: CameraFrame) -> int:
        """Frames that the camera counted and never gave us."""
        before, self._last_number = self._last_number, frame.number
        if before is None or frame.number is None or not 0 < frame.number - before < _MOST_LOST:
            return 0
        return frame.number - before - 1

    def close(self) -> None:
        """End the thread and let go of the camera; frames that still wait are forgotten."""
        atexit.unregister(self.close)
        self._stop.set()
        with self._changed:
            thread = self._thread
            self._waiting.clear()
            self._ended = self._ended or thread is None
            self._changed.notify_all()
        if thread is None:
            self._camera.close()
            return
        thread.join(_CLOSE_S)
        if thread.is_alive():
            _log.warning("%s: its driver does not return and is left behind", self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
