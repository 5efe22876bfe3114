"""Live cameras as sources: a thread reads the frames, and the camera never waits for their processing."""

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
from posepipe.sources.base.plausibility import JUDGED_TIMES, PlausibilityCheck, known_metres
from posepipe.sources.cameras.depth_camera import CameraFrame, DepthCamera
from posepipe.sources.cameras.frame_clock import FrameClock

_log = logging.getLogger(__name__)

STALL_S = 5.0
"""A camera without a frame for this time is opened again."""
PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Pause before each attempt to open the camera again; a failure of the last attempt is an error."""
QUEUE_BYTES = 256 << 20
"""Maximum size of the queue when every frame is wanted: 14 s of 640x480 at 30 fps."""

_POLL_S = 0.1  # maximum delay until a thread notices that it must end
_CLOSE_S = 10.0  # maximum wait for a vendor's library that does not return
_MAX_MISSED = 1000  # a larger step in a camera's frame counter is a restarted counter


class LiveSource:
    """A running camera; a `FrameSource` with an unknown number of frames.

    By default a slow consumer gets the newest frame, and the frames between are dropped. `dropped` counts them.
    `DepthFrame.index` counts all frames of the camera, and has a gap for every dropped one.

    Parameters
    ----------
    camera : DepthCamera, not yet open
    every_frame : queue the frames in order, for a recording
    stall_s : the camera is opened again after this time without a frame
    pauses_s : pause before each attempt to open it again, until that is an error
    queue_bytes : maximum size of the queue with ``every_frame``; the oldest frames are dropped on overflow

    Raises
    ------
    SourceError
        When the camera cannot be opened; later, from the iterator, when it is gone permanently.
    """

    def __init__(
        self,
        camera: DepthCamera,
        every_frame: bool = False,
        stall_s: float = STALL_S,
        pauses_s: Sequence[float] = PAUSES_S,
        queue_bytes: int = QUEUE_BYTES,
    ) -> None:
        self._camera = camera
        self._stall_s, self._pauses_s = stall_s, pauses_s
        self._attempts = 0  # to open it again, since the last frame
        self._stop = threading.Event()
        try:
            camera.open(self._stop)
        except BaseException:
            camera.close()
            raise
        self.name = camera.name
        self.intrinsics = camera.intrinsics
        self.shape = camera.shape
        self.dropped = 0  #: frames of the camera that were not delivered
        self._queue_bytes = queue_bytes if every_frame or camera.recorded else 0
        self._blocks_sender = camera.recorded or (every_frame and camera.waits)
        self._clock = FrameClock()
        self._plausibility = PlausibilityCheck(self.name)
        self._queue: deque[tuple[CameraFrame, float, int]] = deque()
        self._condition = threading.Condition()  # guards `_queue`, `_ended` and `_failure`
        self._ended = False
        self._failure: BaseException | None = None
        self._count = 0
        self._last_number: int | None = None
        self._last_frame_s = time.monotonic()
        self._thread: threading.Thread | None = None

    @property
    def frame_count(self) -> int | None:
        """None: the number of frames is unknown."""
        return None

    @property
    def timestamps_s(self) -> NoReturn:
        """Raise TypeError: the times are unknown in advance."""
        raise TypeError(f"{self.name} is live: the times of its frames are not known before they come")

    def __getitem__(self, index: int) -> NoReturn:
        raise TypeError(f"{self.name} is live: its frames cannot be chosen, only taken as they come")

    @property
    def start_time_ns(self) -> int:
        """Time of the first frame, nanoseconds since the Unix epoch. Waits for it; raises SourceError if none comes."""
        self._start()
        with self._condition:
            while not self._clock.start_time_ns and not self._ended:
                self._condition.wait(_POLL_S)
            if not self._clock.start_time_ns and self._failure is not None:
                raise self._failure
        return self._clock.start_time_ns

    def __iter__(self) -> Iterator[DepthFrame]:
        """Iterate over the frames from now on.

        Raises SourceError after the last frame when the camera is gone, and when it ends before its first frame.
        """
        self._start()
        times_s: list[float] = []  # of the camera's own clock, until they are judged
        while (taken := self._take()) is not None:
            own, seconds, index = taken
            frame = DepthFrame(known_metres(own.depth), self.intrinsics, seconds, index, own.up)
            self._plausibility.inspect(own.depth, self.intrinsics)
            if own.time_ns is not None and len(times_s) < JUDGED_TIMES:
                times_s.append(seconds)
                if len(times_s) == JUDGED_TIMES:
                    self._plausibility.inspect_times(np.array(times_s), live=True)
            yield frame
        if not self._count and not self._stop.is_set():
            raise SourceError(self.name, "ended before its first frame came")

    def _take(self) -> tuple[CameraFrame, float, int] | None:
        with self._condition:
            while not self._queue and not self._ended:
                self._condition.wait(_POLL_S)  # not without a timeout: that blocks Ctrl-C on Windows
            if self._queue:
                self._condition.notify_all()
                return self._queue.popleft()
            if self._failure is not None:
                raise self._failure
        return None

    def _start(self) -> None:
        with self._condition:
            if self._thread is not None or self._stop.is_set():
                return
            self._last_frame_s = time.monotonic()
            self._thread = threading.Thread(target=self._receive, name=self.name, daemon=True)
            self._thread.start()
        atexit.register(self.close)  # a running driver would crash the exit of Python

    def _receive(self) -> None:
        failure: BaseException | None = None
        try:
            while not self._stop.is_set():
                frame = self._read()
                if frame is not None:
                    self._put(frame)
        except EOFError:
            pass
        except BaseException as error:  # the consumer raises it
            failure = error
        finally:
            try:
                self._camera.close()
            finally:
                with self._condition:
                    self._ended, self._failure = True, None if self._stop.is_set() else failure
                    self._condition.notify_all()

    def _read(self) -> CameraFrame | None:
        """Read a frame, or None; open the camera again when it fails or stalls."""
        try:
            frame = self._camera.read(_POLL_S)
            if frame is None and time.monotonic() - self._last_frame_s > self._stall_s:
                raise SourceError(self.name, f"no frame for {self._stall_s:g} s; is it unplugged?")
        except SourceError as error:
            self._reopen(error)
            return None
        if frame is not None:
            self._last_frame_s = time.monotonic()
            self._attempts = 0
        return frame

    def _reopen(self, error: SourceError) -> None:
        while not self._stop.is_set():
            if self._attempts == len(self._pauses_s):
                raise error
            pause_s = self._pauses_s[self._attempts]
            self._attempts += 1
            _log.warning("%s; trying again, %d of %d", error, self._attempts, len(self._pauses_s))
            self._stop.wait(pause_s)
            try:
                self._camera.open(self._stop)
            except SourceError as next_error:
                error = next_error
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
        """Queue a frame; drop the oldest when the queue is full."""
        if frame.depth.shape != self.shape:
            raise SourceError(self.name, f"gave an image {frame.depth.shape}, wanted {self.shape}")
        capacity = max(2, self._queue_bytes // frame.depth.nbytes) if self._queue_bytes else 1
        with self._condition:
            missed = self._missed_before(frame)
            seconds = self._clock.seconds(frame)
            while self._blocks_sender and len(self._queue) >= capacity and not self._stop.is_set():
                self._condition.wait(_POLL_S)
            self.dropped += missed
            if len(self._queue) >= capacity:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append((frame, seconds, self._count + missed))
            self._count += missed + 1
            self._condition.notify_all()

    def _missed_before(self, frame: CameraFrame) -> int:
        """Number of frames that the camera counted and did not deliver."""
        before, self._last_number = self._last_number, frame.number
        if before is None or frame.number is None or not 0 < frame.number - before < _MAX_MISSED:
            return 0
        return frame.number - before - 1

    def close(self) -> None:
        """Stop the thread and release the camera; queued frames are discarded."""
        atexit.unregister(self.close)
        self._stop.set()
        with self._condition:
            thread = self._thread
            self._queue.clear()
            self._ended = self._ended or thread is None
            self._condition.notify_all()
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
