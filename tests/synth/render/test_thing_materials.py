"""Dark furniture loses readings as was measured, steadily and flickering; screens and glass have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from synth.furniture.kinds import MATERIALS
from synth.furniture.model_bank import embedded_bank
from synth.furniture.openings import make_screen, make_window
from synth.render.rasterizer import render_depth
from synth.render.render_frame import UNKNOWN
from synth.render.thing_materials import REFLECTANCES, THING_PATCH_M, draw_thing_tolerated
from synth.scene.placement import Placement, rotation_about
from synth.scene.seats.furnishings import Furnishings
from synth.sensors.defects.dark_surfaces import OBJECT_SPREAD, dark_holes
from synth.sensors.incidence import squared_tangents
from synth.sensors.sensor_presets import PRESETS
from synth.sequences import render_sequence
from tests.support.rendered_people import people_of, recipe_of, renderer_of

SENSOR = PRESETS["kinect-v1-320"]
FRAMES = 24
ROOM = {"room_share": 1.0, "model_share": 1.0, "density": (0.6, 1.0), "wall_fitting_share": 1.0, "noise": False}
TWO_SECONDS = {"frames": 60, "sequence_frames": 60}


def depth_of(model, distance_m, yaw_rad):
    """Depth of a thing on the floor before a camera, and the triangle that each pixel shows."""
    camera = Placement(0.0, 0.0, 0.0, camera_height_m=1.2, pitch_rad=0.2, roll_rad=0.0)
    vertices = model.vertices_m @ rotation_about("y", yaw_rad).T + [0, 0, -distance_m]
    points = camera.world_view().camera_points(vertices)
    return render_depth(points, model.triangles, SENSOR.intrinsics, SENSOR.height, SENSOR.width)


def holes_of(depth_m, tolerated, rng, flicker=None, sensor=SENSOR):
    image = np.where(depth_m > 0, np.float32(tolerated), np.float32(np.inf)).astype(np.float32)
    return dark_holes(depth_m, image, sensor, rng, flicker, THING_PATCH_M)


def things(kind, distances_m, draws=1, seed=0):
    """Yield the depth of models of a kind, and what dark ones tolerate, drawn some times for each."""
    rng = np.random.default_rng(seed)
    material = REFLECTANCES["leather" if kind == "sofa" else "wood"]
    for distance_m in distances_m:
        for model in embedded_bank().by_kind[kind][:6]:
            depth_m, _ = depth_of(model, distance_m, rng.uniform(-0.9, 0.9))
            for _ in range(draws):
                yield depth_m, material.tolerated + OBJECT_SPREAD * rng.normal()


@pytest.mark.parametrize(("kind", "measured"), [("sofa", 0.55), ("chair", 0.34)])
def test_dark_things_lose_as_many_readings_as_measured(kind, measured):
    """A dark leather sofa and a dark wooden chair, Kinect v1; no tolerance is known for a single thing."""
    rng, lost, total = np.random.default_rng(1), 0, 0
    for depth_m, tolerated in things(kind, (1.6, 2.2, 2.8, 3.4), draws=8):
        lost += np.count_nonzero(holes_of(depth_m, tolerated, rng))
        total += np.count_nonzero(depth_m)
    assert lost / total == pytest.approx(measured, abs=0.08)


def test_leather_holds_flickers_and_is_solid_as_measured():
    """39 % of a leather sofa's pixels were always holes, 33 % flickered, 28 % were solid."""
    steady, toggling = [], []
    for number, (depth_m, tolerated) in enumerate(things("sofa", (1.8, 2.2, 2.6), draws=3)):
        flicker = np.random.default_rng(50 + number)
        still = [np.random.default_rng(number) for _ in range(FRAMES)]
        frames = np.stack([holes_of(depth_m, tolerated, rng, flicker)[depth_m > 0] for rng in still])
        steady.append(frames.mean(axis=0))
        flickers = frames.any(axis=0) & ~frames.all(axis=0)
        toggling.append((frames[1:] != frames[:-1])[:, flickers].mean(axis=0))
    missing = np.concatenate(steady)
    shares = [np.mean(missing == 1), np.mean((missing > 0) & (missing < 1)), np.mean(missing == 0)]
    assert shares == pytest.approx([0.39, 0.33, 0.28], abs=0.05)
    assert np.concatenate(toggling).mean() == pytest.approx(0.31, abs=0.05)


def test_holes_are_large_and_faces_towards_the_camera_solid():
    rng, facing, oblique, sizes = np.random.default_rng(2), [], [], []
    for depth_m, tolerated in things("sofa", (2.2,)):
        tangents = np.empty_like(depth_m)
        squared_tangents(depth_m, np.float32(SENSOR.intrinsics.fx), np.float32(SENSOR.intrinsics.fy), tangents)
        holes = holes_of(depth_m, tolerated, rng)
        facing.append(holes[(depth_m > 0) & (tangents < 0.2)].mean())
        oblique.append(holes[(depth_m > 0) & (tangents > 4)].mean())
        labels, count = ndimage.label(holes)
        if count:
            sizes.append(np.bincount(labels.ravel())[1:].max() / holes.sum())
    assert np.mean(oblique) > np.mean(facing) + 0.3
    assert np.mean(sizes) > 0.5  # more than half of what is missing is one hole


