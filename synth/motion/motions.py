"""Motions of people in sequences: walks, played along a path, and acts, played in one place.

Motions come with the project, from packs of motions, or from captures in BVH and ASF/AMC files. Captures are read at
about the frame rate of sequences; they and packs are resampled to exactly this rate.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from synth.motion.mocap import MocapFile, mocap_files, read_motion
from synth.motion.mocap.bone_maps import BoneMap, read_bone_map, shipped_bone_maps
from synth.motion.poses.clips import (
    Motion,
    embedded_motion,
    is_held_out,
    is_pose_bank,
    read_motions,
    warn_of_unknown_clips,
)
from synth.motion.poses.pose_variation import pose_between
from synth.recipe import FPS, PoseRecipe

WALK = "walk"
"""Clips with this word in their name, or in that of their folder, are walks."""
MIN_FPS = 1.0
"""Minimum rate of a motion. A capture with fewer poses a second is no motion, or states a wrong time."""
SAME_RATE = 5e-4
"""Relative difference below which rates are equal: files state frame times with few digits."""


@dataclass(frozen=True, slots=True, eq=False)
class CapturedMotion:
    """A motion and its source."""

    clip: str  #: name that decides whether it is held out
    walks: bool
    motion: Motion


@dataclass(frozen=True, slots=True)
class Motions:
    """Motions to choose from: ``walks`` are played along a path, ``acts`` in one place."""

    walks: tuple[Motion, ...]
    acts: tuple[Motion, ...]

    @classmethod
    def embedded(cls) -> Motions:
        """Return the motions that come with the project: a walk and a dance."""
        return cls((embedded_motion("humanoid3d_walk"),), (embedded_motion("humanoid3d_dance_a"),))

    @classmethod
    def select(cls, captured: Sequence[CapturedMotion], recipe: PoseRecipe) -> Motions:
        """Select captured motions by the clips of a recipe. Without any walk, or any act, the embedded one is used.

        Raises
        ------
        PosepipeError
            When the recipe leaves no motion.

        Warns
        -----
        UserWarning
            When it selects or leaves out clips that were not captured.
        """
        warn_of_unknown_clips({each.clip for each in captured}, recipe.only_clips, recipe.leave_out_clips)
        own = [each for each in captured if _is_selected(each.clip, recipe)]
        if not own:
            names = sorted({each.clip for each in captured})
            raise PosepipeError(
                f'the recipe, with poses = "{recipe.poses}", leaves none of {len(names)} motions, {names[0]} first;'
                ' poses = "all" plays every one'
            )
        embedded = cls.embedded()
        walks = tuple(each.motion for each in own if each.walks)
        acts = tuple(each.motion for each in own if not each.walks)
        return cls(walks or embedded.walks, acts or embedded.acts)

    def digest(self) -> str:
        """Return a hash of the content, 16 hexadecimal digits: equal motions in the same order have equal digests."""
        content = hashlib.sha256()
        for kind in (self.walks, self.acts):
            content.update(f"{len(kind)} motions\n".encode())
            for motion in kind:
                content.update(f"{motion.rotations.shape} {motion.fps}\n".encode())
                content.update(np.ascontiguousarray(motion.rotations, np.float32).tobytes())
        return content.hexdigest()[:16]


def _is_selected(clip: str, recipe: PoseRecipe) -> bool:
    if recipe.poses != "all" and is_held_out(clip) != (recipe.poses == "validation"):
        return False
    return clip not in recipe.leave_out_clips and (not recipe.only_clips or clip in recipe.only_clips)


def read_captured_motions(
    *paths: str | Path, bone_map: str | Path | None = None, advance: Callable[[], None] = lambda: None
) -> list[CapturedMotion]:
    """Read motion capture of any kind as motions, in the order of their files.

    Parameters
    ----------
    paths : paths
        BVH files, AMC files with their ASF beside them, packs of motions (`synth.motion.poses.clips.read_motions`), or
        folders of these. A broken file in a folder is left out with a warning.
    bone_map : path, optional
        TOML file that names the joints; None = the map of the project that fits.
    advance : callable
        Called after each file.

    Raises
    ------
    PosepipeError
        When a path is missing or broken, holds single poses, or no file of a folder can be read.
    """
    maps = shipped_bone_maps() if bone_map is None else (read_bone_map(Path(bone_map)),)
    found: list[CapturedMotion] = []
    readable: set[Path | None] = set()
    problems: dict[Path, str] = {}
    for file in mocap_files(paths):
        try:
            found += _read_one(file, maps)
            readable.add(file.folder)
        except PosepipeError as error:
            if file.folder is None:
                raise
            problems.setdefault(file.folder, str(error))
            warnings.warn(f"left out: {error}", stacklevel=2)
        advance()
    for folder, reason in problems.items():
        if folder not in readable:
            raise FormatError(folder, f"none of its files can be read as motions; the first: {reason}")
    return found


def _read_one(file: MocapFile, maps: Sequence[BoneMap]) -> list[CapturedMotion]:
    path = file.path
    if path.suffix.lower() == ".npz":
        if is_pose_bank(path):
            raise FormatError(path, "single poses; sequences need motions: BVH or AMC files, or a pack of motions")
        packed = {
            # datasets are known by the digest of their motions, which at this rate are kept as they are
            name: motion if motion.fps == FPS else _resampled(path, motion)
            for name, motion in read_motions(path).items()
        }
        return [CapturedMotion(name, WALK in name.lower(), motion) for name, motion in packed.items()]
    motion, clip = read_motion(path, maps, FPS)
    walks = WALK in f"{path.absolute().parent.name}/{clip}".lower()
    return [CapturedMotion(clip, walks, _resampled(path, motion))]


def _resampled(path: Path, motion: Motion) -> Motion:
    """A motion at the frame rate of sequences, without its path."""
    if motion.fps < MIN_FPS:
        raise FormatError(path, f"a pose every {1 / motion.fps:g} s; sequences need at least one a second")
    rotations = at_frame_rate(motion.rotations, motion.fps)
    return Motion(rotations, np.zeros((len(rotations), 3), np.float32), FPS)


def at_frame_rate(poses: np.ndarray, fps: float) -> np.ndarray:
    """Resample poses from ``fps`` to FPS by interpolation: (T, 20, 4) to float32 (T', 20, 4)."""
    last = len(poses) - 1
    if last == 0 or abs(fps / FPS - 1) < SAME_RATE:
        return poses.astype(np.float32)
    places = np.minimum(np.arange(int(last * (FPS / fps) + 1e-6) + 1) * (fps / FPS), last)
    before = np.minimum(places.astype(int), last - 1)
    return np.stack([pose_between(poses[k], poses[k + 1], place - k) for k, place in zip(before, places, strict=True)])
