"""Who stands before the camera: dressed people in captured poses, or creatures of primitives."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Protocol

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.errors import PosepipeError
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import RestBody, paint_parts, sample_body
from synth.body.creatures import Creature
from synth.body.skinning import pose_body
from synth.clothing.garments import dress, garment_weights, sample_outfit
from synth.clothing.held_objects import carry
from synth.clothing.skirt_mesh import Drape, hang
from synth.geometry.mesh import Mesh
from synth.geometry.vertex_normals import vertex_normals
from synth.motion.pose_sampler import draw_pose
from synth.motion.poses.clips import PoseBank
from synth.recipe import Recipe
from synth.scene.furniture import support

THIGH_SHARE = 0.047
"""Radius of a thigh, of a person's height."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """Somebody in a pose, in his own axes: y up, facing +z, left = +x."""

    mesh: Mesh
    joints_m: np.ndarray  #: float32 (J, 3), in the order of the body's joints
    root_m: np.ndarray  #: float32 (3,), what is placed before the camera: of a person, the pelvis
    support: Mesh | None = None  #: what he rests on, should there be a room

    @property
    def floor_y_m(self) -> float:
        """Height of the lowest point."""
        return min(float(mesh.vertices_m[:, 1].min()) for mesh in self._meshes)

    @property
    def reach_m(self) -> float:
        """How far from the root he reaches along the floor: what stands in a room keeps clear of it."""
        return max(float(np.hypot(*(mesh.vertices_m - self.root_m)[:, [0, 2]].T).max()) for mesh in self._meshes)

    @property
    def _meshes(self) -> list[Mesh]:
        return [self.mesh] if self.support is None else [self.mesh, self.support]


class Cast(Protocol):
    """Draws figures of one kind of body."""

    body: BodyDefinition

    def figure(self, rng: np.random.Generator) -> Figure:
        """Draw somebody. What is drawn depends on the generator alone."""

    def describe(self) -> dict:
        """What the figures are made from beside the recipe: plain data, for the dataset's manifest."""


@dataclass(frozen=True, slots=True, eq=False)
class DressedPerson:
    """Somebody in the rest pose."""

    rest: RestBody
    drape: Drape | None  #: hung on each pose anew


class People:
    """People of all builds, dressed as the recipe says, in the recipe's poses.

    Raises
    ------
    PosepipeError
        When the recipe leaves no poses.
    """

    body = HUMAN

    def __init__(self, recipe: Recipe, bank: PoseBank) -> None:
        self._recipe = recipe
        self._bank_digest = bank.digest()
        split = bank if recipe.poses == "all" else bank.split(recipe.poses)
        self._poses = split.select(recipe.only_clips, recipe.leave_out_clips)
        if len(self._poses.rotations) == 0:
            raise PosepipeError(f"the recipe leaves no {recipe.poses} clips of {', '.join(np.unique(bank.clips))}")
        self._asset = load_body_asset()
        self._labels = paint_parts(self._asset)
        self._garments = garment_weights(self._asset)

    def describe(self) -> dict:
        return {"pose_bank": self._bank_digest}

    def figure(self, rng: np.random.Generator) -> Figure:
        person = self.dressed(rng)
        return self.posed(person, draw_pose(self._poses, self._recipe, self._asset, person.rest, rng), rng)

    def dressed(self, rng: np.random.Generator) -> DressedPerson:
        """Draw somebody, in clothes or without, in the rest pose."""
        rest = sample_body(self._asset, rng)
        if not self._recipe.clothes:
            return DressedPerson(rest, None)
        normals = vertex_normals(rest.vertices_m, self._asset.triangles)
        outfit = sample_outfit(self._recipe.wardrobe, rng)
        skin_m = dress(rest.vertices_m, normals, self._garments, outfit, rng)
        return DressedPerson(replace(rest, vertices_m=skin_m), outfit.drape)

    def posed(self, person: DressedPerson, rotations: np.ndarray, rng: np.random.Generator) -> Figure:
        """Move somebody into a pose, float (20, 4), and give him something to carry if the recipe says so."""
        skin = pose_body(self._asset, person.rest, rotations)
        meshes = [Mesh(skin.vertices_m, self._asset.triangles, self._labels, n_closed=len(self._labels))]
        if person.drape is not None:
            meshes.append(hang(person.drape, skin.joints_m, THIGH_SHARE * person.rest.height_m, rng))
        if self._recipe.carried_share and rng.random() < self._recipe.carried_share:
            meshes.append(carry(skin.joints_m, rng))
        mesh = Mesh.join(meshes) if len(meshes) > 1 else meshes[0]
        below = None
        if self._recipe.support_share and rng.random() < self._recipe.support_share:
            below = support(skin.vertices_m, skin.joints_m, rng)
        return Figure(mesh, skin.joints_m, skin.joints_m[HUMAN.joint_index("pelvis")], below)


class Creatures:
    """Bodies of primitives, as their own file describes them."""

    def __init__(self, creature: Creature) -> None:
        self._creature = creature
        self.body = creature.body
        self._triangles, self._labels = creature.mesh()
        self._root = next(k for k, joint in enumerate(self.body.joints) if self.body.parents[joint] is None)

    def describe(self) -> dict:
        return {"creature": asdict(self._creature)}

    def figure(self, rng: np.random.Generator) -> Figure:
        drawn = self._creature.draw(rng)
        mesh = Mesh(drawn.vertices_m, self._triangles, self._labels)
        return Figure(mesh, drawn.joints_m, drawn.joints_m[self._root])
