"""The flow of a rendered frame on one page: subjects -> placement -> scene -> rendered frame -> labelled frame.

A frame depends on (recipe, index) alone, a sequence on (recipe, number).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from posepipe.camera import Extrinsics
from posepipe.errors import PosepipeError
from posepipe.frames import LabelledFrame
from synth.background_renderer import BackgroundRenderer
from synth.backgrounds.background_bank import BackgroundBank
from synth.exercise_sequences import ExerciseRenderer
from synth.furniture.model_bank import FurnitureBank
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.motions import Motions
from synth.recipe import BackgroundRecipe, Recipe
from synth.recipe.idle_fields import idle_fields
from synth.scene.draw_scene import draw_companions, draw_furniture, draw_scene
from synth.scene.placement import MAX_AIM_ABOVE_ROOT_M, draw_placement
from synth.scene.scene import floor_y_m, place_subject
from synth.scene.seats.furnishings import describe_furnishings, furnishings_of
from synth.scene.subjects import People, Subjects
from synth.sequences import SequenceRenderer

MAX_VIEWS = 200
MIN_PERSON_PIXELS = 200
"""Minimum number of pixels that show people. A view with fewer is drawn again: it is useless for training."""
_log = logging.getLogger(__name__)


class Renderer(Protocol):
    """Renders a recipe, any of its recordings at any time."""

    recipe: Recipe

    @property
    def subjects(self) -> Subjects:
        """Draw who is in the frames."""

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Render the frames of one recording, by their numbers in the dataset."""

    def scenario(self, number: int) -> str | None:
        """Return what recording ``number`` shows if it is a sequence; None = its frames are independent."""

    def extrinsics(self, number: int) -> Extrinsics | None:
        """Return the pose of the camera in recording ``number``; None = the recipe has one camera."""

    def describe(self) -> dict[str, Any]:
        """Return what is rendered beside the recipe: plain data, for the dataset's manifest."""


class FrameRenderer:
    """Renders the independent frames of a recipe, any frame at any time."""

    def __init__(self, recipe: Recipe, subjects: Subjects, bank: FurnitureBank | None = None) -> None:
        self.recipe = recipe
        self.subjects = subjects
        self._furnishings = furnishings_of(recipe.scene, bank)

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Render ``count`` frames from ``first`` on."""
        return map(self.render, range(first, first + count))

    def scenario(self, number: int) -> None:
        """Return None: frames are independent."""

    def extrinsics(self, number: int) -> None:
        """Return None: every frame has a camera of its own."""

    def describe(self) -> dict[str, Any]:
        """Return what the subjects and the furniture are made from."""
        return self.subjects.describe() | describe_furnishings(self._furnishings)

    def render(self, index: int) -> LabelledFrame:
        """Render frame ``index``, labelled.

        Raises
        ------
        PosepipeError
            When no view shows the subject.
        """
        recipe, sensor, body = self.recipe, self.recipe.sensor, self.subjects.body
        lens = sensor.intrinsics, sensor.width
        rng = np.random.default_rng([recipe.seed, index])
        subject = self.subjects.draw(rng)
        furniture = draw_furniture(subject, body, recipe.scene, rng, self._furnishings)
        root_height_m = subject.root_m[1] - floor_y_m(subject, furniture)
        max_aim_m = root_height_m + MAX_AIM_ABOVE_ROOT_M if recipe.pose.lying_share else math.inf
        for _ in range(MAX_VIEWS):
            placement = draw_placement(recipe.camera, root_height_m, *lens, rng, max_aim_m)
            first = place_subject(subject, placement, furniture)
            placed = draw_companions(first, self.subjects, recipe.camera, recipe.scene, lens, rng, self._furnishings)
            scene = draw_scene(placed, recipe.scene, rng, self._furnishings)
            frame = render_labelled_frame(scene, body, Sensing.of(recipe), index, rng)
            if scene.deserted or np.count_nonzero(frame.parts) >= MIN_PERSON_PIXELS:
                return frame
        raise PosepipeError(
            f"recipe: of {MAX_VIEWS} views none showed {MIN_PERSON_PIXELS} pixels of the person; distance_m,"
            " camera_height_m, aim_height_m, pitch_deg or lateral_offset lie out of sight or out of the sensor's range,"
            f" or its image of {sensor.width}x{sensor.height} pixels is too small"
        )


def make_renderer(
    recipe: Recipe,
    subjects: Subjects,
    motions: Motions | None = None,
    bank: FurnitureBank | None = None,
    backgrounds: BackgroundBank | None = None,
) -> Renderer:
    """Return the renderer of a recipe: of independent frames, of composites, or of sequences.

    Fields of the recipe that do nothing are logged.

    Parameters
    ----------
    recipe : Recipe
    subjects : Subjects
        Draws who is in the frames.
    motions : Motions, optional
        Of sequences; None = those that come with the project.
    bank : FurnitureBank, optional
        Of rooms and seats with real furniture; None = the models that come with the project.
    backgrounds : BackgroundBank, optional
        Real empty rooms, in place of rendered ones.

    Raises
    ------
    ValueError
        For sequences of creatures, which have no motions, motions beside exercises, sequences with backgrounds, or a
        recipe for backgrounds without any.
    """
    if backgrounds is None and recipe.background != BackgroundRecipe():
        raise ValueError("the recipe composites people into real empty rooms (section background), and got none")
    if backgrounds is not None and recipe.sequence_frames:
        raise ValueError("backgrounds need single frames, and the recipe asks for sequences (sequence_frames)")
    for line in idle_fields(recipe, backgrounds is not None, motions is not None):
        _log.warning("%s", line)
    if backgrounds is not None:
        return BackgroundRenderer(recipe, subjects, backgrounds, bank)
    if not recipe.sequence_frames:
        return FrameRenderer(recipe, subjects, bank)
    if not isinstance(subjects, People):
        raise ValueError("the recipe asks for sequences (sequence_frames), and only people have motions; give another")
    if recipe.pose.motions != "captured":
        if motions is not None:
            kind = recipe.pose.motions
            raise ValueError(f"the recipe's motions are {kind!r}, and it plays no captures (--mocap); leave them out")
        return ExerciseRenderer(recipe, subjects, bank)
    return SequenceRenderer(recipe, subjects, motions or Motions.embedded(), bank)
