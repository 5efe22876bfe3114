"""Composites: people stand on the floor, hide what is behind them alone, and cast the shadow of the sensor."""

from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.datasets.dataset import Dataset
from posepipe.errors import PosepipeError
from synth import background_renderer, dataset_writer
from synth.background_renderer import BackgroundRenderer
from synth.backgrounds.background_bank import read_backgrounds
from synth.backgrounds.free_space import fill_holes
from synth.body.creatures import Bone, Creature, JointPlace
from synth.renderer import make_renderer
from synth.scene.subjects import Creatures
from tests.support.empty_rooms import BED_M, CAMERA, room_depth, save_room
from tests.support.rendered_people import people_of, recipe_of

RECIPE = recipe_of(seed=5, frames=8, distance_m=(1.5, 3.5), people=(1, 2), empty_share=0.25)


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return read_backgrounds([save_room(tmp_path_factory.mktemp("rooms") / "room.npz")])


def renderer_in(bank, **fields):
    recipe = recipe_of(**{"seed": 5, "distance_m": (1.5, 3.5), **fields})
    return BackgroundRenderer(recipe, people_of(recipe), bank)


def heights_m(points_m):
    world = CAMERA.world_view()
    return ((points_m - world.translation_m) @ world.rotation)[..., 1]


def test_people_stand_on_the_floor(bank):
    renderer = renderer_in(bank, noise=False, relax_share=1.0)
    ankles = [HUMAN.joint_index(f"{side}_ankle") for side in ("left", "right")]
    lowest_m = [heights_m(renderer.render(index).joints_m[0, ankles]).min() for index in range(12)]
    assert 0.03 < np.median(lowest_m) < 0.12  # an ankle lies 7 cm above the sole
    assert min(lowest_m) > 0


def test_a_person_is_nearer_than_the_room_at_every_pixel(bank):
    renderer, room_m = renderer_in(bank, noise=False, people=(3, 3)), np.rint(room_depth() * 1000) / 1000
    for index in range(8):
        frame = renderer.render(index)
        own = frame.people > 0
        own_mm, behind_mm = (
            np.rint(1000 * image[own]).astype(int) for image in (frame.depth.depth_m, fill_holes(room_m))
        )
        assert (own_mm <= behind_mm).all()
        assert (own_mm == behind_mm).sum() <= 2  # less than a millimetre nearer, and rounded to the same
        np.testing.assert_allclose(frame.depth.depth_m[~own], room_m[~own], atol=1e-5)


def test_people_without_noise_keep_the_range_of_the_sensor(bank):
    renderer = renderer_in(bank, noise=False, people=(1, 1))
    whole, sensor = renderer.render(0), renderer.recipe.sensor
    middle_m = float(np.median(whole.depth.depth_m[whole.people > 0]))
    limited = replace(renderer.recipe, sensor=replace(sensor, max_range_m=middle_m))
    half = BackgroundRenderer(limited, renderer.subjects, bank).render(0)
    lost = (whole.people > 0) & (half.people == 0)
    assert lost.any()
    assert half.people.any()
    assert half.depth.depth_m[half.people > 0].max() <= middle_m + 0.0005
    assert not half.depth.depth_m[lost].any()


def test_people_are_as_far_as_drawn_in_rooms_of_all_sizes(tmp_path):
    rooms = [save_room(tmp_path / f"{wall_m}.npz", wall_m=wall_m) for wall_m in (2.2, 4.8)]
    renderer = renderer_in(read_backgrounds(rooms), noise=False, distance_m=(1.0, 4.0))
    pelvis = HUMAN.joint_index("pelvis")
    far_m = [renderer.render(index).joints_m[0, pelvis, 2] for index in range(50)]
    assert np.mean(np.array(far_m) > 2.5) > 0.4  # half are drawn so far; a half of these rooms has no space for them


@pytest.mark.parametrize("used", ["model_seat_share", "walking_aid_share"])
def test_people_bring_real_furniture_into_real_rooms(bank, used):
    asked = {"noise": False, "seated_share": 0.5, "furniture_share": 1.0, "distance_m": (2.0, 3.5), "relax_share": 1.0}
    plain, real = renderer_in(bank, **asked), renderer_in(bank, **asked, **{used: 1.0})
    assert "furniture_bank" in real.describe().keys() - plain.describe().keys()
    frames = [[each.render(index).depth.depth_m for index in range(4)] for each in (plain, real)]
    assert not np.array_equal(*frames)


def test_people_lie_as_often_in_small_rooms_as_in_large_ones(tmp_path):
    def share_lying(wall_m):
        bank = read_backgrounds([save_room(tmp_path / f"{wall_m}.npz", wall_m=wall_m)])
        renderer = renderer_in(bank, noise=False, distance_m=(1.0, 2.5), lying_share=0.5, surface_share=0.0)
        joints_m = np.concatenate([renderer.render(index).joints_m[:1] for index in range(40)])
        return np.mean(np.ptp(heights_m(joints_m), axis=1) < 0.8)

    assert share_lying(2.2) == pytest.approx(share_lying(4.8), abs=0.06)


def test_people_near_a_wall_have_it_behind_them(bank):
    def median_gap_m(share):
        renderer = renderer_in(bank, noise=False, distance_m=(1.0, 4.5), near_wall_share=share)
        gaps_m = []
        for index in range(16):
            frame = renderer.render(index)
            own = frame.people > 0
            gaps_m.append(np.median((fill_holes(room_depth()) - frame.depth.depth_m)[own]))
        return np.median(gaps_m)

    assert median_gap_m(1.0) < 0.5 < median_gap_m(0.0)


