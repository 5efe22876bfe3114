"""Captured poses and motions: from files to bone rotations.

A `PoseBank` is a set of single poses, a `Motion` one recording in time. Both hold the *global* rotation of each posed
bone from the rest pose (y up, the person facing +z, left = +x). Rotations, unlike joints, fit bodies of every size.
"""

from __future__ import annotations

import hashlib
import warnings
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.npz import npz_names, read_npz, write_npz
from synth.body.skinning import POSED_BONES

DATA_DIR = Path(__file__).parents[2] / "data"
POSE_BANK_FILE = DATA_DIR / "pose_bank.npz"
MOTIONS_FILE = DATA_DIR / "motions.npz"

VALIDATION_SHARE = 5  #: one of this many clips is held out
VALIDATION_REMAINDER = 0
"""Remainder of the hashes that are held out. It gives the embedded bank a varied validation set."""
UNIT_TOLERANCE = 0.02  #: float16 components leave a unit quaternion within 0.001 of length 1


@dataclass(frozen=True, eq=False)
class PoseBank:
    """N poses without heading: the body's rotation about the vertical axis is removed.

    Raises
    ------
    ValueError
        When shapes do not match, or the bones are not POSED_BONES in their order.
    """

    rotations: np.ndarray  #: float32 (N, 20, 4), unit quaternions xyzw, global rotation of each bone
    bones: tuple[str, ...]
    clips: np.ndarray  #: str (N,), the recording that each pose comes from

    def __post_init__(self) -> None:
        if self.bones != POSED_BONES:
            raise ValueError(f"wanted the bones {', '.join(POSED_BONES)}, got {', '.join(self.bones)}")
        shape = (len(self.clips), len(POSED_BONES), 4)
        if self.rotations.shape != shape:
            raise ValueError(f"rotations: wanted shape {shape}, one pose a clip name, got {self.rotations.shape}")

    def split(self, part: str) -> PoseBank:
        """Return the poses for training or for validation.

        Whole clips are held out, because neighbouring frames are nearly equal. A clip's name alone decides, so that it
        is on the same side in every bank.

        Parameters
        ----------
        part : {"train", "validation"}

        Raises
        ------
        ValueError
            For another part.
        """
        if part not in ("train", "validation"):
            raise ValueError(f"part: wanted 'train' or 'validation', got {part!r}")
        names, of_pose = np.unique(self.clips, return_inverse=True)
        held_out = np.array([is_held_out(str(name)) for name in names], bool)[of_pose]
        kept = held_out if part == "validation" else ~held_out
        return PoseBank(self.rotations[kept], self.bones, self.clips[kept])

    def select(self, only: Collection[str] = (), leave_out: Collection[str] = ()) -> PoseBank:
        """Return the poses of clips in ``only``, or of all clips where it is empty, without those in ``leave_out``."""
        kept = ~np.isin(self.clips, list(leave_out))
        if only:
            kept &= np.isin(self.clips, list(only))
        return PoseBank(self.rotations[kept], self.bones, self.clips[kept])

    def digest(self) -> str:
        """Return a hash of the content, 16 hexadecimal digits: equal banks have equal digests."""
        content = hashlib.sha256(np.ascontiguousarray(self.rotations, np.float32).tobytes())
        content.update("\n".join([*self.bones, *map(str, self.clips)]).encode())
        return content.hexdigest()[:16]

    @staticmethod
    def concatenate(banks: Sequence[PoseBank]) -> PoseBank:
        """Return all poses of some banks, in order. Raises ValueError without any bank."""
        if not banks:
            raise ValueError("banks: wanted at least one pose bank, got none")
        rotations = np.concatenate([bank.rotations for bank in banks])
        return PoseBank(rotations, POSED_BONES, np.concatenate([bank.clips for bank in banks]))


@dataclass(frozen=True, eq=False)
class Motion:
    """A recording of T frames at a constant rate, with its heading."""

    rotations: np.ndarray  #: float32 (T, 20, 4), as in `PoseBank`
    root_m: np.ndarray  #: float32 (T, 3), metres, to be added to a body posed by `synth.body.skinning.pose_body`
    fps: float


