"""Subjects of a scene: dressed people in captured poses, or creatures made of capsules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Protocol

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.frames import BodyTruth
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import RestBody, paint_parts, sample_body
from synth.body.body_truth import body_truth
from synth.body.creatures import Creature
from synth.body.limb_lengths import LimbScales, scale_limbs
from synth.body.skinning import pose_body
from synth.clothing.garments import dress, garment_weights, sample_outfit
from synth.clothing.held_objects import draw_held_object
from synth.clothing.skirt_mesh import Skirt, skirt_mesh
from synth.geometry.mesh import Mesh
from synth.geometry.vertex_normals import vertex_normals
from synth.motion.pose_sampler import bent_poses, draw_pose, upright_poses
from synth.motion.posed_by_angles import pose_by_angles
from synth.motion.poses.clips import PoseBank, warn_of_unknown_clips
from synth.recipe import MAKEHUMAN_PROPORTIONS, ClothingRecipe, PoseRecipe, ProportionRecipe

THIGH_SHARE = 0.047
"""Radius of a thigh, as a share of the person's height."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A person or creature in a pose, in its own axes: y up, facing +z, left = +x."""

    mesh: Mesh
    joints_m: np.ndarray  #: float32 (J, 3), in the order of the body's joints
    root_m: np.ndarray  #: float32 (3,), the point that is placed before the camera: a person's pelvis
    skin_m: np.ndarray  #: float32 (V, 3), skin and close-fitting clothes: what rests on furniture
    truth: BodyTruth | None = None  #: of this subject alone, in its own axes; None = not known


class Subjects(Protocol):
    """Draws subjects of one kind of body."""

    body: BodyDefinition

    def draw(self, rng: np.random.Generator) -> Subject:
        """Draw a subject. It depends on the generator alone."""

    def describe(self) -> dict[str, Any]:
        """Return what subjects are made from beside the recipe: plain data, for the dataset's manifest."""


@dataclass(frozen=True, slots=True, eq=False)
class DressedPerson:
    """A person in the rest pose."""

    rest: RestBody
    skirt: Skirt | None  #: its mesh is made anew for each pose


class People:
    """People of all builds, dressed as the recipe says, in the recipe's poses.

    Parameters
    ----------
    pose : PoseRecipe
    clothing : ClothingRecipe
    bank : PoseBank
    proportion : ProportionRecipe

    Raises
    ------
    PosepipeError
        When the recipe leaves no poses.

    Warns
    -----
    UserWarning
        When it selects or leaves out clips that the bank does not have.
    """

    body = HUMAN

    def __init__(
        self,
        pose: PoseRecipe,
        clothing: ClothingRecipe,
        bank: PoseBank,
        proportion: ProportionRecipe = MAKEHUMAN_PROPORTIONS,
    ) -> None:
        self._pose = pose
        self._clothing = clothing
        self._proportion = proportion
        self._bank_digest = bank.digest()
        warn_of_unknown_clips(bank.clips.tolist(), pose.only_clips, pose.leave_out_clips)
        split = bank if pose.poses == "all" else bank.split(pose.poses)
        self._poses = split.select(pose.only_clips, pose.leave_out_clips)
        if len(self._poses.rotations) == 0:
            raise PosepipeError(f"the recipe leaves no {pose.poses} clips of {', '.join(np.unique(bank.clips))}")
        self._bent = bent_poses(self._poses) if pose.bent_share else None
        self._upright = upright_poses(self._poses) if pose.standing_share else None
        self._asset = load_body_asset()
        self._labels = paint_parts(self._asset)
        self._garments = garment_weights(self._asset)

    def describe(self) -> dict[str, Any]:
        """Return the digest of the pose bank."""
        return {"pose_bank": self._bank_digest}

    def draw(self, rng: np.random.Generator) -> Subject:
        """Draw a dressed person in a pose."""
        person = self.dressed(rng)
        pose = draw_pose(self._poses, self._pose, self._asset, person.rest, rng, self._bent, self._upright)
        return self.posed(person, pose, rng)

    def dressed(self, rng: np.random.Generator) -> DressedPerson:
        """Draw a person in the rest pose, with clothes or without."""
        rest = self._in_proportion(sample_body(self._asset, rng), rng)
        if not self._clothing.clothes:
            return DressedPerson(rest, None)
        normals = vertex_normals(rest.vertices_m, self._asset.triangles)
        outfit = sample_outfit(self._clothing.wardrobe, rng)
        skin_m = dress(rest.vertices_m, normals, self._garments, outfit, rng)
        return DressedPerson(replace(rest, vertices_m=skin_m), outfit.skirt)

    def _in_proportion(self, rest: RestBody, rng: np.random.Generator) -> RestBody:
        """The person with limbs of the recipe's lengths."""
        scales = LimbScales.drawn(astuple(self._proportion), rng)
        return rest if scales == LimbScales() else scale_limbs(self._asset, rest, scales)

    def poses_by_angles(self, person: DressedPerson, angles_deg: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the poses of a person whose joints have given angles, see `pose_by_angles`: float32 (T, 20, 4)."""
        return pose_by_angles(self._asset, person.rest, angles_deg)

    def posed(self, person: DressedPerson, rotations: np.ndarray, rng: np.random.Generator) -> Subject:
        """Put a person into a pose, float (20, 4), with a held object if the recipe says so."""
        skin = pose_body(self._asset, person.rest, rotations)
        meshes = [Mesh(skin.vertices_m, self._asset.triangles, self._labels, n_closed=len(self._labels))]
        if person.skirt is not None:
            meshes.append(skirt_mesh(person.skirt, skin.joints_m, THIGH_SHARE * person.rest.height_m, rng))
        held_share = self._clothing.held_object_share
        if held_share and rng.random() < held_share:
            meshes.append(draw_held_object(skin.joints_m, rng))
        mesh = Mesh.join(meshes) if len(meshes) > 1 else meshes[0]
        root_m = skin.joints_m[HUMAN.joint_index("pelvis")]
        return Subject(mesh, skin.joints_m, root_m, skin.vertices_m, body_truth(skin, HUMAN))


class Creatures:
    """Creatures made of capsules, as their own file describes them."""

    def __init__(self, creature: Creature) -> None:
        self._creature = creature
        self.body = creature.body
        self._triangles, self._labels = creature.mesh()
        self._root = next(k for k, joint in enumerate(self.body.joints) if self.body.parents[joint] is None)

    def describe(self) -> dict[str, Any]:
        """Return the whole description of the creature."""
        return {"creature": asdict(self._creature)}

    def draw(self, rng: np.random.Generator) -> Subject:
        """Draw a creature of any size in any pose."""
        drawn = self._creature.draw(rng)
        mesh = Mesh(drawn.vertices_m, self._triangles, self._labels)
        truth = body_truth(drawn, self.body)
        return Subject(mesh, drawn.joints_m, drawn.joints_m[self._root], drawn.vertices_m, truth)
