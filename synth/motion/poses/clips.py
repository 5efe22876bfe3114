"""Captured poses and motions: from files to bone rotations.

A `PoseBank` is a set of single poses, a `Motion` one recording in time. Both hold the *global*
rotation of each posed bone from the rest pose (y up, the person facing +z, left = +x). What is kept
are rotations and not joints, so that every body, tall or short, can strike every pose.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.npz import read_npz, write_npz
from synth.body.skinning import POSED_BONES

DATA_DIR = Path(__file__).parents[2] / "data"
POSE_BANK_FILE = DATA_DIR / "pose_bank.npz"
MOTIONS_FILE = DATA_DIR / "motions.npz"

VALIDATION_SHARE = 5  #: one clip in so many is held out
VALIDATION_REMAINDER = 0
"""Which fifth of the hashes is held out: the one that gives the embedded bank a varied validation set."""
UNIT_TOLERANCE = 0.02  #: float16 components leave a unit quaternion within 0.001 of length 1


@dataclass(frozen=True, eq=False)
class PoseBank:
    """N poses without heading: the body's turn about the vertical axis is removed.

    Raises
    ------
    ValueError
        When the arrays do not belong together, or the bones are not POSED_BONES in their order.
    """

    rotations: np.ndarray  #: float32 (N, 20, 4), unit quaternions xyzw, global rotation of each bone
    bones: tuple[str, ...]
    clips: np.ndarray  #: str (N,), the recording that each pose was taken from

    def __post_init__(self) -> None:
        if self.bones != POSED_BONES:
            raise ValueError(f"wanted the bones {', '.join(POSED_BONES)}, got {', '.join(self.bones)}")
        shape = (len(self.clips), len(POSED_BONES), 4)
        if self.rotations.shape != shape:
            raise ValueError(f"rotations: wanted shape {shape}, one pose a clip name, got {self.rotations.shape}")

    def split(self, part: str) -> PoseBank:
        """The poses to train on or to validate with.

        Clips are held out whole, because neighbouring frames are all but equal; a clip's name alone
        decides, so that it stays on its side in whatever bank it appears.

        Parameters
        ----------
        part : "train" or "validation"
        """
        if part not in ("train", "validation"):
            raise ValueError(f"part: wanted 'train' or 'validation', got {part!r}")
        names, of_pose = np.unique(self.clips, return_inverse=True)
        held_out = np.array([is_held_out(str(name)) for name in names], bool)[of_pose]
        kept = held_out if part == "validation" else ~held_out
        return PoseBank(self.rotations[kept], self.bones, self.clips[kept])

    def select(self, only: Collection[str] = (), leave_out: Collection[str] = ()) -> PoseBank:
        """The poses of some clips: those of ``only``, or all where it is empty, and never those of ``leave_out``."""
        kept = ~np.isin(self.clips, list(leave_out))
        if only:
            kept &= np.isin(self.clips, list(only))
        return PoseBank(self.rotations[kept], self.bones, self.clips[kept])

    def digest(self) -> str:
        """A name for the content, 16 hexadecimal digits: equal banks, equal digests."""
        content = hashlib.sha256(np.ascontiguousarray(self.rotations, np.float32).tobytes())
        content.update("\n".join([*self.bones, *map(str, self.clips)]).encode())
        return content.hexdigest()[:16]

    @staticmethod
    def concatenate(banks: Sequence[PoseBank]) -> PoseBank:
        """All poses of some banks, in order. Raises ValueError for no bank at all."""
        if not banks:
            raise ValueError("banks: wanted at least one pose bank, got none")
        rotations = np.concatenate([bank.rotations for bank in banks])
        return PoseBank(rotations, POSED_BONES, np.concatenate([bank.clips for bank in banks]))


@dataclass(frozen=True, eq=False)
class Motion:
    """A recording of T frames at an even rate, its heading kept."""

    rotations: np.ndarray  #: float32 (T, 20, 4), as in `PoseBank`
    root_m: np.ndarray  #: float32 (T, 3), to be added to a body posed by `synth.body.skinning.pose_body`, metres
    fps: float


def is_held_out(clip: str) -> bool:
    """Whether a clip of this name is for validation."""
    return zlib.crc32(clip.encode()) % VALIDATION_SHARE == VALIDATION_REMAINDER


@lru_cache(maxsize=1)
def embedded_pose_bank() -> PoseBank:
    """The pose bank that comes with the project (synth/data/POSES_NOTICE.md names its source)."""
    return read_pose_bank(POSE_BANK_FILE)


def embedded_motion(name: str) -> Motion:
    """A motion that comes with the project. Raises ValueError for a name it does not have, listing those it has."""
    motions = _embedded_motions()
    if name not in motions:
        raise ValueError(f"no motion {name!r}; there are {', '.join(sorted(motions))}")
    return motions[name]


@lru_cache(maxsize=1)
def _embedded_motions() -> dict[str, Motion]:
    return read_motions(MOTIONS_FILE)


def read_pose_bank(path: str | Path) -> PoseBank:
    """Read a pose bank: an .npz with `quat_xyzw_global` (N, 20, 4), `bones` (20,) and `clip` (N,).

    Raises
    ------
    FormatError
        When the file is missing, damaged, has other bones, or a quaternion is not of unit length.
    """
    arrays = _read_arrays(path, ("quat_xyzw_global", "bones", "clip"))
    bones, clips = arrays["bones"], arrays["clip"]
    if clips.dtype.kind != "U" or clips.ndim != 1:
        raise FormatError(path, f"clip: wanted one name a pose, got {clips.dtype} of shape {clips.shape}")
    rotations = _unit_rotations(path, "quat_xyzw_global", arrays["quat_xyzw_global"])
    try:
        return PoseBank(rotations, _names(bones), clips)
    except ValueError as error:
        raise FormatError(path, str(error)) from None


def is_pose_bank(path: str | Path) -> bool:
    """Whether a file is a zip that holds poses; whether they are sound, reading them tells."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "quat_xyzw_global.npy" in archive.namelist()


