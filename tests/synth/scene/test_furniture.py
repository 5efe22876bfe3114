"""Seats and beds: under who sits or lies, touching him, none under who stands, and of nobody in a frame."""

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth import dataset_writer as generate
from synth.dataset_writer import FrameRenderer
from synth.geometry.mesh import ROOM
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_kinds import KINDS
from synth.recipe import Recipe
from synth.render.render_frame import shoot
from synth.scene.placement import draw_placement
from synth.scene.subjects import Figure, People

PLAIN = Recipe(clothes=False, noise=False, relax_share=1.0, jitter_deg=0.0, recombine_share=0.0)


def figures(count: int, **fields) -> list[Figure]:
    people = People(replace(PLAIN, support_share=1.0, **fields), embedded_pose_bank())
    return [people.figure(np.random.default_rng(seed)) for seed in range(count)]


def shows(kind: str, figure: Figure) -> bool:
    return bool(KINDS[kind](figure.joints_m[None])[0])


def in_boxes(figure: Figure, points_m: np.ndarray) -> np.ndarray:
    """Places (B, P, 3) in the axes of each box: aside, up and along, 0 to 1 within it."""
    corners = figure.support.vertices_m.reshape(-1, 8, 3)
    edges = corners[:, [4, 2, 1]] - corners[:, :1]
    return np.einsum("bpi,bei->bpe", points_m - corners[:, :1], edges) / (edges**2).sum(axis=2)[:, None]


def sunk(figure: Figure, deep_m: float) -> float:
    """Share of the mesh that lies deeper than that under all sides of a box."""
    corners = figure.support.vertices_m.reshape(-1, 8, 3)
    edges_m = np.linalg.norm(corners[:, [4, 2, 1]] - corners[:, :1], axis=2)[:, None]
    places_m = in_boxes(figure, figure.mesh.vertices_m) * edges_m
    inside = ((places_m > deep_m) & (places_m < edges_m - deep_m)).all(axis=2)
    return float(inside.any(axis=0).mean())


def joint(figure: Figure, name: str) -> np.ndarray:
    return figure.joints_m[HUMAN.joint_index(name)]


def test_who_sits_has_a_seat_that_touches_him_and_stands_on_the_floor_with_him():
    sitting = [f for f in figures(60, seated_share=1.0) if shows("seated", f)]
    on_seats = [f for f in sitting if f.support is not None]
    assert len(on_seats) > 0.9 * len(sitting) > 30
    for figure in on_seats:
        assert (figure.support.labels == ROOM).all()
        seat = in_boxes(figure, joint(figure, "pelvis")[None])[0, 0]
        assert ((seat[[0, 2]] > 0) & (seat[[0, 2]] < 1)).all()
        top_m = figure.support.vertices_m[:8, 1].max()
        assert 0.05 < joint(figure, "pelvis")[1] - top_m < 0.25
        assert figure.support.vertices_m[:, 1].min() == pytest.approx(figure.mesh.vertices_m[:, 1].min(), abs=1e-5)
        assert sunk(figure, 0.03) < 0.02


def test_who_lies_lies_flat_on_a_bed_or_on_the_floor():
    everybody = figures(60, lying_share=1.0)
    lying = [f for f in everybody if shows("lying", f)]
    assert len(lying) > 0.9 * len(everybody)
    beds = [f for f in lying if f.support is not None]
    assert 0.3 < len(beds) / len(lying) < 0.7
    for figure in lying:
        assert joint(figure, "pelvis")[1] - figure.mesh.vertices_m[:, 1].min() < 0.4
    for figure in beds:
        top = figure.support.vertices_m[:, 1].max()
        lowest = figure.mesh.vertices_m[:, 1].min()
        assert lowest - 1e-6 <= top < lowest + 0.05
        assert 0.2 < lowest - figure.floor_y_m < 0.75
        body = in_boxes(figure, figure.joints_m)[0]
        assert ((body[:, 2] > 0) & (body[:, 2] < 1)).all()  # from head to foot
        assert 0.2 < body[HUMAN.joint_index("pelvis"), 0] < 0.8
        assert sunk(figure, 0.05) == 0


def test_who_stands_has_nothing_under_him_and_without_the_share_nobody_has():
    for figure in figures(30):
        assert figure.support is None or shows("seated", figure) or shows("lying", figure)
    people = People(replace(PLAIN, seated_share=1.0), embedded_pose_bank())
    assert all(people.figure(np.random.default_rng(seed)).support is None for seed in range(10))


@pytest.mark.parametrize("room_share", [0.0, 1.0])
def test_supports_are_in_rooms_only_and_of_nobody(monkeypatch, room_share):
    recipe = replace(PLAIN, room_share=room_share, seated_share=1.0, support_share=1.0, people=(1, 2))
    shots = []
    monkeypatch.setattr(generate, "shoot", lambda *args: shots.append(args) or shoot(*args))
    renderer = FrameRenderer(recipe, People(recipe, embedded_pose_bank()))
    frames = [renderer.render(index) for index in range(6)]
    assert all(((frame.people > 0) == (frame.parts > 0)).all() for frame in frames)  # nothing is carried
    rested = [sum(figure.support is not None for figure in figures) for figures, *_ in shots]
    assert sum(rested) >= 5
    assert [len(around) for _, _, around, *_ in shots] == [(1 + n) * bool(room_share) for n in rested]


def test_company_stands_beside_a_bed_and_not_in_it():
    recipe = replace(PLAIN, room_share=1.0, lying_share=1.0, support_share=1.0, people=(2, 2))
    renderer = FrameRenderer(recipe, People(recipe, embedded_pose_bank()))
    together = 0
    for index in range(30):
        rng = np.random.default_rng(index)
        figure = renderer.cast.figure(rng)
        placement = draw_placement(recipe, 0.2, recipe.sensor.intrinsics, recipe.sensor.width, rng)
        figures_, placements = renderer._company(figure, placement, rng)
        if len(figures_) < 2:
            continue
        together += 1
        gap_m = np.linalg.norm(placements[0].floor_place_m - placements[1].floor_place_m)
        assert all(gap_m >= f.reach_m for f in figures_ if f.support is not None)
    assert together > 15


def test_sequences_know_no_supports():
    with pytest.raises(ValueError, match="single frames"):
        Recipe(frames=4, sequence_frames=4, lying_share=0.1)
