"""Recordings with joints that another system measured: scored like datasets, and refused where they cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.labelled.labelled_pack import LabelledPack, open_labelled
from tests.support.toy_person import INTRINSICS, TOY, toy_frames

FRAMES = toy_frames(6)
K = np.array([INTRINSICS.fx, INTRINSICS.fy, INTRINSICS.cx, INTRINSICS.cy])


def toy_pack(path, **changes):
    """Six frames of the toy person, cut out, with true joints; None takes an array out."""
    arrays = {
        "depth_mm": np.stack([np.round(frame.depth.depth_m * 1000) for frame in FRAMES]).astype(np.uint16),
        "K": K,
        "joints_m": np.stack([frame.joints_m[0] for frame in FRAMES]),
        "joint_names": np.array(TOY.joints),
        **changes,
    }
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pack.npz"


def test_a_pack_comes_back_as_labelled_frames(path):
    pack = open_labelled([toy_pack(path)], TOY)
    assert (len(pack), pack.body, pack.has_parts) == (6, TOY, False)
    for frame, drawn in zip(pack, FRAMES, strict=True):
        np.testing.assert_allclose(frame.depth.depth_m, drawn.depth.depth_m, atol=1e-6)
        np.testing.assert_array_equal(frame.people, drawn.people)  # every reading is the one person's
        np.testing.assert_array_equal(frame.joints_m, drawn.joints_m)
        assert frame.joints_m.dtype == np.float32
        assert frame.visible.all()
        assert not frame.parts.any()


def test_parts_and_people_are_taken_where_the_pack_has_them(path):
    parts = np.stack([frame.parts for frame in FRAMES])
    people = np.stack([frame.people for frame in FRAMES]) * (np.arange(64) < 32).astype(np.uint8)
    pack = open_labelled([toy_pack(path, parts=parts, people=people)], TOY)
    assert pack.has_parts
    np.testing.assert_array_equal(pack[1].parts, parts[1])
    np.testing.assert_array_equal(pack[1].people, people[1])


def test_joints_are_found_by_name_or_by_the_kinect_s_name(path):
    joints_m = np.tile([0.0, 0.0, 2.3], (6, 4, 1)) + np.arange(4)[:, None] * 0.1
    names = np.array(["head", "spine", "tail", "hip_center"])
    frame = LabelledPack(toy_pack(path, joints_m=joints_m, joint_names=names), HUMAN)[0]
    for joint, column in (("head", 0), ("torso", 1), ("pelvis", 3)):
        np.testing.assert_allclose(frame.joints_m[0, HUMAN.joint_index(joint)], joints_m[0, column], atol=1e-6)
    assert frame.visible.sum() == 3
    assert np.isfinite(frame.joints_m).all(axis=-1).sum() == 3


def test_our_own_name_of_a_joint_wins(path):
    joints_m = np.tile([0.0, 0.0, 2.3], (6, 2, 1)) + np.arange(2)[:, None] * 0.1
    frame = LabelledPack(toy_pack(path, joints_m=joints_m, joint_names=np.array(["spine", "torso"])), TOY)[0]
    np.testing.assert_allclose(frame.joints_m[0, TOY.joint_index("torso")], joints_m[0, 1], atol=1e-6)


@pytest.mark.parametrize("name", ["ok", "visible"])
def test_joints_that_are_not_to_be_trusted_have_no_truth(path, name):
    mask = np.ones((6, 4), bool)
    mask[2, 3] = False
    pack = LabelledPack(toy_pack(path, **{name: mask}), TOY)
    for index in range(6):
        np.testing.assert_array_equal(pack[index].visible, mask[index : index + 1])
        np.testing.assert_array_equal(np.isfinite(pack[index].joints_m).all(axis=-1), mask[index : index + 1])


def test_several_people_need_labels_of_people(path):
    people = np.stack([frame.people for frame in FRAMES])
    two = np.stack([[frame.joints_m[0], np.full((4, 3), np.nan)] for frame in FRAMES])
    with pytest.raises(FormatError, match="2 people; wanted also `people`"):
        LabelledPack(toy_pack(path, joints_m=two), TOY)
    pack = LabelledPack(toy_pack(path, joints_m=two, people=people, ok=np.ones((6, 2, 4), bool)), TOY)
    assert pack[0].joints_m.shape == (2, 4, 3)
    np.testing.assert_array_equal(pack[0].visible, [[True] * 4, [False] * 4])


def room(extra_m: float = 2.0) -> np.ndarray:
    """The toy frames with a wall behind the person instead of no reading: uint16 (N, H, W)."""
    depth_mm = np.stack([np.round(frame.depth.depth_m * 1000) for frame in FRAMES]).astype(np.uint16)
    return np.where(depth_mm > 0, depth_mm, np.uint16(2300 + 1000 * extra_m))


def test_a_room_needs_labels_of_people(path):
    with pytest.raises(FormatError, match="cut out, or `people`"):
        LabelledPack(toy_pack(path, depth_mm=room()), TOY)
    people = np.stack([frame.people for frame in FRAMES])
    pack = LabelledPack(toy_pack(path, depth_mm=room(), people=people), TOY)
    np.testing.assert_array_equal(pack[0].people, people[0])


def test_joints_in_other_units_or_axes_are_refused(path):
    joints_m = np.stack([frame.joints_m[0] for frame in FRAMES])
    for wrong in (joints_m * 1000, joints_m * [1, 1, -1], joints_m[..., [2, 0, 1]]):
        with pytest.raises(FormatError, match="wanted joints_m in metres, camera axes"):
            LabelledPack(toy_pack(path, joints_m=wrong), TOY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joints_m": None}, "no truth to compare with"),
        ({"joint_names": None}, "no truth to compare with"),
        ({"joint_names": np.array(["a", "b", "c", "d"])}, "'toy' has none of a, b, c, d; wanted some of head, torso"),
        ({"joints_m": np.zeros((6, 1, 1, 4, 3))}, r"\(N, P, J, 3\), got \(6, 1, 1, 4, 3\)"),
        ({"parts": np.full((6, 48, 64), 6, np.uint8)}, "codes 0 to 5 of the body 'toy', got 6"),
        ({"people": np.zeros((6, 48, 64), np.uint8)}, "person 1 to 1"),
        ({"ok": np.zeros((6, 4), bool)}, "no joint is known, or trusted by `ok`"),
        ({"joints_m": np.full((6, 4, 3), np.nan)}, "nothing to score"),
        ({"depth_mm": None}, "'depth_mm' is missing"),
    ],
)
def test_a_pack_that_cannot_be_scored_says_why(path, changes, message):
    with pytest.raises(FormatError, match=message):
        LabelledPack(toy_pack(path, **changes), TOY)


def test_packs_are_one_sequence_whose_identity_is_its_content(path, tmp_path):
    own = open_labelled([toy_pack(path)], TOY)
    both = open_labelled([path, toy_pack(tmp_path / "other.npz")], TOY)
    assert len(both) == 12
    np.testing.assert_array_equal(both[7].depth.depth_m, both[1].depth.depth_m)
    assert len({own.identity, both.identity, both[:6].identity, own[:5].identity}) == 4
    assert open_labelled([tmp_path / "other.npz"], TOY).identity == own.identity  # whatever the file is called
    depth_mm = room(0)
    for change in ({"K": K + 1}, {"depth_mm": depth_mm}, {"ok": np.arange(24).reshape(6, 4) > 0}):
        assert open_labelled([toy_pack(path, **change)], TOY).identity != own.identity


def test_a_calibration_replaces_that_of_packs_alone(path, tmp_path):
    camera = CameraFile(64, 48, INTRINSICS, 0.001, 30.0, "kinect")
    write_camera_file(tmp_path / "camera.json", camera)
    given = open_labelled([toy_pack(path, K=None)], TOY, tmp_path / "camera.json")
    assert given[2].depth.intrinsics == INTRINSICS
    assert given.identity == open_labelled([toy_pack(path)], TOY).identity
    with pytest.raises(PosepipeError, match="is given for NPZ packs"):
        open_labelled([tmp_path / "dataset"], TOY, tmp_path / "camera.json")


def test_datasets_and_packs_are_scored_apart(path, tmp_path):
    with pytest.raises(PosepipeError, match="score them apart"):
        open_labelled([toy_pack(path), tmp_path], TOY)


def rows_of(path):
    return [(s.name, s.rows, s.exact_joints) for s in LabelledPack(path, TOY).sequences]


def test_a_pack_is_cut_into_sequences_by_name(path):
    names = np.array(["a:0", "a:1", "walk:1:7", "walk:1:9", "a:2", "alone"])
    assert rows_of(toy_pack(path, name=names)) == [
        ("a", range(2), False),
        ("walk:1", range(2, 4), False),
        ("a", range(4, 5), False),
        ("alone", range(5, 6), False),
    ]
    frames = open_labelled([path, path], TOY)
    assert [(s.name, len(part)) for s, part in frames.sequences()] == [("a", 2), ("walk:1", 2)] * 2
    np.testing.assert_array_equal(frames.sequences()[3][1][0].joints_m, frames[8].joints_m)


def test_without_names_a_pack_with_times_is_one_sequence(path):
    assert rows_of(toy_pack(path)) == []
    assert rows_of(toy_pack(path, timestamp_s=np.arange(6) / 10)) == [("pack", range(6), False)]


@pytest.mark.parametrize("name", [np.arange(6), np.array(["a", "b"]), np.array([["a"] * 6])])
def test_a_wrong_number_of_names_is_refused_on_use(path, name):
    pack = LabelledPack(toy_pack(path, name=name), TOY)
    with pytest.raises(FormatError, match="name: wanted 6 names"):
        pack.sequences  # noqa: B018 - reading it is the test
