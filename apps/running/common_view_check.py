"""Warns where several cameras see people, and none of them is seen by two: their poses do not fit together."""

from __future__ import annotations

import logging

from posepipe.results import FrameResult
from posepipe.sinks.frame_sink import WatchingSink

JUDGED_FRAMES = 60
"""Frames in which two cameras see people, none of whom both see, until a line tells of it."""

_log = logging.getLogger(__name__)


class CommonViewCheck(WatchingSink):
    """Warns once of cameras whose people never coincide; a `FrameSink`.

    Whoever two cameras have both seen once shows that their poses fit.
    """

    def __init__(self) -> None:
        self._apart = 0  # frames
        self._done = False

    def write(self, result: FrameResult) -> None:
        """Judge a frame, until somebody is seen by two cameras."""
        if self._done:
            return
        self._done = any(len(cameras) > 1 for cameras in result.seen_by)
        self._apart += len(set(result.seen_by)) > 1
        if not self._done and self._apart >= JUDGED_FRAMES:
            self._done = True
            _log.warning(
                "in %d frames several cameras see people, and nobody is seen by two of them; are the files of"
                " --extrinsics in the order of the sources, and do the cameras stand as they were calibrated?",
                self._apart,
            )
