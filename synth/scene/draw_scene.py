"""Draw what is in a scene beside its first subject: furniture, companions and a room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Intrinsics
from synth.geometry.mesh import Mesh
from synth.recipe import CameraRecipe, SceneRecipe
from synth.scene.furnished_room import build_furnished_room
from synth.scene.placement import MIN_SEPARATION_M, draw_companion
from synth.scene.room import CLEARANCE_M, build_room
from synth.scene.scene import PlacedSubject, Scene, place_subject
from synth.scene.seats.furnishings import Furnishings
from synth.scene.seats.furniture import draw_resting_furniture
from synth.scene.seats.model_seats import draw_model_seat, draw_walking_aid
from synth.scene.seats.tables import draw_table
from synth.scene.subjects import Subject, Subjects


def draw_furniture(
    subject: Subject,
    body: BodyDefinition,
    recipe: SceneRecipe,
    rng: np.random.Generator,
    furnishings: Furnishings | None = None,
) -> Mesh | None:
    """Draw what a subject rests on, leans over or walks with, in the subject's axes; None for nothing.

    Parameters
    ----------
    subject : Subject
    body : BodyDefinition
        Of the subject; only people get furniture.
    recipe : SceneRecipe
        Its shares of furniture.
    rng : numpy.random.Generator
    furnishings : Furnishings, optional
        Of real furniture; needed where the recipe asks for it.
    """
    if body != HUMAN:
        return None
    of_body = subject.skin_m, subject.joints_m
    if furnishings is not None and recipe.walking_aid_share and rng.random() < recipe.walking_aid_share:
        aid = draw_walking_aid(*of_body, furnishings, rng)
        if aid is not None:
            return aid
    if recipe.table_share and rng.random() < recipe.table_share:
        table = draw_table(*of_body, furnishings, rng)
        if table is not None:
            return table
    if not recipe.furniture_share or rng.random() >= recipe.furniture_share:
        return None
    seat = None
    if furnishings is not None and recipe.model_seat_share and rng.random() < recipe.model_seat_share:
        seat = draw_model_seat(*of_body, furnishings, rng)
    return draw_resting_furniture(*of_body, rng) if seat is None else seat


def draw_companions(
    first: PlacedSubject,
    subjects: Subjects,
    camera: CameraRecipe,
    scene: SceneRecipe,
    lens: tuple[Intrinsics, int],
    rng: np.random.Generator,
    furnishings: Furnishings | None = None,
) -> list[PlacedSubject]:
    """Draw those who stand with the first subject.

    Parameters
    ----------
    first : PlacedSubject
    subjects : Subjects
        Draws the companions.
    camera : CameraRecipe
    scene : SceneRecipe
    lens : Intrinsics and int, pixels
        Of the image, and its width.
    rng : numpy.random.Generator
    furnishings : Furnishings, optional

    Returns
    -------
    list of PlacedSubject
        The first subject, then its companions: fewer than drawn where there is no space.
    """
    placed = [first]
    low, high = scene.people
    wanted = int(rng.integers(low, high + 1)) if high > 1 else 1
    while len(placed) < wanted:
        separation_m = max([MIN_SEPARATION_M, *(each.reach_m for each in placed if each.furniture is not None)])
        placements = [each.placement for each in placed]
        place = draw_companion(camera, placements, *lens, rng, separation_m)
        if place is None:
            break
        subject = subjects.draw(rng)
        furniture = draw_furniture(subject, subjects.body, scene, rng, furnishings)
        companion = place_subject(subject, place, furniture)
        gap_m = min(np.linalg.norm(place.floor_place_m - other.floor_place_m) for other in placements)
        if companion.furniture is not None and companion.reach_m > gap_m:
            companion = place_subject(subject, place)  # furniture would stand where another person is
        placed.append(companion)
    return placed


def draw_scene(
    subjects: Sequence[PlacedSubject],
    recipe: SceneRecipe,
    rng: np.random.Generator,
    furnishings: Furnishings | None = None,
) -> Scene:
    """Put subjects into a furnished room, or none, as the recipe's shares say.

    Parameters
    ----------
    subjects : sequence of PlacedSubject
    recipe : SceneRecipe
    rng : numpy.random.Generator
    furnishings : Furnishings, optional
        Of rooms with real furniture; needed where the recipe asks for it.
    """
    if not recipe.room_share or rng.random() >= recipe.room_share:
        return Scene(tuple(subjects))
    deserted = recipe.empty_room_share > 0 and bool(rng.random() < recipe.empty_room_share)
    return _draw_room(subjects, recipe, rng, furnishings, deserted)


def _draw_room(
    subjects: Sequence[PlacedSubject],
    recipe: SceneRecipe,
    rng: np.random.Generator,
    furnishings: Furnishings | None,
    deserted: bool,
) -> Scene:
    """Draw a room around subjects: of models, or of boxes. They have left a deserted one."""
    camera_m = subjects[0].placement.camera_m
    if recipe.model_share and furnishings is not None and rng.random() < recipe.model_share:
        taken = [_world_m(each, each.furniture.vertices_m) for each in subjects if each.furniture is not None]
        body_m = np.concatenate([_world_m(each, each.subject.mesh.vertices_m) for each in subjects])
        room = build_furnished_room(body_m, taken, camera_m, recipe, furnishings, rng, deserted)
        return Scene(tuple(subjects), *room, deserted=deserted)
    clearances_m = [max(CLEARANCE_M, each.reach_m) for each in subjects] if recipe.furniture_share else None
    places_m = [each.placement.floor_place_m for each in subjects]
    return Scene(tuple(subjects), build_room(places_m, rng, clearances_m, camera_m[1]), deserted=deserted)


def _world_m(placed: PlacedSubject, points_m: np.ndarray) -> np.ndarray:
    """Points of a subject's axes, (N, 3), in world axes."""
    to_world = placed.view.onto(placed.placement.world_view())
    return points_m @ to_world.rotation.T + to_world.translation_m
