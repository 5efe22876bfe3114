"""The flow of a composite on one page: background -> floor and free space -> people -> composite -> labelled frame.

A frame depends on (recipe, index) and the bank of backgrounds alone. All frames have the lens of the recipe's sensor,
whatever camera read their background: a recording has one camera.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame, LabelledFrame
from synth.backgrounds.background_bank import BackgroundBank
from synth.backgrounds.background_view import BackgroundView, draw_view
from synth.backgrounds.composite import composite
from synth.backgrounds.floor import find_floor
from synth.backgrounds.free_space import RoomSpace
from synth.backgrounds.people_in_room import MIN_PIXELS, Room, WantedPerson, draw_people, draw_wanted, render_people
from synth.furniture.model_bank import FurnitureBank
from synth.labelled_frame import is_drawn
from synth.recipe import FPS, Recipe
from synth.render.label_frame import label_frame
from synth.render.materials import add_materials
from synth.scene.seats.furnishings import describe_furnishings, furnishings_of
from synth.scene.subjects import Subjects
from synth.sensors.defects.hole_filling import draw_filling, fill_holes
from synth.sensors.quantise_depth import quantise_depth

MAX_BACKGROUND_TRIES = 160
"""Backgrounds tried for one frame with people."""
WANTED_TRIES = 12
"""Backgrounds tried for people at the distances drawn for them; then for others at any distance, for small rooms."""
HEAD_TRIES = 24
"""Backgrounds tried for people whose heads are in view; then others will do, for cameras that look at the floor."""


class BackgroundRenderer:
    """Renders people into real empty rooms, any frame at any time."""

    def __init__(
        self, recipe: Recipe, subjects: Subjects, backgrounds: BackgroundBank, bank: FurnitureBank | None = None
    ) -> None:
        self.recipe = recipe
        self.subjects = subjects
        self._backgrounds = backgrounds
        self._furnishings = furnishings_of(recipe.scene, bank)
        self._digest = backgrounds.digest()

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Render ``count`` frames from ``first`` on."""
        return map(self.render, range(first, first + count))

    def scenario(self, number: int) -> None:
        """Return None: frames are independent."""

    def extrinsics(self, number: int) -> None:
        """Return None: every frame has a camera of its own."""

    def describe(self) -> dict[str, Any]:
        """Return what the subjects and their furniture are made from, and the digest of the backgrounds."""
        of_furniture = describe_furnishings(self._furnishings)
        return {**self.subjects.describe(), **of_furniture, "backgrounds": self._digest}

    def render(self, index: int) -> LabelledFrame:
        """Render frame ``index``, labelled.

        Raises
        ------
        PosepipeError
            When no background has space for a person.
        """
        recipe, sensor, body = self.recipe, self.recipe.sensor, self.subjects.body
        rng = np.random.default_rng([recipe.seed, index])
        is_empty = rng.random() < recipe.background.empty_share
        wanted = draw_wanted(recipe, self.subjects, rng)
        for attempt in range(1, MAX_BACKGROUND_TRIES + 1):
            view = draw_view(self._backgrounds.draw(rng), recipe.background, sensor, rng)
            if is_empty:
                return self._empty(view, body, index, rng)
            floor = find_floor(view.depth_m, sensor.intrinsics, rng)
            room = Room(RoomSpace.of(view, sensor.intrinsics, floor.camera), floor, sensor, self._furnishings)
            placed = draw_people(room, body, recipe, wanted, rng, attempt <= HEAD_TRIES)
            if not placed:
                if attempt >= WANTED_TRIES:
                    anywhere_m = recipe.camera.distance_m
                    wanted = [WantedPerson(self.subjects.draw(rng), anywhere_m) for _ in wanted]
                continue
            people = render_people(placed, room)
            rendered, readings_m = composite(people, view, room.space.filled_m, sensor, recipe.noise, rng)
            readings_m = add_materials(people, readings_m, body, sensor, recipe.material, rng)
            if is_drawn(recipe.image.filled_share, rng):
                readings_m, source = fill_holes(readings_m, draw_filling(sensor.width, rng))
                rendered = replace(rendered, triangle_ids=rendered.triangle_ids.ravel()[source])
            frame = label_frame(rendered, quantise_depth(readings_m), sensor.intrinsics, body, index)
            if np.count_nonzero(frame.parts) >= MIN_PIXELS:
                return frame
        raise PosepipeError(
            f"backgrounds: in {MAX_BACKGROUND_TRIES} tries no frame had space for a person in view; give frames of"
            " rooms with free floor, or a recipe with other distance_m or lateral_offset"
        )

    def _empty(self, view: BackgroundView, body: BodyDefinition, index: int, rng: np.random.Generator) -> LabelledFrame:
        """Label a frame without people."""
        depth_m, sensor = view.depth_m, self.recipe.sensor
        if is_drawn(self.recipe.image.filled_share, rng):
            depth_m, _ = fill_holes(depth_m, draw_filling(sensor.width, rng))
        depth = DepthFrame(quantise_depth(depth_m), sensor.intrinsics, index / FPS, index)
        nobody = np.zeros(view.depth_m.shape, np.uint8)
        joints = len(body.joints)
        return LabelledFrame(depth, nobody, nobody, np.zeros((0, joints, 3), np.float32), np.zeros((0, joints), bool))