def test_heads_are_in_view_unless_the_camera_looks_at_the_floor(bank, monkeypatch):
    def heads_in_view(tries):
        monkeypatch.setattr(background_renderer, "HEAD_TRIES", tries)
        renderer = renderer_in(bank, distance_m=(0.8, 1.6))  # where the border often cuts off the head
        frames = [renderer.render(index) for index in range(16)]
        heads_m = [(frame, head_m) for frame in frames for head_m in frame.joints_m[:, HUMAN.joint_index("head")]]
        rows = [float(frame.depth.intrinsics.project(head_m[None])[0, 0]) for frame, head_m in heads_m]
        return np.mean(np.array(rows) >= -1)

    assert heads_in_view(background_renderer.HEAD_TRIES) == 1
    assert heads_in_view(0) < 0.9


def test_a_creature_of_one_joint_stands_in_a_room(bank):
    bone = Bone("post", (0, 0.1, 0), (0, 1, 0), (0.1, 0.1), "post")
    post = Creature("post", (bone,), {"top": JointPlace("post", 1.0, ("post",))})
    renderer = BackgroundRenderer(recipe_of(seed=5, distance_m=(1.5, 3.5)), Creatures(post), bank)
    assert (renderer.render(0).people == 1).any()


def test_noise_changes_people_and_their_shadow_alone(bank):
    renderer, room_m = renderer_in(bank), np.rint(room_depth() * 1000) / 1000
    holes = []
    for index in range(6):
        frame = renderer.render(index)
        depth_m = frame.depth.depth_m
        rest = (frame.people == 0) & (depth_m > 0)
        np.testing.assert_allclose(depth_m[rest], room_m[rest], atol=1e-5)
        rows, cols = np.nonzero((depth_m == 0) & (room_m > 0))
        people_cols = np.nonzero(frame.people.any(axis=0))[0]
        assert cols.max() <= people_cols.max() + 6
        holes.append(len(rows))
    assert np.median(holes) > 200


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_empty_share_decides_how_many_frames_show_nobody(bank, share):
    for index in range(4):
        frame = renderer_in(bank, empty_share=share).render(index)
        assert (len(frame.joints_m) == 0) == (not frame.people.any()) == bool(share)


def test_a_frame_depends_on_its_index_and_the_backgrounds_alone(bank, tmp_path):
    one, again = renderer_in(bank), renderer_in(bank)
    again.render(2)
    np.testing.assert_array_equal(one.render(7).depth.depth_m, again.render(7).depth.depth_m)
    other = renderer_in(read_backgrounds([save_room(tmp_path / "other.npz", wall_m=4.0)]))
    assert not np.array_equal(one.render(7).depth.depth_m, other.render(7).depth.depth_m)


def test_people_lie_on_the_bed(bank):
    renderer = renderer_in(bank, noise=False, lying_share=1.0, surface_share=1.0)
    pelvis = HUMAN.joint_index("pelvis")
    frames = [renderer.render(index) for index in range(6)]
    lying_m = [heights_m(frame.joints_m[0]) for frame in frames if np.ptp(heights_m(frame.joints_m[0])) < 0.6]
    assert len(lying_m) >= 3
    for joints_m in lying_m:
        assert BED_M < joints_m[pelvis] < BED_M + 0.4


def test_a_dataset_is_resumed_with_its_own_backgrounds_only(bank, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_writer, "RECORDING_FRAMES", 4)
    for name, workers in (("one", 1), ("two", 2)):
        dataset_writer.write_dataset(
            tmp_path / name, make_renderer(RECIPE, people_of(RECIPE), backgrounds=bank), workers
        )
    one, two = (sorted((tmp_path / name).glob("*.mcap")) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    one[1].unlink()
    dataset_writer.write_dataset(tmp_path / "one", make_renderer(RECIPE, people_of(RECIPE), backgrounds=bank), 1)
    assert one[1].read_bytes() == two[1].read_bytes()
    with Dataset.open(tmp_path / "one") as dataset:
        assert len(dataset) == 8
        assert any(len(dataset[row].joints_m) == 0 for row in range(8))
    other = read_backgrounds([save_room(tmp_path / "other.npz", wall_m=4.0)])
    with pytest.raises(PosepipeError, match="differs in backgrounds"):
        dataset_writer.write_dataset(tmp_path / "one", make_renderer(RECIPE, people_of(RECIPE), backgrounds=other), 1)


def test_rooms_without_space_are_refused(bank):
    with pytest.raises(PosepipeError, match="no frame had space for a person"):
        renderer_in(bank, distance_m=(8.0, 9.0)).render(0)


def test_a_recipe_for_backgrounds_needs_some(bank, tmp_path, capsys):
    with pytest.raises(ValueError, match="section background"):
        make_renderer(RECIPE, people_of(RECIPE))
    sequences = recipe_of(frames=4, sequence_frames=2)
    with pytest.raises(ValueError, match="single frames"):
        make_renderer(sequences, people_of(sequences), backgrounds=bank)
    assert main(["synth", str(tmp_path / "data"), "--recipe", "backgrounds", "--frames", "1"]) == 1
    assert "give --backgrounds PATH" in capsys.readouterr().err


def test_backgrounds_are_given_on_the_command_line(tmp_path):
    room = save_room(tmp_path / "room.npz")
    assert main(["synth", str(tmp_path / "data"), "--backgrounds", str(room), "--frames", "2", "--workers", "1"]) == 0
    with Dataset.open(tmp_path / "data") as dataset:
        assert dataset.recipe["background"]["empty_share"] == 0.2
