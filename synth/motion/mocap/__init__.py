"""Users' own motion capture, from files to a pose bank, on one page.

capture file -> `Capture` -> bones by name -> standing pose -> rotations of our bones -> distinct poses
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
from synth.motion.mocap.capture import SAMPLED_FPS
from synth.motion.mocap.distinct_poses import DistinctPoses
from synth.motion.mocap.mean_body import mean_body
from synth.motion.mocap.retarget import retarget
from synth.motion.mocap.stance import find_stance
from synth.motion.poses.clips import Motion, PoseBank, is_motion_pack, read_pose_bank

READERS = {".bvh": read_bvh, ".amc": read_amc}
POSE_BANK = ".npz"
WANTED = "BVH files, AMC files with their ASF beside them, pose banks (.npz), or folders of these"


@dataclass(frozen=True)
class MocapFile:
    """One file to read, and the folder that it was found in; None for a file that was given by name."""

    path: Path
    folder: Path | None


def mocap_files(paths: Sequence[str | Path]) -> list[MocapFile]:
    """List the files to read, those in folders and their subfolders in name order. Pose banks come first.

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

    Pose banks are taken whole. Captures are sampled at about ten frames a second. A frame is kept if no limb passes
    through the mean body, and if at least one joint differs by 5 cm from every pose that is kept already.

    Parameters
    ----------
    paths : paths
        BVH files, AMC files with their ASF beside them, pose banks (.npz), or folders of these. A broken file in a
        folder is left out with a warning.
    bone_map : path, optional
        TOML file that names the joints; None = the map of the project that fits.
    advance : callable
        Called after each file.

    Raises
    ------
    PosepipeError
        When a path is missing or broken, or no file of a folder can be read.
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
        if is_motion_pack(path):
            raise FormatError(path, "motions; single frames need poses; give a pose bank, or a recipe of sequences")
        bank = read_pose_bank(path)
        distinct.add(mean_body().joints_of(bank.rotations))
        return bank
    rotations, clip = read_poses(path, maps)
    joints_m = mean_body().joints_of(rotations)
    possible = np.logical_not(limbs_intersect(joints_m))
    if not possible.any():
        problem = f"in all {len(rotations)} sampled frames a limb passes through the body"
        raise FormatError(path, f"{problem}; do the joints of the bone map fit?")
    kept = np.flatnonzero(possible)[distinct.choose(joints_m[possible])]
    return PoseBank(rotations[kept], POSED_BONES, np.full(len(kept), clip))


def read_poses(path: Path, maps: Sequence[BoneMap] = ()) -> tuple[np.ndarray, str]:
    """Return the sampled poses of one BVH or AMC file, float32 (T, 20, 4), as in a `PoseBank`, and the clip's name.

    Raises
    ------
    FormatError
        When the file is broken, no map fits its joints, or no frame shows a person who stands upright.
    """
    motion, clip = read_motion(path, maps, SAMPLED_FPS)
    return motion.rotations, clip


def read_motion(path: Path, maps: Sequence[BoneMap], poses_per_s: float) -> tuple[Motion, str]:
    """Return the motion of one BVH or AMC file, in place and without heading, and the clip's name.

    It has every k-th frame of the file, about ``poses_per_s`` a second; `Motion.fps` is the exact rate. Raises the same
    errors as `read_poses`.
    """
    capture = READERS[path.suffix.lower()](path, poses_per_s)
    bones = choose_bones(path, capture.joints, maps or shipped_bone_maps())
    rotations = retarget(capture, bones, find_stance(capture, bones))
    return Motion(rotations, np.zeros((len(rotations), 3), np.float32), capture.fps), capture.clip
