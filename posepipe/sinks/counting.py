"""A sink that counts frames, for progress bars and summaries."""

from __future__ import annotations

from collections.abc import Callable

from posepipe.results import FrameResult
from posepipe.sinks.frame_sink import WatchingSink


class CountingSink(WatchingSink):
    """Counts all frames and frames with people; a `FrameSink`.

    Parameters
    ----------
    on_frame : called after every frame
    """

    def __init__(self, on_frame: Callable[[], object] = lambda: None) -> None:
        self.frames = 0
        self.frames_with_people = 0
        self._on_frame = on_frame

    def write(self, result: FrameResult) -> None:
        """Count one frame."""
        self.frames += 1
        self.frames_with_people += bool(result.people)
        self._on_frame()
