"""Short sequences before a camera that does not move: people walk, act and pass behind each other, with the truth.

Frames of other datasets are independent. Here everybody keeps their body, their clothes and their id from the first
frame to the last, to measure ids and jitter. A sequence depends on (recipe, number) alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from posepipe.camera import Extrinsics
from posepipe.frames import LabelledFrame
from synth.furniture.model_bank import FurnitureBank
from synth.geometry.mesh import Mesh
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.motion_plans import SCENARIOS, MotionPlan, MotionPlanner, scenario_of
from synth.motion.motions import Motions
from synth.recipe import Recipe, SceneRecipe
from synth.scene.furnished_room import build_furnished_room
from synth.scene.orbit import Orbit
from synth.scene.placement import Placement
from synth.scene.room import build_room
from synth.scene.scene import Scene, place_subject
from synth.scene.seats.furnishings import Furnishings, describe_furnishings, furnishings_of
from synth.scene.subjects import DressedPerson, People, Subject

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

    def extrinsics(self, number: int) -> Extrinsics | None:
        """Return the pose of the camera in sequence ``number``, where the recipe asks for several cameras."""
        recipe = self.recipe
        orbit_deg = recipe.camera.orbit_deg
        if orbit_deg is None:
            return None
        rng = np.random.default_rng([recipe.seed, number])
        planner = MotionPlanner(self._motions, recipe.sequence_frames, rng)
        _, _, camera = _draw_action(self.subjects, recipe, scenario_of(number), planner)
        return _orbit(camera, orbit_deg).extrinsics(camera)

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
    planner = MotionPlanner(motions or Motions.embedded(), frames, rng)
    plans, dressed, camera = _draw_action(people, recipe, name, planner)
    cloth_seed = int(rng.integers(2**32))  # the same in every frame, so that wrinkles do not change
    room: tuple[Mesh | None, Mesh | None] = None, None
    if recipe.scene.room_share and rng.random() < recipe.scene.room_share:
        paths_m = [_placed(camera, plan, time).floor_place_m for plan in plans for time in range(frames)]
        if recipe.camera.orbit_deg is not None:
            paths_m += _orbit(camera, 0.0).stands_m()
        room = room_around(paths_m, camera, recipe.scene, furnishings, rng)
    for time in range(frames):
        subjects = [
            people.posed(person, plan.rotations[time], np.random.default_rng(cloth_seed + k))
            for k, (person, plan) in enumerate(zip(dressed, plans, strict=True))
        ]
        placements = [_placed(camera, plan, time) for plan in plans]
        scene = _seen_from(camera, recipe.camera.orbit_deg or 0.0, subjects, placements, room)
        of_camera = [] if not recipe.camera.orbit_deg else [round(recipe.camera.orbit_deg % 360 * 1000)]
        noise_rng = np.random.default_rng([recipe.seed, number, time, *of_camera])
        still = np.random.default_rng([*MATERIALS_STREAM, recipe.seed, number])
        yield render_labelled_frame(scene, people.body, Sensing.of(recipe), time, noise_rng, still)


def _draw_action(
    people: People, recipe: Recipe, scenario: str, planner: MotionPlanner
) -> tuple[list[MotionPlan], list[DressedPerson], Placement]:
    """Draw what people do, who they are, and the camera."""
    plans = SCENARIOS[scenario](planner)
    dressed = [people.dressed(planner.rng) for _ in plans]
    distance_m = float(np.mean([plan.floor_m[:, 1].mean() for plan in plans]))
    return plans, dressed, level_camera(distance_m, recipe, planner.rng)


def _orbit(camera: Placement, orbit_deg: float) -> Orbit:
    """Orbit around the place that a camera looks at."""
    return Orbit(math.radians(orbit_deg), camera.distance_m)


def _seen_from(
    camera: Placement,
    orbit_deg: float,
    subjects: Sequence[Subject],
    placements: Sequence[Placement],
    room: tuple[Mesh | None, Mesh | None],
) -> Scene:
    """Scene before the camera that was drawn, or before one on its orbit."""
    if orbit_deg:
        orbit = _orbit(camera, orbit_deg)
        placements = [orbit.place(each) for each in placements]
        room = room[0] and orbit.mesh(room[0]), room[1] and orbit.mesh(room[1])
    return Scene(tuple(map(place_subject, subjects, placements)), *room)


def room_around(
    paths_m: Sequence[np.ndarray],
    camera: Placement,
    recipe: SceneRecipe,
    furnishings: Furnishings | None,
    rng: np.random.Generator,
    taken: Sequence[np.ndarray] = (),
) -> tuple[Mesh, Mesh | None]:
    """Draw a room around paths, and its contents: real furniture, or boxes that belong to the room itself.

    Parameters
    ----------
    paths_m : sequence of float (2,), metres
        Places on the floor, world axes, where people are at some time.
    camera : Placement
    recipe : SceneRecipe
        Its density and shares.
    furnishings : Furnishings, optional
        Of rooms with real furniture.
    rng : numpy.random.Generator
    taken : sequence of float (V, 3), metres
        Vertices of what else stands there already, world axes.
    """
    if not recipe.model_share or furnishings is None or rng.random() >= recipe.model_share:
        return build_room(paths_m, rng, camera_height_m=camera.camera_height_m), None
    turn = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    reach = np.concatenate([radius * ring for radius in (0.1, 0.3, 0.5)])
    places = (np.array(paths_m)[::PATH_STEP, None] + reach).reshape(-1, 2)
    heights = np.linspace(0.02, 1.9, 12)
    body_m = np.stack([places.repeat(12, 0)[:, 0], np.tile(heights, len(places)), places.repeat(12, 0)[:, 1]], axis=1)
    return build_furnished_room(body_m, taken, camera.camera_m, recipe, furnishings, rng)


def level_camera(distance_m: float, recipe: Recipe, rng: np.random.Generator) -> Placement:
    """Draw a camera without roll that looks at a place straight ahead, as a placement there."""
    height_m = rng.uniform(*recipe.camera.camera_height_m)
    pitch = float(np.arctan2(height_m - AIM_HEIGHT_M, distance_m))
    return Placement(0.0, distance_m, 0.0, height_m, pitch, roll_rad=0.0)


def _placed(camera: Placement, plan: MotionPlan, time: int) -> Placement:
    lateral_m, distance_m = plan.floor_m[time]
    yaw = float(plan.yaw_rad[time])
    return Placement(yaw, distance_m, lateral_m, camera.camera_height_m, camera.pitch_rad, camera.roll_rad)
