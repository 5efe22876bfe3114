"""Names of the figures of the suite: of real frames, which it does not render, and of the rows of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REAL_FRAMES = "real-frames"
"""Name of the figures of labelled packs, which the suite is given and does not render."""
BONE_ERRORS = "bone errors"
"""Of these figures, the error that bones of varying length imply."""
REAL_ROOMS, EMPTY_ROOMS = "real-rooms", "empty-rooms"
"""Names of the figures of real frames whose people are labelled by boxes, and of real frames without people."""
STILL, STILL_S = "-still", 2.0
"""End of the names of the same frames as a still camera would see them after so many seconds, with tracking."""
OF_PACKS = (REAL_FRAMES, REAL_ROOMS, EMPTY_ROOMS, REAL_ROOMS + STILL, EMPTY_ROOMS + STILL)

#: row of a table of sets -> where it stands among the figures
CUT_OUT_FIGURES = {
    "part accuracy": "mean part accuracy",
    "joint mAP": "joint mAP at 10 cm",
    "visible joints within 10 cm": "visible joints within 10 cm",
    "visible joints within 15 cm": "visible joints within 15 cm",
    "all joints within 10 cm": "all joints within 10 cm",
    "hidden joints within 15 cm": "hidden joints within 15 cm",
    "left and right swapped": "people with left and right swapped",
    "facing the wrong way": "people taken to face the wrong way",
    "calibration error": "calibration error",
}
WHOLE_FRAME_FIGURES = {
    "people missed": "people missed",
    "false people per frame": "false people a frame",
    "room pixels taken for people": "room pixels taken for people",
    "visible joints within 10 cm": "visible joints within 10 cm",
    "hidden joints within 15 cm": "hidden joints within 15 cm",
    "joint mAP": "joint mAP at 10 cm",
    "left and right swapped": "people with left and right swapped",
    "facing the wrong way": "people taken to face the wrong way",
}


def headline(own: Mapping[str, Any], name: str, column: str, title: str = "model") -> float | None:
    """A figure of a set; None where there is nothing to measure."""
    return own[name]["scores"][title]["headline"][column]
