"""Seats and beds: under people who sit or lie, touching them, and no person's own."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth import renderer as renderer_module
from synth.body.creatures import read_creature
from synth.geometry.mesh import BACKGROUND
from synth.labelled_frame import render_labelled_frame
from synth.motion.poses.pose_kinds import KINDS
from synth.recipe import SceneRecipe
from synth.scene.draw_scene import draw_companions, draw_furniture
from synth.scene.placement import Placement, draw_placement
from synth.scene.scene import PlacedSubject, Scene, floor_y_m, place_subject
from synth.scene.subjects import Creatures
from tests.support.paths import EXAMPLES
from tests.support.rendered_people import people_of, recipe_of, renderer_of

PLAIN = {"clothes": False, "noise": False, "relax_share": 1.0, "jitter_deg": 0.0, "recombine_share": 0.0}
SOMEWHERE = Placement(0.0, 3.0, 0.0, 1.2, 0.0, 0.0)


def drawn(count: int, furniture_share: float = 1.0, **fields) -> list[PlacedSubject]:
    people = people_of(recipe_of(**PLAIN, **fields))
    placed, shares = [], SceneRecipe(furniture_share=furniture_share)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        subject = people.draw(rng)
        placed.append(place_subject(subject, SOMEWHERE, draw_furniture(subject, people.body, shares, rng)))
    return placed


def shows(kind: str, placed: PlacedSubject) -> bool:
    return bool(KINDS[kind](placed.subject.joints_m[None])[0])


def in_boxes(placed: PlacedSubject, points_m: np.ndarray) -> np.ndarray:
    """Places (B, P, 3) in the axes of each box: sideways, up and along, 0 to 1 within it."""
    corners = placed.furniture.vertices_m.reshape(-1, 8, 3)
    edges = corners[:, [4, 2, 1]] - corners[:, :1]
    return np.einsum("bpi,bei->bpe", points_m - corners[:, :1], edges) / (edges**2).sum(axis=2)[:, None]


def sunk(placed: PlacedSubject, deep_m: float) -> float:
    """Share of the mesh that lies deeper than that under all sides of a box."""
    corners = placed.furniture.vertices_m.reshape(-1, 8, 3)
    edges_m = np.linalg.norm(corners[:, [4, 2, 1]] - corners[:, :1], axis=2)[:, None]
    places_m = in_boxes(placed, placed.subject.mesh.vertices_m) * edges_m
    inside = ((places_m > deep_m) & (places_m < edges_m - deep_m)).all(axis=2)
    return float(inside.any(axis=0).mean())


def joint(placed: PlacedSubject, name: str) -> np.ndarray:
    return placed.subject.joints_m[HUMAN.joint_index(name)]


def lowest_m(placed: PlacedSubject) -> float:
    return float(placed.subject.mesh.vertices_m[:, 1].min())


def test_seated_people_touch_a_seat_that_stands_on_their_floor():
    sitting = [placed for placed in drawn(60, seated_share=1.0) if shows("seated", placed)]
    on_seats = [placed for placed in sitting if placed.furniture is not None]
    assert len(on_seats) > 0.9 * len(sitting) > 30
    for placed in on_seats:
        assert (placed.furniture.labels == BACKGROUND).all()
        seat = in_boxes(placed, joint(placed, "pelvis")[None])[0, 0]
        assert ((seat[[0, 2]] > 0) & (seat[[0, 2]] < 1)).all()
        top_m = placed.furniture.vertices_m[:8, 1].max()
        assert 0.05 < joint(placed, "pelvis")[1] - top_m < 0.25
        assert placed.furniture.vertices_m[:, 1].min() == pytest.approx(lowest_m(placed), abs=1e-5)
        assert sunk(placed, 0.03) < 0.02


def test_lying_people_lie_flat_on_a_bed_or_on_the_floor():
    everybody = drawn(60, lying_share=1.0)
    lying = [placed for placed in everybody if shows("lying", placed)]
    assert len(lying) > 0.9 * len(everybody)
    beds = [placed for placed in lying if placed.furniture is not None]
    assert 0.3 < len(beds) / len(lying) < 0.7
    for placed in lying:
        assert joint(placed, "pelvis")[1] - lowest_m(placed) < 0.4
    for placed in beds:
        top = placed.furniture.vertices_m[:, 1].max()
        lowest = lowest_m(placed)
        assert lowest - 1e-6 <= top < lowest + 0.05
        assert 0.2 < lowest - floor_y_m(placed.subject, placed.furniture) < 0.75
        body = in_boxes(placed, placed.subject.joints_m)[0]
        assert ((body[:, 2] > 0) & (body[:, 2] < 1)).all()  # from head to foot
        assert 0.2 < body[HUMAN.joint_index("pelvis"), 0] < 0.8
        assert sunk(placed, 0.05) == 0


def test_nobody_who_stands_has_furniture_nor_without_a_share():
    for placed in drawn(30):
        assert placed.furniture is None or shows("seated", placed) or shows("lying", placed)
    assert all(placed.furniture is None for placed in drawn(10, furniture_share=0.0, seated_share=1.0))


def test_creatures_get_no_furniture_and_draw_no_number_for_it():
    creatures, rng = Creatures(read_creature(EXAMPLES / "quadruped.toml")), np.random.default_rng(1)
    subject = creatures.draw(rng)
    before = rng.bit_generator.state
    assert draw_furniture(subject, creatures.body, SceneRecipe(furniture_share=1.0), rng) is None
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("room_share", [0.0, 1.0])
def test_furniture_shows_in_rooms_only_and_is_no_person(monkeypatch, room_share):
    recipe = recipe_of(**PLAIN, room_share=room_share, seated_share=1.0, furniture_share=1.0, people=(1, 2))
    scenes: list[Scene] = []

    def recorded(scene, *arguments):
        scenes.append(scene)
        return render_labelled_frame(scene, *arguments)

    monkeypatch.setattr(renderer_module, "render_labelled_frame", recorded)
    renderer = renderer_of(recipe)
    frames = [renderer.render(index) for index in range(6)]
    assert all(((frame.people > 0) == (frame.parts > 0)).all() for frame in frames)  # nobody holds anything
    assert sum(placed.furniture is not None for scene in scenes for placed in scene.subjects) >= 5
    assert [scene.room is not None for scene in scenes] == [bool(room_share)] * len(scenes)
    for frame in frames:
        assert ((frame.depth.depth_m > 0) & (frame.people == 0)).any() == bool(room_share)


def test_companions_stand_beside_a_bed_and_not_in_it():
    recipe = recipe_of(**PLAIN, room_share=1.0, lying_share=1.0, furniture_share=1.0, people=(2, 2))
    people, lens = people_of(recipe), (recipe.sensor.intrinsics, recipe.sensor.width)
    together = 0
    for index in range(30):
        rng = np.random.default_rng(index)
        subject = people.draw(rng)
        furniture = draw_furniture(subject, people.body, recipe.scene, rng)
        first = place_subject(subject, draw_placement(recipe.camera, 0.2, *lens, rng), furniture)
        placed = draw_companions(first, people, recipe.camera, recipe.scene, lens, rng)
        if len(placed) < 2:
            continue
        together += 1
        gap_m = np.linalg.norm(placed[0].placement.floor_place_m - placed[1].placement.floor_place_m)
        assert all(gap_m >= each.reach_m for each in placed if each.furniture is not None)
    assert together > 15


def test_a_scene_without_subjects_is_refused():
    with pytest.raises(ValueError, match="at least one subject"):
        Scene(())


def test_sequences_have_no_furniture():
    with pytest.raises(ValueError, match="single frames"):
        recipe_of(frames=4, sequence_frames=4, lying_share=0.1)
