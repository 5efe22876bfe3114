"""Rooms with real furniture: what stands where, clear of walls, camera and people."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth import renderer as renderer_module
from synth.furniture.model_bank import FurnitureBank, embedded_bank
from synth.geometry.mesh import BACKGROUND
from synth.geometry.surface_heights import surface_heights_m
from synth.labelled_frame import render_labelled_frame
from synth.motion.poses.pose_kinds import KINDS
from synth.recipe import SceneRecipe, read_recipe
from synth.renderer import FrameRenderer
from synth.scene import furnished_room
from synth.scene.draw_scene import draw_furniture
from synth.scene.furnished_room import MAX_NEAR_M, SEATS, build_furnished_room
from synth.scene.room_kinds import SOFT_HOSTS
from synth.scene.room_plan import CAMERA_GAP_M, RoomPlan
from synth.scene.scene import Scene, floor_y_m
from synth.scene.seats.furnishings import Furnishings, furnishings_of
from synth.scene.seats.model_seats import draw_walking_aid
from synth.sequences import render_sequence
from tests.support.rendered_people import people_of, recipe_of, renderer_of

ALL = {
    "room_share": 1.0,
    "model_share": 1.0,
    "wall_fitting_share": 1.0,
    "things_share": 1.0,
    "hanging_clothes_share": 1.0,
    "draped_chair_share": 1.0,
    "pet_share": 1.0,
    "doll_share": 1.0,
    "clutter_share": 1.0,
}
CLUTTERED = SceneRecipe(**ALL, density=(1.0, 1.0))
CAMERA_M = np.array([0.0, 1.2, 0.0])


def person(at_xz):
    """Points of an upright person, as dense as a body's vertices."""
    x, y, z = np.meshgrid(np.arange(-0.2, 0.2, 0.04), np.arange(0, 1.8, 0.04), np.arange(-0.2, 0.2, 0.04))
    return np.stack([x, y, z], axis=-1).reshape(-1, 3) + [at_xz[0], 0, at_xz[1]]


def plans_of(monkeypatch, count, recipe=CLUTTERED, taken=(), deserted=False):
    """Plans of furnished rooms, their people in room axes and both meshes."""
    plans: list[RoomPlan] = []

    def recorded(*arguments):
        plan, turn = drawn(*arguments)
        plans.append(plan)
        return plan, turn

    drawn = furnished_room._draw_plan
    monkeypatch.setattr(furnished_room, "_draw_plan", recorded)
    bodies = np.concatenate([person((-0.6, -2.2)), person((0.7, -3.0))])
    furnishings = Furnishings(embedded_bank())
    rooms = [
        build_furnished_room(bodies, taken, CAMERA_M, recipe, furnishings, np.random.default_rng(seed), deserted)
        for seed in range(count)
    ]
    return plans, rooms, bodies


def test_nothing_stands_in_walls_people_the_camera_or_each_other(monkeypatch):
    plans, rooms, _ = plans_of(monkeypatch, 12)
    for plan, (room, contents) in zip(plans, rooms, strict=True):
        assert (room.labels == BACKGROUND).all()
        assert (contents.labels == BACKGROUND).all()
        assert len(contents.materials) == len(contents.triangles)
        for number, each in enumerate(plan.placed):
            vertices = each.vertices_m
            assert (vertices >= np.maximum(plan.low_m, each.low_m) - 1e-3).all()
            assert (vertices <= np.minimum(plan.high_m, each.high_m) + 1e-3).all()
            gap_m = np.linalg.norm(np.maximum(np.maximum(each.low_m - plan.camera_m, plan.camera_m - each.high_m), 0))
            assert gap_m >= CAMERA_GAP_M - 1e-9
            for k, other in enumerate(plan.placed[:number]):
                apart = (each.low_m >= other.high_m) | (each.high_m <= other.low_m)
                assert apart.any() or each.host == k


