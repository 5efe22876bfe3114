"""The embedded people: their joints, and people of a recipe for the tests that render them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.skinning import pose_body
from synth.dataset_writer import write_dataset
from synth.motion.motions import Motions
from synth.motion.poses.clips import PoseBank, embedded_pose_bank
from synth.recipe import Recipe
from synth.renderer import FrameRenderer, make_renderer
from synth.scene.subjects import People


def recipe_of(**fields: Any) -> Recipe:
    """Make a recipe from flat fields, whatever section they belong to."""
    return Recipe.from_dict(fields)


def people_of(recipe: Recipe, bank: PoseBank | None = None) -> People:
    """Return people in the poses of a bank, or of the embedded one."""
    return People(recipe.pose, recipe.clothing, bank or embedded_pose_bank(), recipe.proportion)


def renderer_of(recipe: Recipe, bank: PoseBank | None = None) -> FrameRenderer:
    """Return a renderer of them, frame by frame."""
    return FrameRenderer(recipe, people_of(recipe, bank))


def render_people(folder: Path, recipe: Recipe, workers: int = 1, motions: Motions | None = None, **more: Any) -> None:
    """Render a dataset of them."""
    write_dataset(folder, make_renderer(recipe, people_of(recipe), motions), workers=workers, **more)


def captured_joints_m() -> list[np.ndarray]:
    """Joints of thirty people in captured poses: float (20, 3) each, metres."""
    asset, bank, rng = load_body_asset(), embedded_pose_bank(), np.random.default_rng(0)
    shapes = [sample_body(asset, rng) for _ in range(5)]
    return [pose_body(asset, shapes[k % 5], bank.rotations[29 * k]).joints_m for k in range(30)]
