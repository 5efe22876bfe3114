"""Bone maps: which joint of a captured skeleton is which bone of ours, a TOML file for each family of names.

Names are compared without case, without a namespace ("mixamorig:") and without a prefix that all joints share
("Bip01 "). Space, dot, dash and underscore are equal. docs/reference/formats.md describes how to write a map.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from posepipe.errors import FormatError
from posepipe.io.toml_file import read_toml
from synth.motion.poses.clips import DATA_DIR

BONE_MAPS_DIR = DATA_DIR / "bone_maps"

CHAINS = ("spine", "neck")
"""Bones that rigs divide differently: any number of joints, from the pelvis up. The last of the neck is the head."""
NEEDED = (
    *("pelvis", *CHAINS),
    *(f"{bone}_{side}" for side in "lr" for bone in ("upperarm", "lowerarm", "hand", "thigh", "calf", "foot")),
)
OPTIONAL = tuple(f"{bone}_{side}" for side in "lr" for bone in ("clavicle", "fingers", "toes"))
"""Without them, collar bones follow raised arms, hands continue the forearm, and feet point forward at rest."""
UP_AXES = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True)
class BoneMap:
    """Names of the joints where our bones begin. Several are alternatives for one bone, or the links of a chain."""

    name: str
    joints: dict[str, tuple[str, ...]]  #: by bone
    up: str | None = None  #: one of UP_AXES, if frames have another up axis than the rest pose

    def find(self, names: Sequence[str]) -> dict[str, list[int]]:
        """Return the rows of a skeleton's joints by bone: all that are found of a chain, else the first found."""
        rows = {plain: row for row, plain in reversed(list(enumerate(plain_names(names))))}
        found = {
            bone: [rows[plain] for wanted in joints if (plain := _plain(wanted)) in rows]
            for bone, joints in self.joints.items()
        }
        return {bone: there if bone in CHAINS else there[:1] for bone, there in found.items() if there}


@dataclass(frozen=True)
class MappedBones:
    """A bone map applied to one skeleton."""

    chains: dict[str, tuple[int, ...]]  #: joints of the spine and of the neck
    joints: dict[str, int]  #: of the other bones; the optional ones may be missing
    up: str | None


def plain_names(names: Sequence[str]) -> list[str]:
    """Return names in the form that is compared. The root may lack the prefix that all others share."""
    bare = [name.rpartition(":")[2] for name in names]
    prefix = _shared_prefix(bare[1:])
    return [_plain(name.removeprefix(prefix)) for name in bare]


def _shared_prefix(names: Sequence[str]) -> str:
    """Common beginning of all names, up to and with a separator."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return re.sub(r"[^\s_.\-]*$", "", first[:shared])


def _plain(name: str) -> str:
    return re.sub(r"[\s_.\-]+", " ", name).strip().lower()


@lru_cache(maxsize=1)
def shipped_bone_maps() -> tuple[BoneMap, ...]:
    """Return the maps that come with the project."""
    return tuple(read_bone_map(path) for path in sorted(BONE_MAPS_DIR.glob("*.toml")))


def read_bone_map(path: Path) -> BoneMap:
    """Read a map. Raises FormatError for a file that is not TOML, lacks bones, or has unknown bones."""
    fields = read_toml(path)
    up = fields.pop("up", None)
    if up is not None and up not in UP_AXES:
        raise FormatError(path, f"up: wanted one of {', '.join(UP_AXES)}, got {up!r:.60}")
    if unknown := sorted(fields.keys() - {*NEEDED, *OPTIONAL}):
        raise FormatError(path, f"no bone {', '.join(unknown)}; there are {', '.join((*NEEDED, *OPTIONAL))}, and up")
    if missing := [bone for bone in NEEDED if bone not in fields]:
        raise FormatError(path, f'lacks {", ".join(missing)}; each is one line, as in thigh_l = "LeftUpLeg"')
    joints = {bone: (names,) if isinstance(names, str) else names for bone, names in fields.items()}
    for bone, names in joints.items():
        if not isinstance(names, tuple | list) or not names or not all(isinstance(name, str) for name in names):
            raise FormatError(path, f"{bone}: wanted the name of a joint or a list of names, got {names!r:.60}")
    return BoneMap(path.stem, {bone: tuple(names) for bone, names in joints.items()}, up)


def choose_bones(path: Path, names: Sequence[str], maps: Sequence[BoneMap]) -> MappedBones:
    """Choose the map that covers the needed bones; of several the one that finds the most joints, then the first.

    Raises
    ------
    FormatError
        When no map covers them. It names the bones that the nearest map misses, and the joints of the file.
    """
    found = [bone_map.find(names) for bone_map in maps]
    covering = [rows for rows in found if rows.keys() >= set(NEEDED)]
    if not covering:
        nearest = max(found, key=len)
        bone_map = maps[found.index(nearest)]
        missing = [f"{bone} ({' or '.join(bone_map.joints[bone])})" for bone in NEEDED if bone not in nearest]
        raise FormatError(
            path,
            f"no bone map covers its skeleton; the nearest, {bone_map.name}, misses {', '.join(missing)}; the joints "
            f"are {', '.join(names)}; name yours in a map (docs/reference/formats.md) and give it as --bone-map",
        )
    best = max(covering, key=lambda rows: sum(map(len, rows.values())))
    return MappedBones(
        chains={bone: tuple(best[bone]) for bone in CHAINS},
        joints={bone: rows[0] for bone, rows in best.items() if bone not in CHAINS},
        up=maps[found.index(best)].up,
    )