def test_no_point_of_a_person_lies_in_a_thing(monkeypatch):
    turns = []
    drawn = furnished_room._draw_plan

    def recorded(*arguments):
        plan, turn = drawn(*arguments)
        turns.append((plan, turn))
        return plan, turn

    monkeypatch.setattr(furnished_room, "_draw_plan", recorded)
    bodies = np.concatenate([person((-0.6, -2.2)), person((0.7, -3.0))])
    for seed in range(12):
        build_furnished_room(bodies, (), CAMERA_M, CLUTTERED, Furnishings(embedded_bank()), np.random.default_rng(seed))
    near = 0
    for plan, turn in turns:
        inside_m = bodies @ turn.T  # all points, not the thinned ones
        assert ((inside_m > plan.low_m - 1e-9) & (inside_m < plan.high_m)).all()
        for each in plan.placed:
            assert not ((inside_m > each.low_m) & (inside_m < each.high_m)).all(axis=1).any()
            near += (np.abs(inside_m - (each.low_m + each.high_m) / 2)[:, [0, 2]].max(axis=1) < 0.8).any()
    assert near > 10  # among the furniture all the same


def test_rooms_run_from_empty_to_cluttered(monkeypatch):
    counts = {}
    for density in (0.0, 0.3, 1.0):
        bare = SceneRecipe(room_share=1.0, model_share=1.0, density=(density, density))
        plans, _, _ = plans_of(monkeypatch, 10, bare)
        counts[density] = np.mean(
            [len([p for p in plan.placed if p.model.kind != "ceiling lamp"]) for plan in plans[-10:]]
        )
    assert counts[0.0] == 0
    assert 1 < counts[0.3] < counts[1.0]
    assert counts[1.0] > 8


def test_clutter_stands_in_rooms_that_ask_for_it_alone(monkeypatch):
    plain = SceneRecipe(**{**ALL, "clutter_share": 0.0}, density=(0.5, 0.5))
    kinds = {"pillar", "coat stand", "drying rack", "cushion"}
    for recipe, shown in ((CLUTTERED, kinds), (plain, set())):
        plans, _, _ = plans_of(monkeypatch, 12, recipe)
        placed = [(plan, each) for plan in plans[-12:] for each in plan.placed]
        assert {each.model.kind for _, each in placed} & kinds == shown
        for plan, each in placed:
            if each.model.kind == "pillar":
                assert each.high_m[1] == pytest.approx(plan.high_m[1], abs=0.01)
                assert each.low_m[1] == 0


def test_chairs_wear_jackets_in_rooms_that_ask_for_it_alone(monkeypatch):
    plain = SceneRecipe(**{**ALL, "draped_chair_share": 0.0}, density=(0.5, 0.5))
    for recipe, shown in ((CLUTTERED, True), (plain, False)):
        plans, _, _ = plans_of(monkeypatch, 12, recipe)
        chairs = [each for plan in plans[-12:] for each in plan.placed if each.model.kind == "draped chair"]
        assert bool(chairs) == shown
        assert all(each.low_m[1] == 0 for each in chairs)


@pytest.mark.parametrize("deserted", [False, True])
def test_furniture_stands_where_people_were_once_they_left(monkeypatch, deserted):
    places = np.array([[-0.6, 0.3, -2.2], [0.7, 0.3, -3.0]])
    turns = []
    drawn = furnished_room._draw_plan
    monkeypatch.setattr(furnished_room, "_draw_plan", lambda *arguments: turns.append(drawn(*arguments)) or turns[-1])
    plans_of(monkeypatch, 20, deserted=deserted)
    boxes = [(turn @ at_m, each) for plan, turn in turns for at_m in places for each in plan.placed]
    assert any(((each.low_m < at_m) & (each.high_m > at_m)).all() for at_m, each in boxes) == deserted


@pytest.mark.parametrize("deserted", [False, True])
def test_seats_stand_close_to_the_camera_in_empty_rooms_alone(monkeypatch, deserted):
    recipe = SceneRecipe(room_share=1.0, model_share=1.0, density=(0.0, 0.0), near_seat_share=1.0)
    plans, _, _ = plans_of(monkeypatch, 20, recipe, deserted=deserted)
    seats = [(plan, each) for plan in plans for each in plan.placed if each.model.kind in SEATS]
    assert len(seats) > 10 if deserted else not seats
    for plan, each in seats:
        across_m = (each.at_m - plan.camera_m)[[0, 2]]
        assert np.hypot(*across_m) < MAX_NEAR_M + np.hypot(*each.model.size_m[[0, 2]]) / 2 + 1e-9
        assert across_m[1] < 0  # before the camera, where people were


