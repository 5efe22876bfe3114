"""What the product reads from files of `ros_writers`, and that it is what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from posepipe.sources import open_source
from tests.support.recordings.ros_writers import depth_mm


def play(path: Path, **options: Any) -> list[np.ndarray]:
    """Return all frames, (H, W) uint16 in millimetres."""
    with open_source(path, **options) as source:
        return [np.rint(frame.depth_m * 1000).astype(np.uint16) for frame in source]


def assert_plays(path: Path, count: int) -> None:
    """Check that the frames are the `count` ones of `depth_recording`, in order."""
    frames = play(path)
    assert len(frames) == count
    for i, frame in enumerate(frames):
        np.testing.assert_array_equal(frame, depth_mm(i))
