"""A bank of real depth frames without people, from any files or folders that posepipe reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.datasets.dataset import MANIFEST_NAME, Dataset
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.io.npz import array_hash
from posepipe.sources import open_source
from posepipe.sources.base.indexed_source import IndexedSource

MAX_BACKGROUNDS = 500
"""Maximum number of frames in a bank. Longer sources are sampled evenly: neighbouring frames show the same."""
MAX_BANK_BYTES = 1 << 30
"""Maximum size of a bank: of larger images than 1024x1024, fewer are taken."""
MIN_READINGS_SHARE = 0.1
"""Minimum share of pixels with a reading. Emptier frames are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """One depth frame of an empty room, with its own camera."""

    depth_mm: np.ndarray  #: uint16 (H, W), millimetres, 0 = no reading
    intrinsics: Intrinsics


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundBank:
    """Depth frames of empty rooms, by their source.

    Raises
    ------
    ValueError
        Without any frame.
    """

    sources: tuple[tuple[Background, ...], ...]  #: at least one, none of them empty

    def __post_init__(self) -> None:
        if not self.sources or not all(self.sources):
            raise ValueError("a bank of backgrounds needs sources with at least one frame each")

    def draw(self, rng: np.random.Generator) -> Background:
        """Draw a frame: its source first, so that a long recording outweighs no other."""
        frames = self.sources[rng.integers(len(self.sources))]
        return frames[rng.integers(len(frames))]

    def digest(self) -> str:
        """Return a hash of all frames and cameras."""
        arrays = {}
        for number, frames in enumerate(self.sources):
            for row, frame in enumerate(frames):
                own = frame.intrinsics
                arrays[f"depth_{number}_{row}"] = frame.depth_mm
                arrays[f"camera_{number}_{row}"] = np.array([own.fx, own.fy, own.cx, own.cy])
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
        When a source is unknown or malformed, or no frame of it has enough readings.
    """
    count = max(len(paths), 1)
    return BackgroundBank(
        tuple(_read(path, max(MAX_BACKGROUNDS // count, 1), MAX_BANK_BYTES // count) for path in paths)
    )


def _read(path: str | Path, max_frames: int, max_bytes: int) -> tuple[Background, ...]:
    if (Path(path) / MANIFEST_NAME).is_file():
        _check_empty(path)
    with open_source(path) as source:
        if not isinstance(source, IndexedSource):
            raise PosepipeError(f"backgrounds: wanted a file or folder of depth frames, got {path}; record it first")
        count = len(source)
        taken = max(1, min(count, max_frames, max_bytes // (2 * source.shape[0] * source.shape[1])))
        rows = np.unique(np.linspace(0, count - 1, taken).round().astype(int))
        frames = (source[int(row)] for row in rows)
        shown = tuple(_background(frame) for frame in frames if np.mean(frame.depth_m > 0) >= MIN_READINGS_SHARE)
    if not shown:
        raise PosepipeError(
            f"backgrounds: wanted depth frames with readings in at least {MIN_READINGS_SHARE:.0%} of their pixels, "
            f"got none in {path}; leave it out"
        )
    return shown


def _check_empty(path: str | Path) -> None:
    """Refuse a dataset with people: those in a background count as furniture."""
    with Dataset.open(path) as dataset:
        for number, frame in enumerate(dataset):
            if frame.people.any():
                raise PosepipeError(f"backgrounds: wanted frames without people, frame {number} of {path} shows some")


def _background(frame: DepthFrame) -> Background:
    return Background(np.rint(frame.depth_m * 1000).astype(np.uint16), frame.intrinsics)