@pytest.mark.parametrize(("make", "material"), [(make_screen, "screen"), (make_window, "glass")])
def test_screens_and_panes_are_solid_holes(make, material):
    model = make(np.random.default_rng(4))
    depth_m, ids = depth_of(model, 2.0, 0.3)
    shown = np.where(ids >= 0, model.materials[ids], UNKNOWN) == MATERIALS.index(material)
    assert np.count_nonzero(shown) > 300
    tolerated = np.where(shown, np.float32(REFLECTANCES[material].tolerated), np.float32(np.inf))
    np.testing.assert_array_equal(dark_holes(depth_m, tolerated, SENSOR, np.random.default_rng(0)), shown)


def test_shares_of_dark_things_are_drawn_for_each():
    table = draw_thing_tolerated(3000, "structured_light", np.random.default_rng(0))
    assert np.isinf(table[0]).all()
    for row, name in enumerate(MATERIALS):
        assert np.mean(table[1:, row] < np.inf) == pytest.approx(REFLECTANCES[name].dark_share, abs=0.03)
    boxes = table[1:, UNKNOWN]
    assert 0.15 < np.mean(boxes < np.inf) < 0.45
    assert np.std(table[1:, MATERIALS.index("leather")][table[1:, MATERIALS.index("leather")] < 9]) == pytest.approx(
        OBJECT_SPREAD, abs=0.05
    )


def test_fewer_screens_are_holes_for_other_families():
    def dark(family):
        table = draw_thing_tolerated(3000, family, np.random.default_rng(0))
        return np.mean(table[1:, MATERIALS.index("screen")] < np.inf)

    shares = [dark(family) for family in ("structured_light", "time_of_flight", "stereo", "ideal")]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.85
    assert shares[-1] == 0


def test_other_families_lose_fewer_readings():
    lost = {}
    for name in ("kinect-v1-320", "azure-nfov", "d435"):
        sensor, rng = PRESETS[name], np.random.default_rng(0)
        holes = [holes_of(depth_m, tolerated, rng, sensor=sensor) for depth_m, tolerated in things("sofa", (2.2,))]
        lost[name] = np.sum(holes)
    assert lost["kinect-v1-320"] > lost["azure-nfov"] > lost["d435"] > 0


def test_rooms_lose_readings_of_things_and_never_of_people():
    lost = 0
    for index in range(3):
        plain, dark = (renderer_of(recipe_of(seed=5, **ROOM, **each)).render(index) for each in ({}, ALL_DARK))
        holes = (plain.depth.depth_m > 0) & (dark.depth.depth_m == 0)
        lost += np.count_nonzero(holes)
        assert not (holes & (plain.people > 0)).any()
        np.testing.assert_array_equal(dark.depth.depth_m[~holes], plain.depth.depth_m[~holes])
    assert lost > 3 * 1000


ALL_DARK = {"infrared_share": 1.0}


def test_seats_of_boxes_have_a_material_too():
    recipe = {"seated_share": 1.0, "furniture_share": 1.0, "room_share": 1.0, "noise": False, "seed": 3}
    lost = []
    for index in range(8):
        plain, dark = (renderer_of(recipe_of(**recipe, **each)).render(index) for each in ({}, ALL_DARK))
        lost.append(np.count_nonzero(plain.depth.depth_m) - np.count_nonzero(dark.depth.depth_m))
    assert 0 < np.count_nonzero(lost) < 8


def test_holes_of_a_sequence_stay_where_they_are_and_flicker():
    recipe = recipe_of(**ROOM, **TWO_SECONDS, **ALL_DARK, seed=5, dark_share=1.0, poses="validation")
    people, bright = people_of(recipe), recipe_of(**ROOM, **TWO_SECONDS, seed=5, poses="validation")
    furnishings = Furnishings(embedded_bank())
    frames, plain = (
        [
            frame
            for _, frame in zip(range(4), render_sequence(people, each, 1, 60, furnishings=furnishings), strict=False)
        ]
        for each in (recipe, bright)
    )
    nobody = ~np.any([frame.people > 0 for frame in plain], axis=0)
    holes = [
        (one.depth.depth_m > 0) & (other.depth.depth_m == 0) & nobody for one, other in zip(plain, frames, strict=True)
    ]
    first, second = holes[0], holes[3]
    assert first.any()
    assert (first & second).sum() > 0.5 * first.sum()
    assert (first != second).any()
    on_people = [np.mean(other.depth.depth_m[one.people > 0] == 0) for one, other in zip(plain, frames, strict=True)]
    assert min(on_people) > 0.02
