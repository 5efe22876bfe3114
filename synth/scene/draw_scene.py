"""Draw what is in a scene beside its first subject: furniture, companions and a room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Intrinsics
from synth.geometry.mesh import Mesh
from synth.recipe import CameraRecipe, SceneRecipe
from synth.scene.furniture import draw_resting_furniture
from synth.scene.placement import MIN_SEPARATION_M, draw_companion
from synth.scene.room import CLEARANCE_M, build_room
from synth.scene.scene import PlacedSubject, Scene, place_subject
from synth.scene.subjects import Subject, Subjects


def draw_furniture(subject: Subject, body: BodyDefinition, share: float, rng: np.random.Generator) -> Mesh | None:
    """Draw what a subject rests on: a seat or a bed in the subject's axes, or None.

    Parameters
    ----------
    subject : Subject
    body : BodyDefinition
        Of the subject; only people get furniture.
    share : float
        Of the people who sit or lie, those who get furniture.
    rng : numpy.random.Generator
    """
    if not share or body != HUMAN or rng.random() >= share:
        return None
    return draw_resting_furniture(subject.skin_m, subject.joints_m, rng)


def draw_companions(
    first: PlacedSubject,
    subjects: Subjects,
    camera: CameraRecipe,
    scene: SceneRecipe,
    lens: tuple[Intrinsics, int],
    rng: np.random.Generator,
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
        furniture = draw_furniture(subject, subjects.body, scene.furniture_share, rng)
        companion = place_subject(subject, place, furniture)
        gap_m = min(np.linalg.norm(place.floor_place_m - other.floor_place_m) for other in placements)
        if companion.furniture is not None and companion.reach_m > gap_m:
            companion = place_subject(subject, place)  # furniture would stand where another person is
        placed.append(companion)
    return placed


def draw_scene(subjects: Sequence[PlacedSubject], recipe: SceneRecipe, rng: np.random.Generator) -> Scene:
    """Put subjects into a furnished room, or none, as the recipe's share says."""
    if not recipe.room_share or rng.random() >= recipe.room_share:
        return Scene(tuple(subjects))
    clearances_m = [max(CLEARANCE_M, each.reach_m) for each in subjects] if recipe.furniture_share else None
    places_m = [each.placement.floor_place_m for each in subjects]
    return Scene(tuple(subjects), build_room(places_m, rng, clearances_m))
