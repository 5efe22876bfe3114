"""Checks before a training begins that its frames can teach it: wrong ones would cost minutes or hours of work."""

from __future__ import annotations

import numpy as np

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import counted
from posepipe.frames import LabelledFrame

LOOKED_AT = 1000
"""Frames that are looked at, evenly spaced: fewer than twice as many. What none shows is too rare to learn from."""
ROOMS = "give frames of rooms, as `posepipe synth --recipe person-rooms` renders them"


def check_people(frames: FrameSequence, learner: str) -> None:
    """Raise ValueError unless some frames show people. The message names the learner, as "a second pass"."""
    _check(frames, learner, rooms=False)


def check_rooms(frames: FrameSequence, learner: str) -> None:
    """Raise ValueError unless some frames show people, and some what surrounds them, as those of rooms do."""
    _check(frames, learner, rooms=True)


def some_of(frames: FrameSequence) -> FrameSequence:
    """Frames that are looked at before a training; they also suffice for medians."""
    return frames[:: max(1, len(frames) // LOOKED_AT)]


def _check(frames: FrameSequence, learner: str, rooms: bool) -> None:
    looked_at = some_of(frames)
    has_people, has_surroundings = False, not rooms
    for frame in looked_at:  # most often the first shows all
        has_people = has_people or len(frame.joints_m) > 0
        has_surroundings = has_surroundings or _shows_surroundings(frame)
        if has_people and has_surroundings:
            return
    wanted = "people in rooms" if rooms else "people"
    seen = f"{learner} learns from {wanted}, and none of {counted(len(looked_at), 'frame')} looked at shows"
    if has_people:
        raise ValueError(f"{seen} more than people cut out; {ROOMS}")
    raise ValueError(f"{seen} a person; {ROOMS if rooms else 'give frames of people'}")


def _shows_surroundings(frame: LabelledFrame) -> bool:
    """Whether there are readings of anything but people."""
    return bool(np.any((frame.people == 0) & (frame.depth.depth_m > 0)))
