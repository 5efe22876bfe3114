"""Users' own motion capture, from files to a pose bank, on one page.

capture file -> `Capture` -> bones by name -> how the person stands -> rotations of our bones -> those that differ
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES
from synth.motion.mocap.asf_amc import read_amc
from synth.motion.mocap.bone_maps import BoneMap, choose_bones, read_bone_map, shipped_bone_maps
from synth.motion.mocap.bvh import read_bvh
from synth.motion.mocap.capture import LOOKS_PER_S
from synth.motion.mocap.distinct_poses import DistinctPoses
from synth.motion.mocap.mean_body import mean_body
from synth.motion.mocap.retarget import retarget
from synth.motion.mocap.stance import find_stance
from synth.motion.poses.clips import Motion, PoseBank, read_pose_bank

READERS = {".bvh": read_bvh, ".amc": read_amc}
POSE_BANK = ".npz"
WANTED = "BVH files, AMC files with their ASF beside them, pose banks (.npz), or folders of these"


@dataclass(frozen=True)
class MocapFile:
    """One file to read, and the folder that it was found in, or None for a file that was asked for by name."""

    path: Path
    folder: Path | None


def mocap_files(paths: Sequence[str | Path]) -> list[MocapFile]:
    """The files to read, folders looked through to the bottom, in name order. Pose banks come first.

    Raises
    ------
    PosepipeError
        When a path does not exist, is no motion capture, or is a folder without any.
    """
    found: list[MocapFile] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = [file for file in sorted(path.rglob("*")) if _is_mocap(file) and file.is_file()]
            if not inside:
                raise FormatError(path, f"a folder without motion capture; wanted {WANTED}")
            found += [MocapFile(file, path) for file in inside]
        elif not path.exists():
            raise PosepipeError(f"{path}: no such file or folder; wanted {WANTED}")
        elif not _is_mocap(path):
            raise FormatError(path, f"not motion capture by its name; wanted {WANTED}")
        else:
            found.append(MocapFile(path, None))
    return sorted(found, key=lambda file: file.path.suffix.lower() != POSE_BANK)


def _is_mocap(path: Path) -> bool:
    return path.suffix.lower() in (*READERS, POSE_BANK) and not path.name.startswith(".")


def read_mocap(
    *paths: str | Path, bone_map: str | Path | None = None, advance: Callable[[], None] = lambda: None
) -> PoseBank:
    """Read motion capture of any kind into one pose bank.

    Pose banks are taken whole. Of captured frames, about ten a second are looked at, and those are kept in which
    no limb passes through the mean body and that differ by 5 cm in at least one joint from every pose kept before.

    Parameters
    ----------
    paths : BVH files, AMC files with their ASF beside them, pose banks (.npz), or folders of these. A broken file in
        a folder is warned of and left out, unless none of the folder can be read
    bone_map : TOML file that names the joints; without it the fitting one of those that come with the project
    advance : called after each file

    Raises
    ------
    PosepipeError
        When a path is missing or broken, or a folder has nothing that can be read.
    """
    maps = shipped_bone_maps() if bone_map is None else (read_bone_map(Path(bone_map)),)
    distinct = DistinctPoses()
    banks: list[PoseBank] = []
    problems: dict[Path, list[str]] = {}
    readable: set[Path | None] = set()
    for file in mocap_files(paths):
        try:
            banks.append(_read_one(file.path, maps, distinct))
            readable.add(file.folder)
        except PosepipeError as error:
            if file.folder is None:
                raise
            problems.setdefault(file.folder, []).append(str(error))
            warnings.warn(f"left out: {error}", stacklevel=2)
        advance()
    for folder, reasons in problems.items():
        if folder not in readable:
            raise FormatError(folder, f"none of its {len(reasons)} files can be read; the first: {reasons[0]}")
    return PoseBank.concatenate(banks)


def _read_one(path: Path, maps: Sequence[BoneMap], distinct: DistinctPoses) -> PoseBank:
    if path.suffix.lower() == POSE_BANK:
        bank = read_pose_bank(path)
        distinct.take(mean_body().joints_of(bank.rotations))
        return bank
    rotations, clip = read_poses(path, maps)
    joints_m = mean_body().joints_of(rotations)
    possible = np.logical_not(limbs_intersect(joints_m))
    if not possible.any():
        problem = f"in all {len(rotations)} frames looked at a limb passes through the body"
        raise FormatError(path, f"{problem}; do the joints of the bone map fit?")
    kept = np.flatnonzero(possible)[distinct.choose(joints_m[possible])]
    return PoseBank(rotations[kept], POSED_BONES, np.full(len(kept), clip))


def read_poses(path: Path, maps: Sequence[BoneMap] = ()) -> tuple[np.ndarray, str]:
    """All poses looked at in one BVH or AMC file, float32 (T, 20, 4), as in a `PoseBank`, and the clip's name.

    Raises
    ------
    FormatError
        When the file is broken, no map fits its joints, or nobody stands upright in it.
    """
    motion, clip = read_motion(path, maps, LOOKS_PER_S)
    return motion.rotations, clip


def read_motion(path: Path, maps: Sequence[BoneMap], poses_per_s: float) -> tuple[Motion, str]:
    """The motion in one BVH or AMC file, on the spot and without heading, and the clip's name.

    It has every k-th frame of the file: about ``poses_per_s`` a second, and how many they are says `Motion.fps`.
    Raises what `read_poses` raises.
    """
    capture = READERS[path.suffix.lower()](path, poses_per_s)
    bones = choose_bones(path, capture.joints, maps or shipped_bone_maps())
    rotations = retarget(capture, bones, find_stance(capture, bones))
    return Motion(rotations, np.zeros((len(rotations), 3), np.float32), capture.fps), capture.clip