def is_held_out(clip: str) -> bool:
    """Return whether a clip of this name is for validation."""
    return zlib.crc32(clip.encode()) % VALIDATION_SHARE == VALIDATION_REMAINDER


def warn_of_unknown_clips(clips: Collection[str], only: Collection[str], leave_out: Collection[str]) -> None:
    """Warn of names that a recipe selects or leaves out and that no clip has, used or not."""
    for field, names in (("only_clips", only), ("leave_out_clips", leave_out)):
        if unknown := sorted(set(names) - set(clips)):
            warnings.warn(
                f"recipe: {field} has {', '.join(unknown)}, and no clip is named so; clips have the names of their"
                " files, without suffix",
                stacklevel=3,
            )


@lru_cache(maxsize=1)
def embedded_pose_bank() -> PoseBank:
    """Return the pose bank that comes with the project (source: synth/data/POSES_NOTICE.md)."""
    return read_pose_bank(POSE_BANK_FILE)


def embedded_motion(name: str) -> Motion:
    """Return a motion that comes with the project. Raises ValueError for an unknown name, listing the known ones."""
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
        When the file is missing or damaged, has other bones, or a quaternion is not of unit length.
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
    """Return whether a file is a zip that holds poses, without checking them."""
    return "quat_xyzw_global" in npz_names(path)


def is_motion_pack(path: str | Path) -> bool:
    """Return whether a file is a zip that holds motions, see `read_motions`, without checking them."""
    return {"names", "clip00"} <= npz_names(path) and not is_pose_bank(path)


def write_pose_bank(bank: PoseBank, path: str | Path) -> None:
    """Write a pose bank, in float16: hands stay within two millimetres."""
    rotations = bank.rotations.astype(np.float16)
    write_npz(path, {"quat_xyzw_global": rotations, "bones": np.array(bank.bones), "clip": np.asarray(bank.clips)})


def read_motions(path: str | Path) -> dict[str, Motion]:
    """Read motions by name from an .npz file.

    It holds `names` (M,), `bones` (20,), and for each motion `clip00`, `clip01`, ... (T, 20, 4). `root00`, ... (T, 3),
    metres, are optional and hold the path of the body. `fps` is optional; its default is 30.

    Raises
    ------
    FormatError
        When the file is missing or damaged, has other bones, or a quaternion is not of unit length.
    """
    arrays = _read_arrays(path, ("names", "bones"))
    if _names(arrays["bones"]) != POSED_BONES:
        raise FormatError(
            path, f"wanted the bones {', '.join(POSED_BONES)}, got {', '.join(_names(arrays['bones']))!r:.200}"
        )
    fps = arrays.get("fps", np.float32(30))
    if fps.shape != () or fps.dtype.kind not in "fiu" or not (np.isfinite(fps) and fps > 0):
        raise FormatError(path, f"fps: wanted one number above 0, got {fps.dtype} {fps.tolist()!r:.60}")
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
    """Write motions of one frame rate. Raises ValueError when their rates differ."""
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
    """Check stored quaternions and normalise them: float32 (N, 20, 4)."""
    if stored.dtype.kind != "f" or stored.ndim != 3 or stored.shape[1:] != (len(POSED_BONES), 4):
        raise FormatError(path, f"{name}: wanted floats (N, {len(POSED_BONES)}, 4), got {stored.dtype} {stored.shape}")
    rotations = stored.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        lengths = np.linalg.norm(rotations, axis=-1, keepdims=True)
    wrong = ~(np.abs(lengths[..., 0] - 1) < UNIT_TOLERANCE)  # NaN is wrong as well
    if wrong.any():
        pose, bone = np.argwhere(wrong)[0]
        length = lengths[pose, bone, 0]
        raise FormatError(path, f"{name}: pose {pose}, {POSED_BONES[bone]}: a unit quaternion has not length {length}")
    return (rotations / lengths).astype(np.float32)
