"""Short sequences before a camera that does not move: people walk, act and pass behind each other, with the truth.

Frames of other datasets are independent. Here everybody keeps their body, their clothes and their id from the first
frame to the last, to measure ids and jitter. A sequence depends on (recipe, number) alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from posepipe.frames import LabelledFrame
from synth.furniture.model_bank import FurnitureBank
from synth.geometry.mesh import Mesh
from synth.labelled_frame import render_labelled_frame
from synth.motion.motion_plans import SCENARIOS, MotionPlan, MotionPlanner, scenario_of
from synth.motion.motions import Motions
from synth.recipe import Recipe, SceneRecipe
from synth.scene.furnished_room import build_furnished_room
from synth.scene.furnishings import Furnishings, describe_furnishings, furnishings_of
from synth.scene.placement import Placement
from synth.scene.room import build_room
from synth.scene.scene import Scene, place_subject
from synth.scene.subjects import People

AIM_HEIGHT_M = 0.95
"""Height at which the camera aims."""
MATERIALS_STREAM = (0, 0, 3)
"""Beginning of the seeds that draw materials, apart from those of frames."""
PATH_STEP = 5
"""Every so many frames of a path, furniture keeps clear of the person."""


class SequenceRenderer:
    """Renders the sequences of a recipe, any of them at any time."""

    def __init__(self, recipe: Recipe, people: People, motions: Motions, bank: FurnitureBank | None = None) -> None:
        self.recipe = recipe
        self.subjects = people
        self._motions = motions
        self._furnishings = furnishings_of(recipe.scene, bank)

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Render the sequence of ``count`` frames that begins with frame ``first`` of the dataset."""
        number = first // self.recipe.sequence_frames
        return render_sequence(self.subjects, self.recipe, number, count, self._motions, furnishings=self._furnishings)

    def scenario(self, number: int) -> str:
        """Return what sequence ``number`` shows."""
        return scenario_of(number)

    def describe(self) -> dict[str, Any]:
        """Return the digest of the motions, which take the place of a pose bank, and of the furniture."""
        return {"pose_bank": self._motions.digest(), **describe_furnishings(self._furnishings)}


def render_sequence(
    people: People,
    recipe: Recipe,
    number: int,
    frames: int = 60,
    motions: Motions | None = None,
    scenario: str | None = None,
    furnishings: Furnishings | None = None,
) -> Iterator[LabelledFrame]:
    """Render one sequence of one to three people.

    Parameters
    ----------
    people : People
        Draws bodies and clothes; made from the same recipe.
    recipe : Recipe
        Its seed, sensor, noise, clothing, materials, camera height and room share are used. Places and poses come from
        the scenario.
    number : int
        Of the sequence.
    frames : int
        Length, at FPS frames a second.
    motions : Motions, optional
        None = those that come with the project.
    scenario : str, optional
        One of SCENARIOS; None = that of the number.
    furnishings : Furnishings, optional
        Of rooms with real furniture; needed where the recipe asks for it.

    Yields
    ------
    LabelledFrame
        Index and time count from the start of the sequence. A person has the same id and row in all frames, in view
        or not.

    Raises
    ------
    ValueError
        For an unknown scenario.
    """
    name = scenario_of(number) if scenario is None else scenario
    if name not in SCENARIOS:
        raise ValueError(f"no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    rng = np.random.default_rng([recipe.seed, number])
    plans = SCENARIOS[name](MotionPlanner(motions or Motions.embedded(), frames, rng))
    dressed = [people.dressed(rng) for _ in plans]
    camera = _camera(plans, recipe, rng)
    cloth_seed = int(rng.integers(2**32))  # the same in every frame, so that wrinkles do not change
    room: tuple[Mesh | None, Mesh | None] = None, None
    if recipe.scene.room_share and rng.random() < recipe.scene.room_share:
        paths_m = [_placed(camera, plan, time).floor_place_m for plan in plans for time in range(frames)]
        room = _room(paths_m, camera, recipe.scene, furnishings, rng)
    for time in range(frames):
        subjects = [
            people.posed(person, plan.rotations[time], np.random.default_rng(cloth_seed + k))
            for k, (person, plan) in enumerate(zip(dressed, plans, strict=True))
        ]
        placements = [_placed(camera, plan, time) for plan in plans]
        scene = Scene(tuple(map(place_subject, subjects, placements)), *room)
        noise_rng = np.random.default_rng([recipe.seed, number, time])
        still = np.random.default_rng([*MATERIALS_STREAM, recipe.seed, number])
        yield render_labelled_frame(
            scene, people.body, recipe.sensor, recipe.noise, time, noise_rng, recipe.material, recipe.image, still
        )


def _room(
    paths_m: Sequence[np.ndarray],
    camera: Placement,
    recipe: SceneRecipe,
    furnishings: Furnishings | None,
    rng: np.random.Generator,
) -> tuple[Mesh, Mesh | None]:
    """Room around paths, and its contents: real furniture, or boxes that belong to the room itself."""
    if not recipe.model_share or furnishings is None or rng.random() >= recipe.model_share:
        return build_room(paths_m, rng), None
    turn = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    reach = np.concatenate([radius * ring for radius in (0.1, 0.3, 0.5)])
    places = (np.array(paths_m)[::PATH_STEP, None] + reach).reshape(-1, 2)
    heights = np.linspace(0.02, 1.9, 12)
    body_m = np.stack([places.repeat(12, 0)[:, 0], np.tile(heights, len(places)), places.repeat(12, 0)[:, 1]], axis=1)
    return build_furnished_room(body_m, (), camera.camera_m, recipe, furnishings, rng)


def _camera(plans: Sequence[MotionPlan], recipe: Recipe, rng: np.random.Generator) -> Placement:
    """A level camera that looks at the middle of all paths, as a placement whose place stands for no person."""
    height_m = rng.uniform(*recipe.camera.camera_height_m)
    distance_m = float(np.mean([plan.floor_m[:, 1].mean() for plan in plans]))
    pitch = float(np.arctan2(height_m - AIM_HEIGHT_M, distance_m))
    return Placement(0.0, distance_m, 0.0, height_m, pitch, roll_rad=0.0)


def _placed(camera: Placement, plan: MotionPlan, time: int) -> Placement:
    lateral_m, distance_m = plan.floor_m[time]
    yaw = float(plan.yaw_rad[time])
    return Placement(yaw, distance_m, lateral_m, camera.camera_height_m, camera.pitch_rad, camera.roll_rad)
