"""Content of a motion capture file of any format: a skeleton, and the rotations of its joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.files import read_regular
from synth.body.skinning import rotation_matrices
from synth.geometry.quaternions import from_rotation_vector, multiply

SAMPLED_FPS = 10  #: frames a second that are sampled for single poses; neighbours at higher rates are nearly equal
MAX_ANGLE_RAD = 200 * np.pi
"""A hundred turns: trackers that count turns may reach a few; larger numbers are damaged."""
MAX_NUMBER = 1e12
"""Maximum of any number of a file, in any unit of length: squares and products stay finite."""


@dataclass(frozen=True, eq=False)
class Capture:
    """One recording, in its file's own axes and unit of length. At rest no joint is rotated."""

    path: Path
    joints: tuple[str, ...]  #: names; the tip of a chain has the name of its last joint and " end"
    parents: np.ndarray  #: int64 (J,), -1 = none; a parent is always before its children
    offsets: np.ndarray  #: float64 (J, 3), from the parent, at rest
    rotations: np.ndarray  #: float64 (T, J, 4), of the sampled frames: quaternions xyzw, global, from rest
    fps: float  #: of the sampled frames

    @property
    def clip(self) -> str:
        """Name that decides whether the clip is held out: the file's, without folder and suffix."""
        return self.path.stem

    def places(self, rotations: np.ndarray) -> np.ndarray:
        """Return the positions of joints, the first one at the origin: (..., J, 4) to (..., J, 3)."""
        arms = np.einsum("...jab,jb->...ja", rotation_matrices(rotations[..., self.parents, :]), self.offsets)
        places = np.zeros((*rotations.shape[:-1], 3))
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                places[..., joint, :] = places[..., parent, :] + arms[..., joint, :]
        return places


def chained(local: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Return rotations relative to the parent (T, J, 4) as global ones."""
    rotations = local.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            rotations[:, joint] = multiply(rotations[:, parent], local[:, joint])
    return rotations


def euler_rotations(axes: Sequence[int], angles_rad: np.ndarray) -> np.ndarray:
    """Compose rotations about the coordinate axes, each about the rotated axes: (T, K) to (T, 4)."""
    rotation = np.tile([0.0, 0.0, 0.0, 1.0], (len(angles_rad), 1))
    for axis, angles in zip(axes, angles_rad.T, strict=True):
        rotation = multiply(rotation, from_rotation_vector(np.outer(angles, np.eye(3)[axis])))
    return rotation


def sampled_frames(frames: int, frame_time_s: float, sampled_fps: float) -> range:
    """Return the frames to sample: every k-th from the first, about ``sampled_fps`` a second."""
    return range(0, frames, max(1, round(min(frames, 1 / (sampled_fps * frame_time_s)))))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file. Bytes that are no text fail to parse later, with a line number."""
    return read_regular(path).decode("utf-8-sig", errors="replace").splitlines()


def numbers(path: Path, line: int, words: Sequence[str], count: int, what: str) -> np.ndarray:
    """Parse ``count`` numbers up to MAX_NUMBER. Raises FormatError that names the line, counted from 1."""
    place = f"{path}, line {line}"
    if len(words) != count:
        raise FormatError(place, f"wanted {count} numbers of {what}, got {len(words)}; is the file cut?")
    try:
        values = np.array(words, np.float64)
    except ValueError:
        raise FormatError(place, f"wanted numbers of {what}, got {' '.join(words)[:60]!r}") from None
    plausible = np.abs(values) <= MAX_NUMBER
    if not plausible.all():
        found = words[int(plausible.argmin())]
        raise FormatError(place, f"wanted finite numbers of {what}, at most {MAX_NUMBER:g}, got {found:.40}")
    return values
