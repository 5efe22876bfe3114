"""Rendered frames: each depends on its index alone, shows its people, and has labels that agree with the depth."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from synth.motion.poses.clips import embedded_pose_bank
from synth.recipe import Recipe
from synth.renderer import MIN_PERSON_PIXELS
from tests.support.rendered_people import recipe_of, renderer_of


@pytest.fixture(scope="module")
def renderer():
    return renderer_of(Recipe(seed=9))


def test_a_frame_depends_on_its_index_alone(renderer):
    alone = renderer.render(7)
    for index in (2, 5):
        renderer.render(index)
    again = renderer.render(7)
    np.testing.assert_array_equal(alone.depth.depth_m, again.depth.depth_m)
    np.testing.assert_array_equal(alone.parts, again.parts)


MOUNTINGS = {
    "near": {"distance_m": (0.5, 1.0)},
    "far": {"distance_m": (4.0, 8.0)},
    "ceiling": {"distance_m": (0.0, 1.5), "camera_height_m": (2.2, 3.2), "pitch_deg": (60, 90)},
    "robot": {"distance_m": (0.6, 4.0), "camera_height_m": (0.3, 0.8), "pitch_deg": (-35, 0)},
}


@pytest.mark.parametrize("mounting", MOUNTINGS)
def test_people_are_seen_from_every_mounting(mounting):
    renderer = renderer_of(recipe_of(seed=4, **MOUNTINGS[mounting]))
    for index in range(6):
        frame = renderer.render(index)
        assert np.count_nonzero(frame.parts) >= MIN_PERSON_PIXELS
        assert frame.visible.any()


def test_a_camera_that_sees_nobody_is_refused():
    renderer = renderer_of(recipe_of(pitch_deg=(-90, -90), distance_m=(3.0, 3.0)))
    with pytest.raises(PosepipeError, match="pitch_deg"):
        renderer.render(0)


def test_a_camera_of_few_pixels_is_told_so():
    lens = {"name": "tiny", "width": 16, "height": 12, "fx": 14.0, "fy": 14.0, "cx": 7.5, "cy": 5.5}
    sensor = {**lens, "family": "ideal", "min_range_m": 0.3, "max_range_m": 8.0}
    with pytest.raises(PosepipeError, match=r"none showed 200 pixels .* image of 16x12 pixels is too small"):
        renderer_of(recipe_of(sensor=sensor)).render(0)


def test_validation_poses_come_from_clips_held_out_of_training():
    bank = embedded_pose_bank()
    train, held_out = bank.split("train"), bank.split("validation")
    assert not set(train.clips) & set(held_out.clips)
    assert len(train.rotations) + len(held_out.rotations) == len(bank.rotations)


def test_a_recipe_chooses_clips():
    bank = embedded_pose_bank()
    assert set(bank.select(only=("humanoid3d_walk",)).clips) == {"humanoid3d_walk"}
    assert set(bank.select(leave_out=("humanoid3d_walk",)).clips) == set(bank.clips) - {"humanoid3d_walk"}
    with pytest.raises(PosepipeError, match="leaves no validation clips"):
        renderer_of(recipe_of(poses="validation", only_clips=("humanoid3d_walk",)), bank)


def test_clips_that_the_bank_lacks_are_warned_of(recwarn):
    bank, chosen = embedded_pose_bank(), {"poses": "all", "leave_out_clips": ("humanoid3d_walk",)}
    renderer_of(recipe_of(**chosen), bank)
    assert not recwarn
    renderer_of(recipe_of(**chosen, only_clips=("humanoid3d_run", "run")), bank)
    assert "only_clips has run, and no clip is named so" in str(recwarn[0].message)


def test_labels_and_readings_cover_the_same_pixels(renderer):
    for index in range(20):
        frame = renderer.render(index)
        np.testing.assert_array_equal(frame.parts > 0, frame.depth.depth_m > 0)
        np.testing.assert_array_equal(frame.parts > 0, frame.people == 1)


def test_visible_joints_lie_within_a_hand_of_their_own_pixels(renderer):
    classes = HUMAN.joint_classes()
    for index in range(20):
        frame = renderer.render(index)
        points = frame.depth.intrinsics.deproject(frame.depth.depth_m)
        for joint in np.nonzero(frame.visible[0] & classes.any(axis=1))[0]:
            own = points[classes[joint][frame.parts]]
            assert np.linalg.norm(own - frame.joints_m[0, joint], axis=1).min() < 0.15


def test_people_who_face_the_camera_have_their_left_at_larger_x():
    recipe = recipe_of(seed=1, facing_share=1.0, facing_spread_deg=0.0, relax_share=1.0, recombine_share=0.0)
    renderer = renderer_of(recipe)
    left, right = HUMAN.joint_index("left_shoulder"), HUMAN.joint_index("right_shoulder")
    gaps = [np.subtract(*renderer.render(i).joints_m[0][[left, right], 0]) for i in range(30)]
    assert np.mean(np.array(gaps) > 0) > 0.9  # a clip may show a person from behind


@pytest.mark.parametrize("model_share", [0.0, 1.0])
def test_a_room_that_everybody_has_left_is_the_same_room(model_share):
    room = {"seed": 5, "room_share": 1.0, "model_share": model_share, "seated_share": 1.0, "furniture_share": 1.0}
    hardly_ever, always = (renderer_of(recipe_of(**room, noise=False, empty_room_share=share)) for share in (1e-9, 1.0))
    seated, empty = hardly_ever.render(3), always.render(3)
    assert seated.people.any()
    assert not empty.people.any()
    assert not empty.parts.any()
    assert empty.joints_m.shape == (0, len(HUMAN.joints), 3)
    assert empty.visible.shape == (0, len(HUMAN.joints))
    rest = seated.people == 0
    np.testing.assert_array_equal(empty.depth.depth_m[rest], seated.depth.depth_m[rest])


def test_the_share_of_rooms_without_people():
    renderer = renderer_of(recipe_of(seed=6, room_share=1.0, empty_room_share=0.4))
    empty = [not renderer.render(index).people.any() for index in range(30)]
    assert 6 <= sum(empty) <= 18
