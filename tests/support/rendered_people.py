"""The embedded people of a recipe, for the tests that render them."""

from __future__ import annotations

from pathlib import Path

from synth.dataset_writer import FrameRenderer, generate
from synth.motion.poses.clips import PoseBank, embedded_pose_bank
from synth.recipe import Recipe
from synth.scene.subjects import People


def people_of(recipe: Recipe, bank: PoseBank | None = None) -> People:
    """People in the poses of a bank, or of the embedded one."""
    return People(recipe, bank or embedded_pose_bank())


def renderer_of(recipe: Recipe, bank: PoseBank | None = None) -> FrameRenderer:
    """What renders them."""
    return FrameRenderer(recipe, people_of(recipe, bank))


def render_people(folder: Path, recipe: Recipe, workers: int = 1, **more) -> None:
    """Render a dataset of them."""
    generate(folder, recipe, people_of(recipe), workers=workers, **more)
