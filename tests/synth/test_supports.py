"""Seats and beds: under who sits or lies, touching him, none under who stands, and of nobody in a frame."""

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.cast import Figure, People
from synth.clips import embedded_pose_bank
from synth.generate import FrameRenderer
from synth.pose_kinds import KINDS
from synth.primitives import ROOM
from synth.recipe import Recipe

PLAIN = Recipe(clothes=False, noise=False, relax_share=1.0, jitter_deg=0.0, recombine_share=0.0)


def figures(count: int, **fields) -> list[Figure]:
    people = People(replace(PLAIN, support_share=1.0, **fields), embedded_pose_bank())
    return [people.figure(np.random.default_rng(seed)) for seed in range(count)]


def shows(kind: str, figure: Figure) -> bool:
    return bool(KINDS[kind](figure.joints_m[None])[0])


def pelvis_above(figure: Figure) -> float:
    """Metres from the boxes' highest top under the pelvis up to it."""
    boxes = figure.support.vertices_m.reshape(-1, 8, 3)
    y = figure.joints_m[HUMAN.joint_index("pelvis"), 1]
    tops = boxes[:, :, 1].max(axis=1)
    return float(y - max(top for top in tops if top < y))


def test_who_sits_has_a_seat_that_touches_him_and_stands_on_the_floor_with_him():
    sitting = [f for f in figures(40, seated_share=1.0) if shows("seated", f)]
    on_seats = [f for f in sitting if f.support is not None]
    assert len(on_seats) > 0.9 * len(sitting) > 20
    for figure in on_seats:
        assert (figure.support.labels == ROOM).all()
        assert 0.05 < pelvis_above(figure) < 0.25
        feet_m = figure.mesh.vertices_m[:, 1].min()
        assert figure.support.vertices_m[:, 1].min() == pytest.approx(feet_m, abs=0.15)
        assert figure.floor_y_m <= feet_m


def test_who_lies_lies_on_a_bed_or_on_the_floor():
    lying = [f for f in figures(60, lying_share=1.0) if shows("lying", f)]
    beds = [f for f in lying if f.support is not None]
    assert 0.3 < len(beds) / len(lying) < 0.7
    for figure in beds:
        top = figure.support.vertices_m[:, 1].max()
        lowest = figure.mesh.vertices_m[:, 1].min()
        assert lowest - 1e-6 <= top < lowest + 0.05
        assert 0.2 < lowest - figure.floor_y_m < 0.75
        assert 1.8 < np.ptp(figure.support.vertices_m[:, [0, 2]], axis=0).max() < 3.2


def test_who_stands_has_nothing_under_him_and_without_the_share_nobody_has():
    for figure in figures(30):
        assert figure.support is None or shows("seated", figure) or shows("lying", figure)
    people = People(replace(PLAIN, seated_share=1.0), embedded_pose_bank())
    assert all(people.figure(np.random.default_rng(seed)).support is None for seed in range(10))


def test_supports_are_in_rooms_only_and_of_nobody():
    shares = {"seated_share": 1.0, "support_share": 1.0}
    pixels = []
    for room_share in (0.0, 1.0):
        recipe = replace(PLAIN, room_share=room_share, **shares)
        renderer = FrameRenderer(recipe, People(recipe, embedded_pose_bank()))
        frames = [renderer.render(index) for index in range(6)]
        for frame in frames:
            assert ((frame.people > 0) == (frame.parts > 0)).all()  # nothing is carried, all else is nobody's
        pixels.append([np.count_nonzero(frame.depth.depth_m) - np.count_nonzero(frame.parts) for frame in frames])
    assert max(pixels[0]) == 0
    assert min(pixels[1]) > 1000
