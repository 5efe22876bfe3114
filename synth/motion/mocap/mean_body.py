"""The mean person's bones, for many poses at once: rest directions for retargeting, joints to compare poses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.skinning import JOINT_PLACES, POSED_BONES, pose_body, rotation_matrices


@dataclass(frozen=True, eq=False)
class MeanBody:
    """Bones of one person at rest: y up, facing +z, left = +x; metres."""

    heads_m: dict[str, np.ndarray]  #: (3,), start of each bone of the rig, by name
    parents: tuple[int, ...]  #: of POSED_BONES, among them; -1 = none
    moved_by: np.ndarray  #: int64 (20,), the posed bone that each of the 20 joints moves with
    joints_m: np.ndarray  #: float64 (20, 3)

    def joints_of(self, rotations: np.ndarray) -> np.ndarray:
        """Return the joints of N poses, float (N, 20, 4), equal to those of `pose_body`: float32 (N, 20, 3)."""
        matrices = rotation_matrices(np.asarray(rotations, np.float64))
        rest_m = np.array([self.heads_m[bone] for bone in POSED_BONES])
        heads_m = np.tile(rest_m[0], (len(matrices), len(POSED_BONES), 1))
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                heads_m[:, bone] = heads_m[:, parent] + matrices[:, parent] @ (rest_m[bone] - rest_m[parent])
        arms_m = np.einsum("njab,jb->nja", matrices[:, self.moved_by], self.joints_m - rest_m[self.moved_by])
        return (heads_m[:, self.moved_by] + arms_m).astype(np.float32)


@lru_cache(maxsize=1)
def mean_body() -> MeanBody:
    """Return the mean of all people of the body file."""
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    parents = [asset.bone_names[asset.bone_parents[asset.bone(bone)]] for bone in POSED_BONES]
    at_rest = np.tile([0.0, 0.0, 0.0, 1.0], (len(POSED_BONES), 1))
    return MeanBody(
        heads_m=dict(zip(asset.bone_names, rest.bone_heads_m.astype(np.float64), strict=True)),
        parents=tuple(POSED_BONES.index(parent) if parent in POSED_BONES else -1 for parent in parents),
        moved_by=np.array([POSED_BONES.index(JOINT_PLACES[joint][0]) for joint in HUMAN.joints]),
        joints_m=pose_body(asset, rest, at_rest).joints_m.astype(np.float64),
    )
