"""A person of five blocks in a tiny image: a model of it is trained in a second; and a dataset in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame, LabelledFrame

if TYPE_CHECKING:
    from posepipe.models.pose_model import PoseModel

TOY = BodyDefinition(
    name="toy",
    parts=("head", "trunk", "left_arm", "right_arm", "legs"),
    joints=("head", "torso", "left_hand", "right_hand"),
    joint_parts={"head": ("head",), "left_hand": ("left_arm",), "right_hand": ("right_arm",)},
    parents={"head": "torso", "torso": None, "left_hand": "torso", "right_hand": "torso"},
)
INTRINSICS = Intrinsics(60.0, 60.0, 31.5, 23.5)
SHAPE = (48, 64)
#: part: left, right, top, bottom in metres from the middle of the body, and how far it stands out
BLOCKS = {
    "trunk": (-0.22, 0.22, -0.5, 0.1, 0.0),
    "head": (-0.1, 0.1, -0.75, -0.5, -0.04),
    "left_arm": (0.22, 0.36, -0.45, 0.15, 0.03),
    "right_arm": (-0.36, -0.22, -0.45, 0.15, 0.03),
    "legs": (-0.18, 0.18, 0.1, 0.75, 0.02),
}


def toy_frame(seed: int) -> LabelledFrame:
    """One person somewhere in the image, 2 to 2.6 m away, facing the camera, so that left is at the right."""
    rng = np.random.default_rng([11, seed])
    x, y, z = rng.uniform([-0.4, -0.1, 2.0], [0.4, 0.1, 2.6])
    parts, depth_m = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.float32)
    rows, cols = np.mgrid[: SHAPE[0], : SHAPE[1]]
    across, down = (cols - INTRINSICS.cx) * z / INTRINSICS.fx - x, (rows - INTRINSICS.cy) * z / INTRINSICS.fy - y
    for part, (left, right, top, bottom, out) in BLOCKS.items():
        block = (across >= left) & (across < right) & (down >= top) & (down < bottom)
        parts[block] = TOY.part_code(part)
        depth_m[block] = round(z + out, 3)
    joints_m = np.array([[x, y - 0.62, z], [x, y - 0.2, z], [x + 0.29, y + 0.1, z], [x - 0.29, y + 0.1, z]], np.float32)
    depth = DepthFrame(depth_m, INTRINSICS, index=seed)
    return LabelledFrame(depth, parts, (parts > 0).astype(np.uint8), joints_m[None], np.ones((1, 4), bool))


def toy_frames(count: int, first: int = 0) -> list[LabelledFrame]:
    """Frames ``first``, ``first`` + 1 and so on."""
    return [toy_frame(first + k) for k in range(count)]


def toy_model(max_depth: int = 8, joint_frames: int = 20) -> PoseModel:
    """One tree, grown on frames 0 to 15, with joint parameters of frames from 200 on, fewer than 100."""
    # here, because most tests want frames alone, and what trains takes a second to import
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.train_forest import train_forest
    from posepipe.learn.growing import GrowthRules
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.joints.fit_joints import fit_joint_parameters

    growth = GrowthRules(max_depth=max_depth, candidates=60)
    forest = train_forest(toy_frames(16), ForestParameters(trees=1, pixels_per_person=150, growth=growth), TOY)
    with pytest.warns(UserWarning, match="joint parameters from"):
        return PoseModel(forest, fit_joint_parameters(forest, toy_frames(joint_frames, first=200)))


@dataclass
class FramesInMemory:
    """Labelled frames as a dataset of their own."""

    frames: list[LabelledFrame]
    body: BodyDefinition = TOY
    recipe: dict = field(default_factory=dict)
    source_revision: str = "here"
    name: str = "memory"
    has_parts: bool = True

    @property
    def content(self) -> str:
        return f"{[frame.depth.index for frame in self.frames]}"

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> LabelledFrame:
        return self.frames[index]