def test_a_bank_without_seats_puts_none_close_to_the_camera():
    recipe = SceneRecipe(room_share=1.0, model_share=1.0, density=(0.0, 0.0), near_seat_share=1.0)
    bank = FurnitureBank(tuple(model for model in embedded_bank().models if model.kind not in SEATS))
    _, contents = build_furnished_room(
        person((0, -2)), (), CAMERA_M, recipe, Furnishings(bank), np.random.default_rng(0), True
    )
    assert contents is None or contents.vertices_m[:, 1].min() > 1.2  # a ceiling lamp at most


def test_what_stands_on_furniture_touches_its_top(monkeypatch):
    plans, _, _ = plans_of(monkeypatch, 12)
    raised = [
        (plan, each)
        for plan in plans
        for each in plan.placed
        if each.host is not None and plan.placed[each.host].model.kind not in SOFT_HOSTS
    ]
    assert len(raised) > 15
    for plan, each in raised:
        host = plan.placed[each.host]
        place = each.at_m[None, [0, 2]]
        top_m = surface_heights_m(host.vertices_m, host.model.triangles, place)[0]
        assert -1e-6 <= each.low_m[1] - top_m <= 0.015 + 1e-6


def test_one_seed_gives_one_room_and_another_another():
    bodies, furnishings = person((0.2, -2.5)), Furnishings(embedded_bank())
    one, same, other = (
        build_furnished_room(bodies, (), CAMERA_M, CLUTTERED, furnishings, np.random.default_rng(seed))
        for seed in (3, 3, 4)
    )
    for mesh, again in zip(one, same, strict=True):
        np.testing.assert_array_equal(mesh.vertices_m, again.vertices_m)
        np.testing.assert_array_equal(mesh.triangles, again.triangles)
    assert one[1].vertices_m.shape != other[1].vertices_m.shape


def test_an_empty_room_has_walls_alone():
    empty = SceneRecipe(room_share=1.0, model_share=1.0, density=(0.0, 0.0))
    rooms = [
        build_furnished_room(
            person((0, -2)), (), CAMERA_M, empty, Furnishings(embedded_bank()), np.random.default_rng(k)
        )
        for k in range(8)
    ]
    assert any(contents is None for _, contents in rooms)
    assert all(len(room.triangles) >= 5 * 12 for room, _ in rooms)


def recorded_scenes(monkeypatch, recipe, count, bank=None):
    scenes: list[Scene] = []

    def recorded(scene, *arguments):
        scenes.append(scene)
        return render_labelled_frame(scene, *arguments)

    monkeypatch.setattr(renderer_module, "render_labelled_frame", recorded)
    renderer = FrameRenderer(recipe, people_of(recipe), bank)
    return [renderer.render(index) for index in range(count)], scenes


def test_rendered_people_stand_clear_of_furniture(monkeypatch):
    recipe = recipe_of(**ALL, density=(1.0, 1.0), people=(1, 2), seed=5, noise=False)
    frames, scenes = recorded_scenes(monkeypatch, recipe, 6)
    assert all(scene.contents is not None and scene.contents.two_sided for scene in scenes)
    for frame in frames:
        assert (frame.depth.depth_m[frame.people > 0] > 0).all()
        assert set(np.unique(frame.people)) <= set(range(len(frame.joints_m) + 1))
        assert ((frame.people == 0) & (frame.depth.depth_m > 0)).any()


PLAIN = {"clothes": False, "noise": False, "relax_share": 1.0, "jitter_deg": 0.0, "recombine_share": 0.0}


