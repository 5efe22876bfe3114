"""A bank of real depth frames without people, from any files or folders that posepipe reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.io.npz import array_hash
from posepipe.sources import open_source
from posepipe.sources.base.indexed_source import IndexedSource

MAX_BACKGROUNDS = 500
"""Maximum number of frames in a bank. Longer sources are sampled evenly: neighbouring frames show the same."""
MIN_READINGS_SHARE = 0.1
"""Minimum share of pixels with a reading. Emptier frames are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """One depth frame of an empty room, with its own camera."""

    depth_mm: np.ndarray  #: uint16 (H, W), millimetres, 0 = no reading
    intrinsics: Intrinsics


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundBank:
    """Depth frames of empty rooms.

    Raises
    ------
    ValueError
        Without any frame.
    """

    frames: tuple[Background, ...]

    def __post_init__(self) -> None:
        if not self.frames:
            raise ValueError("a bank of backgrounds needs at least one frame, got none")

    def digest(self) -> str:
        """Return a hash of all frames and cameras."""
        arrays = {}
        for number, frame in enumerate(self.frames):
            own = frame.intrinsics
            arrays[f"depth_{number}"] = frame.depth_mm
            arrays[f"camera_{number}"] = np.array([own.fx, own.fy, own.cx, own.cy])
        return array_hash(arrays)


def read_backgrounds(paths: Sequence[str | Path]) -> BackgroundBank:
    """Read backgrounds from files and folders that `posepipe.sources.open_source` reads.

    Parameters
    ----------
    paths : sequence of paths
        Packs, recordings or folders of frames without people. Of each, evenly spaced frames are taken, of all
        together about MAX_BACKGROUNDS.

    Raises
    ------
    PosepipeError
        When a source is unknown or malformed, or no frame has enough readings.
    """
    each = max(MAX_BACKGROUNDS // max(len(paths), 1), 1)
    frames = [background for path in paths for background in _read(path, each)]
    if not frames:
        raise PosepipeError(
            f"backgrounds: wanted depth frames with readings in at least {MIN_READINGS_SHARE:.0%} of their pixels, "
            f"got none from {', '.join(map(str, paths))}; give another recording"
        )
    return BackgroundBank(tuple(frames))


def _read(path: str | Path, max_frames: int) -> list[Background]:
    with open_source(path) as source:
        if not isinstance(source, IndexedSource):
            raise PosepipeError(f"backgrounds: wanted a file or folder of depth frames, got {path}; record it first")
        count = len(source)
        rows = np.unique(np.linspace(0, count - 1, min(count, max_frames)).round().astype(int)) if count else []
        frames = [source[int(row)] for row in rows]
    return [_background(frame) for frame in frames if np.mean(frame.depth_m > 0) >= MIN_READINGS_SHARE]


def _background(frame: DepthFrame) -> Background:
    return Background(np.rint(frame.depth_m * 1000).astype(np.uint16), frame.intrinsics)
