"""Results live in a desktop window, for machines without a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType
from typing import Self

import cv2

from posepipe.body import BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.results import FrameResult
from posepipe.sinks.images.drawing import draw_result

TITLE = "posepipe - space: pause, q: quit"
_QUIT, _PAUSE = {ord("q"), 27}, ord(" ")
_POLL_MS = 50
_TRIAL = "import cv2; cv2.namedWindow('trial', cv2.WINDOW_GUI_NORMAL); cv2.waitKey(1)"
_TRIAL_S = 60.0  # importing OpenCV takes seconds on a small machine


class WindowSink:
    """Shows every result as drawn by `draw_result`; a `FrameSink`. Use it in the main thread only.

    Space pauses. The keys q and Esc and closing the window raise KeyboardInterrupt, like Ctrl-C.

    Parameters
    ----------
    body : parts and bones to draw

    Raises
    ------
    PosepipeError
        If no window can be shown on this machine.
    """

    def __init__(self, body: BodyDefinition) -> None:
        check_display()
        self._body = body
        self._is_sized = False
        cv2.namedWindow(TITLE, cv2.WINDOW_NORMAL | cv2.WINDOW_KEEPRATIO | cv2.WINDOW_GUI_NORMAL)

    def write(self, result: FrameResult) -> None:
        """Show one result; returns after a pause ends."""
        picture = draw_result(result, self._body)
        if not self._is_sized:
            cv2.resizeWindow(TITLE, picture.shape[1], picture.shape[0])
            self._is_sized = True
        cv2.imshow(TITLE, picture)
        if self._key(1) == _PAUSE:
            while self._key(_POLL_MS) != _PAUSE:
                pass

    def hold(self) -> None:
        """Keep the last picture on screen until a key, or closing the window, raises KeyboardInterrupt."""
        while True:
            self._key(_POLL_MS)

    def close(self) -> None:
        """Close the window."""
        cv2.destroyAllWindows()
        cv2.waitKey(1)

    def _key(self, wait_ms: int) -> int:
        key = cv2.waitKey(wait_ms)
        if key in _QUIT or cv2.getWindowProperty(TITLE, cv2.WND_PROP_VISIBLE) < 1:
            raise KeyboardInterrupt
        return key

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep the window open after the run; `close` closes it."""


def check_display() -> None:
    """Raise PosepipeError if no window can be shown; OpenCV itself would abort the process."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise PosepipeError("a window needs a desktop, and DISPLAY is not set; use --view page, in any browser")
    try:
        command = [sys.executable, "-c", _TRIAL]
        subprocess.run(command, capture_output=True, check=True, timeout=_TRIAL_S)  # nosec B603
    except (subprocess.SubprocessError, OSError) as error:
        raise PosepipeError("OpenCV could open no window on this desktop; use --view page, in any browser") from error
