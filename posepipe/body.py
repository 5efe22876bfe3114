"""Body definitions: labelled surface parts, the joints inside, and the skeleton that connects them.

Nothing in the library is specific to humans. Every dataset and every model contains its `BodyDefinition`. The same
commands train models of a hand, a dog or a robot arm.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np


@dataclass(frozen=True)
class BodyDefinition:
    """Names, mirror pairs, the parts of each joint and the skeleton of one kind of body.

    Label images are uint8: 0 = background, ``k`` = ``parts[k - 1]``. Left is the body's own left.

    Raises
    ------
    ValueError
        For an unknown joint, parent or part, a repeated name, or too many parts.
    """

    name: str
    parts: tuple[str, ...]  #: surface labels, in the order of their codes
    joints: tuple[str, ...]  #: in the order of the rows of every (J, 3) array
    joint_parts: dict[str, tuple[str, ...]]  #: joint -> parts whose surface surrounds it; may be empty
    parents: dict[str, str | None] = field(default_factory=dict)  #: joint -> next joint towards the root

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= 255:
            raise ValueError(f"body {self.name!r}: between 1 and 255 parts fit a uint8 label, got {len(self.parts)}")
        for kind, names in (("part", self.parts), ("joint", self.joints)):
            if len(set(names)) != len(names):
                raise ValueError(f"body {self.name!r}: every {kind} needs a unique name, got {', '.join(names)}")
        for name in set(self.parts) & set(self.joints):
            if name not in self.joint_parts.get(name, ()):
                raise ValueError(f"body {self.name!r}: part {name!r} bears a joint's name but is not among its parts")
        for joint, parts in self.joint_parts.items():
            self._check_name(joint, self.joints, "joint")
            for part in parts:
                self._check_name(part, self.parts, "part")
        for joint, parent in self.parents.items():
            self._check_name(joint, self.joints, "joint")
            if parent is not None:
                self._check_name(parent, self.joints, "joint")

    def _check_name(self, name: str, names: tuple[str, ...], kind: str) -> None:
        if name not in names:
            raise ValueError(f"body {self.name!r} has no {kind} {name!r}; it has {', '.join(names)}")

    @property
    def n_classes(self) -> int:
        """Number of classes of a forest: the parts, and class 0 for the background."""
        return len(self.parts) + 1

    def part_code(self, part: str) -> int:
        """Label code of a part, from 1. Raises ValueError for an unknown part."""
        self._check_name(part, self.parts, "part")
        return self.parts.index(part) + 1

    def joint_index(self, joint: str) -> int:
        """Row of a joint in every (J, 3) array. Raises ValueError for an unknown joint."""
        self._check_name(joint, self.joints, "joint")
        return self.joints.index(joint)

    def joint_classes(self) -> np.ndarray:
        """Table of the classes that belong to each joint: bool (J, C)."""
        table = np.zeros((len(self.joints), self.n_classes), bool)
        for joint, parts in self.joint_parts.items():
            table[self.joint_index(joint), [self.part_code(p) for p in parts]] = True
        return table

    def mirrored_joints(self) -> np.ndarray:
        """Index of each joint's mirror image, or its own index where there is none: int (J,)."""
        return np.array([_index(self.joints, mirror_name(j), i) for i, j in enumerate(self.joints)])

    def mirrored_classes(self) -> np.ndarray:
        """Mirror image of each class, 0 included, or the class itself where there is none: int (C,)."""
        return np.array([0] + [_index(self.parts, mirror_name(p), i) + 1 for i, p in enumerate(self.parts)])

    def across(self, joints_m: np.ndarray) -> np.ndarray:
        """Mean vector from right to left over all pairs of joints that are known.

        Parameters
        ----------
        joints_m : float (J, 3), metres; NaN = unknown

        Returns
        -------
        float (3,), metres; NaN without a pair
        """
        mirror = self.mirrored_joints()
        left = np.array([row for row, name in enumerate(self.joints) if name.startswith("left_")], int)
        gaps_m = joints_m[left] - joints_m[mirror[left]]
        known_m = gaps_m[np.isfinite(gaps_m).all(axis=1)]
        return known_m.mean(axis=0) if len(known_m) else np.full(3, np.nan)

    @property
    def has_sides(self) -> bool:
        """Whether any part has a mirror image. The mirrored body is then a valid body, too."""
        return bool((self.mirrored_classes() != np.arange(self.n_classes)).any())

    def bones(self) -> list[tuple[int, int]]:
        """Index pairs (joint, parent), for drawing and for bone lengths."""
        return [
            (self.joint_index(joint), self.joint_index(parent))
            for joint, parent in self.parents.items()
            if parent is not None
        ]

    def to_dict(self) -> dict:
        """Convert to plain data, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> BodyDefinition:
        """Create from the data of `to_dict`. Raises ValueError or KeyError for anything else."""
        return cls(
            name=data["name"],
            parts=tuple(data["parts"]),
            joints=tuple(data["joints"]),
            joint_parts={j: tuple(p) for j, p in data["joint_parts"].items()},
            parents=dict(data["parents"]),
        )


def _index(names: tuple[str, ...], name: str, otherwise: int) -> int:
    return names.index(name) if name in names else otherwise


def mirror_name(name: str) -> str:
    """Name of the counterpart on the other side: left_hand <-> right_hand, neck <-> neck."""
    if name.startswith("left_"):
        return "right_" + name.removeprefix("left_")
    if name.startswith("right_"):
        return "left_" + name.removeprefix("right_")
    return name


def _both_sides(*names: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for name in names for side in ("left", "right"))


HUMAN = BodyDefinition(
    name="human",
    parts=(
        *_both_sides("upper_head", "lower_head"),
        "neck",
        *_both_sides("shoulder", "upper_arm", "lower_arm", "elbow", "wrist", "hand"),
        *_both_sides("upper_torso", "lower_torso"),
        *_both_sides("upper_leg", "lower_leg", "knee", "ankle", "foot"),
    ),
    joints=(
        "head",
        "neck",
        "torso",
        "pelvis",
        *_both_sides("shoulder", "elbow", "wrist", "hand", "hip", "knee", "ankle", "foot"),
    ),
    joint_parts={
        "head": _both_sides("upper_head", "lower_head"),
        "neck": ("neck",),
        **{joint: (joint,) for joint in _both_sides("shoulder", "elbow", "wrist", "hand", "knee", "ankle", "foot")},
    },
    parents={
        "head": "neck",
        "neck": "torso",
        "torso": "pelvis",
        "pelvis": None,
        **{
            f"{side}_{joint}": f"{side}_{parent}" if parent not in ("neck", "pelvis") else parent
            for side in ("left", "right")
            for joint, parent in {
                "shoulder": "neck",
                "elbow": "shoulder",
                "wrist": "elbow",
                "hand": "wrist",
                "hip": "pelvis",
                "knee": "hip",
                "ankle": "knee",
                "foot": "ankle",
            }.items()
        },
    },
)
"""The human body: 31 parts and 20 joints. Datasets and models rely on their order (docs/reference/formats.md)."""