def write_pose_bank(bank: PoseBank, path: str | Path) -> None:
    """Write a pose bank; float16 keeps hands within a millimetre or two."""
    rotations = bank.rotations.astype(np.float16)
    write_npz(path, {"quat_xyzw_global": rotations, "bones": np.array(bank.bones), "clip": np.asarray(bank.clips)})


def read_motions(path: str | Path) -> dict[str, Motion]:
    """Read motions by name: an .npz with `names` (M,), `bones` (20,), and for each motion in turn `clip00`,
    `clip01`, ... (T, 20, 4) and, where the body travels, `root00`, ... (T, 3) metres; `fps` is 30 where left out.

    Raises
    ------
    FormatError
        When the file is missing, damaged, has other bones, or a quaternion is not of unit length.
    """
    arrays = _read_arrays(path, ("names", "bones"))
    if _names(arrays["bones"]) != POSED_BONES:
        raise FormatError(path, f"wanted the bones {', '.join(POSED_BONES)}, got {arrays['bones']}")
    fps = arrays.get("fps", np.float32(30))
    if fps.shape != () or fps.dtype.kind not in "fiu" or not (np.isfinite(fps) and fps > 0):
        raise FormatError(path, f"fps: wanted one number above 0, got {fps}")
    names = _names(arrays["names"])
    if not names:
        raise FormatError(path, "names: wanted at least one motion, got none")
    return {name: _motion(path, arrays, index, float(fps)) for index, name in enumerate(names)}


def _motion(path: str | Path, arrays: dict[str, np.ndarray], index: int, fps: float) -> Motion:
    clip, root = f"clip{index:02d}", f"root{index:02d}"
    if clip not in arrays:
        raise FormatError(path, f"array {clip} is missing, though `names` has that many motions")
    rotations = _unit_rotations(path, clip, arrays[clip])
    if len(rotations) == 0:
        raise FormatError(path, f"{clip}: a motion without a frame")
    root_m = arrays.get(root, np.zeros((len(rotations), 3)))
    if root_m.shape != (len(rotations), 3) or root_m.dtype.kind != "f" or not np.isfinite(root_m).all():
        raise FormatError(path, f"{root}: wanted {len(rotations)} finite points, got {root_m.dtype} {root_m.shape}")
    return Motion(rotations, root_m.astype(np.float32), fps)


def write_motions(motions: dict[str, Motion], path: str | Path) -> None:
    """Write motions of one rate. Raises ValueError when their rates differ."""
    rates = {motion.fps for motion in motions.values()}
    if len(rates) != 1:
        raise ValueError(f"motions: wanted some of one frame rate, got rates {sorted(rates)}")
    arrays = {"names": np.array(list(motions)), "bones": np.array(POSED_BONES), "fps": np.array(rates.pop())}
    for index, motion in enumerate(motions.values()):
        arrays[f"clip{index:02d}"] = motion.rotations.astype(np.float16)
        arrays[f"root{index:02d}"] = motion.root_m.astype(np.float32)
    write_npz(path, arrays)


def _read_arrays(path: str | Path, wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
    arrays = read_npz(path, "poses")
    if missing := [name for name in wanted if name not in arrays]:
        raise FormatError(path, f"lacks {', '.join(missing)}; it has {', '.join(sorted(arrays)) or 'nothing'}")
    return arrays


def _names(array: np.ndarray) -> tuple[str, ...]:
    return tuple(str(name) for name in array.ravel())


def _unit_rotations(path: str | Path, name: str, stored: np.ndarray) -> np.ndarray:
    """Check stored quaternions and give them unit length again: float32 (N, 20, 4)."""
    if stored.dtype.kind != "f" or stored.ndim != 3 or stored.shape[1:] != (len(POSED_BONES), 4):
        raise FormatError(path, f"{name}: wanted floats (N, {len(POSED_BONES)}, 4), got {stored.dtype} {stored.shape}")
    rotations = stored.astype(np.float64)
    lengths = np.linalg.norm(rotations, axis=-1, keepdims=True)
    wrong = ~(np.abs(lengths[..., 0] - 1) < UNIT_TOLERANCE)  # so that NaN is wrong as well
    if wrong.any():
        pose, bone = np.argwhere(wrong)[0]
        length = lengths[pose, bone, 0]
        raise FormatError(path, f"{name}: pose {pose}, {POSED_BONES[bone]}: a unit quaternion has not length {length}")
    return (rotations / lengths).astype(np.float32)
