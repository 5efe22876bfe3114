"""Sequences of one person who exercises or rests in one place before a camera that does not move, from curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.camera import Extrinsics
from posepipe.frames import LabelledFrame
from synth.body.body_truth import with_joint_angles
from synth.furniture.model_bank import FurnitureBank
from synth.geometry.mesh import Mesh
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.exercises import BY_MOTIONS, Exercise, exercise_of
from synth.motion.motion_plans import FACING_SPREAD_DEG
from synth.recipe import FPS, Recipe
from synth.scene.scene import PlacedSubject, Scene, place_subject
from synth.scene.seats.furnishings import Furnishings, describe_furnishings, furnishings_of
from synth.scene.seats.furniture import draw_resting_furniture
from synth.scene.subjects import DressedPerson, People, Subject
from synth.sequences import MATERIALS_STREAM, level_camera, room_around

DISTANCE_M = 2.3, 3.2
LATERAL_M = 0.3
"""Maximum distance of the person from the middle of the image."""
ON_THE_BACK = Rotation.from_euler("x", -90, degrees=True)
"""Lays down somebody who stands; the head points away from where they looked."""


class ExerciseRenderer:
    """Renders the exercises of a recipe, any sequence at any time."""

    def __init__(self, recipe: Recipe, people: People, bank: FurnitureBank | None = None) -> None:
        self.recipe = recipe
        self.subjects = people
        self._furnishings = furnishings_of(recipe.scene, bank)

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Render the sequence of ``count`` frames that begins with frame ``first`` of the dataset."""
        number = first // self.recipe.sequence_frames
        return render_exercise(self.subjects, self.recipe, number, count, furnishings=self._furnishings)

    def scenario(self, number: int) -> str:
        """Return what sequence ``number`` shows."""
        return exercise_of(number, self.recipe.pose.motions)

    def extrinsics(self, number: int) -> Extrinsics | None:
        """Return None: exercises are seen by one camera."""
        return None

    def describe(self) -> dict[str, Any]:
        """Return what the furniture is made from."""
        return describe_furnishings(self._furnishings)


def render_exercise(
    people: People,
    recipe: Recipe,
    number: int,
    frames: int,
    furnishings: Furnishings | None = None,
) -> Iterator[LabelledFrame]:
    """Render one sequence of one person.

    Parameters
    ----------
    people : People
        Draws body and clothes; made from the same recipe.
    recipe : Recipe
        Its seed, sensor, noise, clothing, materials, camera height and room share are used.
    number : int
        Of the sequence, which depends on it and the recipe alone.
    frames : int
        Length, at FPS frames a second.
    furnishings : Furnishings, optional
        Of rooms with real furniture; needed where the recipe asks for it.

    Yields
    ------
    LabelledFrame
        Index and time count from the start of the sequence. In a room, the chair of a person who sits down stands
        there from the start, and who lies has a bed or the floor; people who are cut out sit in the air.
    """
    motions = recipe.pose.motions
    rng = np.random.default_rng([recipe.seed, number])
    person = people.dressed(rng)
    curves = BY_MOTIONS[motions][exercise_of(number, motions)](np.arange(frames) / FPS, rng)
    poses = _poses(people, person, curves)
    cloth_seed = int(rng.integers(2**32))
    camera = level_camera(rng.uniform(*DISTANCE_M), recipe, rng)
    yaw = rng.normal(np.pi / 2 if curves.lies else 0, np.radians(FACING_SPREAD_DEG))
    place = replace(camera, yaw_rad=yaw, lateral_offset_m=rng.uniform(-LATERAL_M, LATERAL_M))

    bed: Mesh | None = None

    def placed(time: int) -> PlacedSubject:
        subject = people.posed(person, poses[time], np.random.default_rng(cloth_seed))
        return place_subject(_planted(_with_angles(subject), curves), place, bed)

    room: tuple[Mesh | None, Mesh | None] = None, None
    if recipe.scene.room_share and rng.random() < recipe.scene.room_share:
        if curves.lies:
            first = placed(0).subject
            bed = draw_resting_furniture(first.skin_m, first.joints_m, rng)
        shown = [placed(time) for time in range(0, frames, max(1, frames // 12))]
        chair = None if curves.seat_at is None else _chair(placed(curves.seat_at), rng)
        taken = [] if chair is None else [chair.vertices_m]
        room = room_around(_places(shown, taken), place, recipe.scene, furnishings, rng, taken)
        room = room[0], with_chair(room[1], chair)
    for time in range(frames):
        noise_rng = np.random.default_rng([recipe.seed, number, time])
        still = np.random.default_rng([*MATERIALS_STREAM, recipe.seed, number])
        scene = Scene((placed(time),), *room)
        yield render_labelled_frame(scene, people.body, Sensing.of(recipe), time, noise_rng, still)


def _poses(people: People, person: DressedPerson, curves: Exercise) -> np.ndarray:
    """Rotations of the bones, (T, 20, 4)."""
    poses = people.poses_by_angles(person, curves.angles_deg)
    if not curves.lies:
        return poses
    return (ON_THE_BACK * Rotation.from_quat(poses.reshape(-1, 4))).as_quat().reshape(poses.shape).astype(np.float32)


def _with_angles(subject: Subject) -> Subject:
    """The subject with its joint angles among the truth."""
    assert subject.truth is not None
    return replace(subject, truth=with_joint_angles(subject.truth, subject.joints_m, HUMAN))


def _planted(subject: Subject, curves: Exercise) -> Subject:
    """The subject with the point that stays in place as its root."""
    rows = [HUMAN.joint_index(joint) for joint in curves.planted]
    return replace(subject, root_m=subject.joints_m[rows].mean(axis=0))


def _chair(placed: PlacedSubject, rng: np.random.Generator) -> Mesh | None:
    """A seat under somebody who sits, in world axes."""
    seat = draw_resting_furniture(placed.subject.skin_m, placed.subject.joints_m, rng)
    if seat is None:
        return None
    to_world = placed.view.onto(placed.placement.world_view())
    return replace(seat, vertices_m=seat.vertices_m @ to_world.rotation.T + to_world.translation_m)


def _places(shown: Sequence[PlacedSubject], taken: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Places on the floor, (2,) in world axes, that joints and furniture of the person take up."""
    joints_m = [
        each.subject.joints_m @ to_world.rotation.T + to_world.translation_m
        for each in shown
        if (to_world := each.view.onto(each.placement.world_view()))
    ]
    return list(np.concatenate([*joints_m, *taken])[:, [0, 2]])


def with_chair(contents: Mesh | None, chair: Mesh | None) -> Mesh | None:
    """Add a chair to what stands in a room, as an object of its own."""
    if contents is None or chair is None:
        return chair if contents is None else contents
    both = Mesh.join([contents, chair])
    if contents.objects is None:
        return both
    of_chair = np.full(len(chair.triangles), int(contents.objects.max(initial=0)) + 1, contents.objects.dtype)
    return replace(both, objects=np.concatenate([contents.objects, of_chair]))
