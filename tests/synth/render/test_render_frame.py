"""Whole scenes: ids, held objects, rooms, creatures, and the truth about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.creatures import read_creature
from synth.renderer import FrameRenderer
from synth.scene.subjects import Creatures
from tests.support.paths import EXAMPLES
from tests.support.rendered_people import recipe_of, renderer_of

FULL = recipe_of(seed=3, wardrobe="full", held_object_share=0.5, people=(1, 3), room_share=0.5, noise=False)


@pytest.fixture(scope="module")
def frames():
    renderer = renderer_of(FULL)
    return [renderer.render(index) for index in range(40)]


def is_room(frame):
    return bool(((frame.depth.depth_m > 0) & (frame.people == 0)).any())


def test_without_a_room_only_people_have_readings(frames):
    rooms = [frame for frame in frames if is_room(frame)]
    assert 10 < len(rooms) < 30
    assert np.mean([np.mean(frame.depth.depth_m > 0) for frame in rooms]) > 0.5


def test_parts_lie_on_people_and_held_objects_are_no_part(frames):
    held = 0
    for frame in frames:
        assert (frame.people[frame.parts > 0] > 0).all()
        held += ((frame.people > 0) & (frame.parts == 0)).any()
    assert 5 < held < 35


def test_everybody_has_an_id_joints_and_a_body_of_their_own(frames):
    counts = {len(frame.joints_m) for frame in frames}
    assert counts == {1, 2, 3}
    for frame in frames:
        assert set(np.unique(frame.people)) <= set(range(len(frame.joints_m) + 1))
        assert frame.visible.shape == frame.joints_m.shape[:2]
        for person, joints_m in enumerate(frame.joints_m, start=1):
            rows, cols = np.nonzero(frame.people == person)
            if len(rows):
                points = frame.depth.intrinsics.deproject_pixels(rows, cols, frame.depth.depth_m[rows, cols])
                middle = joints_m[HUMAN.joint_index("torso")]
                assert np.linalg.norm(np.median(points, axis=0) - middle) < 1.2
            else:
                assert not frame.visible[person - 1].any()


def test_a_sensor_without_noise_keeps_its_range():
    renderer = renderer_of(recipe_of(seed=3, room_share=1.0, distance_m=(1.5, 4.0), noise=False))
    far, sensor = renderer.render(0), renderer.recipe.sensor
    assert far.depth.depth_m.max() > 2
    sensor = replace(sensor, min_range_m=1.8005, max_range_m=2.0005)  # between whole millimetres
    near = FrameRenderer(replace(renderer.recipe, sensor=sensor), renderer.subjects).render(0)
    kept = (far.depth.depth_m > 1.8005) & (far.depth.depth_m < 2.0005)
    np.testing.assert_allclose(near.depth.depth_m, np.where(kept, far.depth.depth_m, 0), atol=0.0011)
    assert not near.parts[near.depth.depth_m == 0].any()


def test_what_hides_a_joint_makes_it_invisible(frames):
    # of the joints that show, few have something far before them; of those that do not, many
    before = {True: [], False: []}
    for frame in frames:
        for joints_m, visible in zip(frame.joints_m, frame.visible, strict=True):
            places = np.round(frame.depth.intrinsics.project(joints_m)).astype(int)
            for (row, col), joint_m, shown in zip(places, joints_m, visible, strict=True):
                if 0 <= row < frame.people.shape[0] and 0 <= col < frame.people.shape[1]:
                    read = frame.depth.depth_m[row, col]
                    before[bool(shown)].append(0 < read < joint_m[2] - 0.3)
    assert np.mean(before[True]) < 0.12
    assert np.mean(before[False]) > 0.3


def test_a_frame_depends_on_recipe_and_index_alone():
    one, other = renderer_of(FULL), renderer_of(FULL)
    other.render(5)  # whatever was rendered before
    for name in ("parts", "people", "joints_m", "visible"):
        np.testing.assert_array_equal(getattr(one.render(7), name), getattr(other.render(7), name))


@pytest.mark.parametrize("changes", [{"people": (0, 1)}, {"people": (3, 2)}, {"people": (1, 99)}, {"wardrobe": "silk"}])
def test_a_recipe_refuses_what_cannot_be(changes):
    with pytest.raises(ValueError, match="recipe"):
        recipe_of(**changes)


def test_a_creature_is_rendered_by_the_same_commands():
    creature = read_creature(EXAMPLES / "quadruped.toml")
    subjects = Creatures(creature)
    renderer = FrameRenderer(recipe_of(seed=1, distance_m=(0.8, 2.0), aim_height_m=(0.3, 0.6)), subjects)
    seen = set()
    for index in range(10):
        frame = renderer.render(index)
        seen |= set(np.unique(frame.parts).tolist())
        assert frame.joints_m.shape == (1, len(subjects.body.joints), 3)
    assert len(seen) == subjects.body.n_classes