def seats_of(count, **fields):
    recipe = recipe_of(**PLAIN, **fields, furniture_share=1.0, model_seat_share=1.0)
    people, furnishings = people_of(recipe), furnishings_of(recipe.scene)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        subject = people.draw(rng)
        yield subject, draw_furniture(subject, people.body, recipe.scene, rng, furnishings)


def test_people_sit_on_real_seats_that_stand_on_their_floor():
    real = sitting = 0
    for subject, seat in seats_of(30, seated_share=1.0):
        if not KINDS["seated"](subject.joints_m[None])[0] or seat is None:
            continue
        sitting += 1
        if not seat.two_sided:
            continue
        real += 1
        pelvis = subject.joints_m[HUMAN.joint_index("pelvis")]
        assert floor_y_m(subject, seat) == pytest.approx(subject.mesh.vertices_m[:, 1].min(), abs=0.02)
        near = np.linalg.norm((seat.vertices_m - pelvis)[:, [0, 2]], axis=1).min()
        assert near < 0.5
    assert sitting > 20
    assert real > 0.6 * sitting


def test_people_lie_on_real_beds_above_the_floor():
    real = 0
    for subject, bed in seats_of(40, lying_share=1.0):
        if bed is None or not bed.two_sided:
            continue
        real += 1
        height_m = subject.skin_m[:, 1].min() - floor_y_m(subject, bed)
        assert 0.1 < height_m < 0.9
        low, high = bed.vertices_m.min(axis=0), bed.vertices_m.max(axis=0)
        joints = subject.joints_m
        assert ((joints > low) & (joints < high + [0, 2, 0]))[:, [0, 2]].mean() > 0.95
    assert real > 20


def test_walking_aids_stand_before_upright_people_alone():
    recipe = recipe_of(**PLAIN)
    people, furnishings = people_of(recipe), Furnishings(embedded_bank())
    aided = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        subject = people.draw(rng)
        aid = draw_walking_aid(subject.skin_m, subject.joints_m, furnishings, rng)
        if aid is None:
            continue
        aided += 1
        assert aid.vertices_m[:, 1].min() == pytest.approx(subject.skin_m[:, 1].min(), abs=0.03)
        assert aid.vertices_m[:, 1].max() - aid.vertices_m[:, 1].min() < 1.5
    assert 5 < aided < 40


def test_without_the_new_fields_no_models_are_read():
    assert furnishings_of(SceneRecipe()) is None
    recipe = recipe_of(room_share=1.0)
    assert "furniture_bank" not in renderer_of(recipe).describe()
    own = FurnitureBank(embedded_bank().models[:40])
    wanted = recipe_of(**ALL)
    one, other = (FrameRenderer(wanted, people_of(wanted), bank).describe() for bank in (None, own))
    assert one["furniture_bank"] != other["furniture_bank"] == own.digest()


def test_sequences_are_furnished_and_the_furniture_stays():
    recipe = recipe_of(**ALL, density=(1.0, 1.0), frames=4, sequence_frames=4, noise=False, seed=2)
    people, furnishings = people_of(recipe), furnishings_of(recipe.scene)
    frames = list(render_sequence(people, recipe, 0, 4, furnishings=furnishings))
    still = [(frame.people == 0) & (frame.depth.depth_m > 0) for frame in frames]
    both = still[0] & still[3]
    same = np.abs(frames[0].depth.depth_m - frames[3].depth.depth_m)[both] < 1e-3
    assert same.mean() > 0.99
    for field in ("model_seat_share", "walking_aid_share"):
        with pytest.raises(ValueError, match="single frames"):
            recipe_of(frames=4, sequence_frames=4, **{field: 0.1})


@pytest.mark.parametrize("density", [(0.5, 0.2), (-0.1, 1.0), (0.0, 1.5), 0.5])
def test_a_density_that_cannot_be_is_refused(density):
    with pytest.raises(ValueError, match="density"):
        recipe_of(density=density)


def test_the_recipe_of_furnished_rooms_asks_for_all():
    scene = read_recipe("furnished-rooms").scene
    shares = ("model_share", "things_share", "pet_share", "model_seat_share", "walking_aid_share")
    assert all(getattr(scene, name) > 0 for name in shares)
