"""Whether a camera may hang upside down: people are then missed, and the poses of those who are found are poor."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from posepipe.sinks.frame_sink import WatchingSink

if TYPE_CHECKING:
    from posepipe.frames import DepthFrame
    from posepipe.pipeline import Pipeline
    from posepipe.results import FrameResult

FRAME_STEP = 15
"""Maximum number of frames from one that is judged to the next, half a second; fewer in short sources."""
MAX_FRAMES = 40
"""Maximum number of frames that are judged."""
MIN_FRAMES = 4
"""Minimum number of frames in which people are found when turned."""
MIN_CONFIDENCE = 0.5
"""Minimum mean confidence of people who are found when turned; most furniture that is taken for people has less."""
MIN_GAIN = 2.0
"""Minimum ratio of the joints expected to be right, turned and as they come."""
MIN_MOVED_M = 0.3
"""Minimum distance between two places of people found when turned: furniture of more confidence stays in place."""

_log = logging.getLogger(__name__)


class UprightCheck(WatchingSink):
    """Warns once where turning the picture by 180 degrees finds more people, with better poses; a `FrameSink`.

    Each frame is judged alone, as it comes and turned. Frames that know which way is up are left out: `RotatedSource`
    warns of them.

    Parameters
    ----------
    pipeline : Pipeline, without tracking
    name : of the source, for the message
    rotate : degrees clockwise by which frames were turned already, for the message
    frame_count : number of frames; None = unknown
    """

    def __init__(self, pipeline: Pipeline, name: str, rotate: int = 0, frame_count: int | None = None) -> None:
        self._pipeline, self._name, self._rotate = pipeline, name, rotate
        self._step = FRAME_STEP if frame_count is None else min(FRAME_STEP, 1 + frame_count // MAX_FRAMES)
        self._frames = self._judged = 0
        self._as_they_come, self._turned = _Found(), _Found()
        self._done = False

    def write(self, result: FrameResult) -> None:
        """Judge every so many frames, up to MAX_FRAMES of them."""
        if not self._done and self._frames % self._step == 0 and result.frame.up is None:
            self._judge(result.frame)
        self._frames += 1

    def _judge(self, frame: DepthFrame) -> None:
        from posepipe.sources.rotation import rotate_frame

        self._judged += 1
        self._as_they_come.add(self._pipeline.step(frame))
        self._turned.add(self._pipeline.step(rotate_frame(rotate_frame(frame))))
        is_better = self._turned.correct >= MIN_GAIN * self._as_they_come.correct
        if is_better and self._turned.are_people and self._turned.moved_m >= MIN_MOVED_M:
            self._done = True
            rotate = (self._rotate + 180) % 360
            _log.warning(
                "%s: people are found better in the picture turned by 180 degrees (%d of %d frames); if heads are"
                " down, %s",
                *(self._name, self._turned.frames, self._judged),
                f"give --rotate {rotate}" if rotate else "leave out --rotate",
            )
        self._done |= self._judged >= MAX_FRAMES or (self._as_they_come.are_people and not is_better)


@dataclass(slots=True)
class _Found:
    """People found in the frames that were judged."""

    frames: int = 0  #: with people
    correct: float = 0.0  #: joints expected to be right
    _confidences: list[float] = field(default_factory=list)
    _places_m: list[np.ndarray] = field(default_factory=list)  #: of the first person of each frame, float64 (3,)

    def add(self, result: FrameResult) -> None:
        """Add the people of a frame."""
        poses = [track.pose for track in result.people if track.pose.names]  # what is cut out is somebody in any case
        self.frames += bool(poses)
        self.correct += sum(pose.expected_correct for pose in poses)
        self._confidences += [pose.confidence for pose in poses]
        self._places_m += [pose.joints_m.mean(axis=0) for pose in poses[:1]]

    @property
    def are_people(self) -> bool:
        """Whether enough frames show somebody, with poses as good as those of people."""
        return self.frames >= MIN_FRAMES and float(np.mean(self._confidences)) >= MIN_CONFIDENCE

    @property
    def moved_m(self) -> float:
        """Longest distance of somebody from the first place; 0 without people."""
        places_m = np.array(self._places_m).reshape(-1, 3)
        return float(np.linalg.norm(places_m - places_m[:1], axis=1).max(initial=0))
