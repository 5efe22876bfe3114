"""ITOP files: played, read with ground truth, refused when invalid."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import FormatError, PosepipeError, SourceError
from posepipe.evaluation.labelled.labelled_itop import LabelledItop
from posepipe.evaluation.labelled.labelled_pack import open_labelled
from posepipe.sources import open_source
from posepipe.sources.formats.itop.itop import INTRINSICS, JOINTS, ItopDepthMap, read_itop_labels
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support.recordings.itop_files import itop_arrays, people_in_rooms, write_itop
from tests.support.toy_person import TOY

h5py = pytest.importorskip("h5py", reason="needs the extra itop", exc_type=ImportError)


@pytest.fixture
def arrays():
    return itop_arrays(people_in_rooms())


def test_depth_plays_without_labels(tmp_path, arrays):
    path = write_itop(tmp_path, arrays[0], None)
    with open_source(path) as source:
        assert isinstance(source, ItopDepthMap)
        assert (source.shape, source.frame_count, source.intrinsics) == ((240, 320), 4, INTRINSICS)
        np.testing.assert_allclose(source.timestamps_s, np.arange(4) / 30)
        frames = list(source)
        for frame, drawn in zip(frames, people_in_rooms(), strict=True):
            np.testing.assert_allclose(frame.depth_m, drawn.depth.depth_m, rtol=2**-11)  # 16 bits of it
        np.testing.assert_array_equal(source[2].depth_m, frames[2].depth_m)


def test_a_closed_file_says_so(tmp_path, arrays):
    with open_source(write_itop(tmp_path, arrays[0], None)) as source:
        assert source[0].index == 0
    with pytest.raises(ValueError, match="this source is closed; open it again"):
        source[0]


def test_pixels_follow_the_formula_of_itop_s_authors():
    """x = (column - 160) z C and y = (120 - row) z C, y up."""
    x, y, z = INTRINSICS.deproject_pixels(np.array(20.0), np.array(300.0), np.array(2.5))
    assert (x, -y, z) == pytest.approx((140 * 2.5 * 3.50666662e-3, 100 * 2.5 * 3.50666662e-3, 2.5), rel=1e-6)


def test_a_given_calibration_replaces_itop_s(tmp_path, arrays):
    path = write_itop(tmp_path, arrays[0], None)
    own = CameraFile(320, 240, Intrinsics(290.0, 291.0, 159.0, 119.0), 0.001, 30.0)
    write_camera_file(tmp_path / "own.json", own)
    assert open_source(path, camera=tmp_path / "own.json")[0].intrinsics == own.intrinsics
    with pytest.raises(
        FormatError,
        match=r"is for 640x480 pixels, the frames have 320x240; give a camera.json of that size or kinect-v1-320$",
    ):
        open_source(path, camera="kinect-v1")


def test_ground_truth_has_camera_axes_and_the_body_s_names(tmp_path, arrays):
    frames = open_labelled([write_itop(tmp_path, *arrays)], HUMAN)
    assert (len(frames), frames.body, frames.has_parts) == (4, HUMAN, False)
    for frame, drawn in zip(frames, people_in_rooms(), strict=True):
        own = [HUMAN.joint_index(joint) for joint in JOINTS]
        rest = [row for row in range(len(HUMAN.joints)) if row not in own]
        np.testing.assert_allclose(frame.joints_m[0, own], drawn.joints_m[0, own], atol=2e-3)
        assert np.isnan(frame.joints_m[0, rest]).all()
        np.testing.assert_array_equal(frame.visible[0, own], drawn.visible[0, own])
        assert not frame.visible[0, rest].any()
        np.testing.assert_array_equal(frame.people, drawn.people == 1)
        assert not frame.parts.any()


def test_left_is_the_person_s_own(tmp_path, arrays):
    """The people face the camera: their right shoulder, the third joint, is on the left of the image."""
    image = arrays[1]["image_coordinates"]
    assert (image[:, 2, 0] < image[:, 3, 0]).all()
    frame = LabelledItop(write_itop(tmp_path, *arrays), HUMAN)[0]
    right, left = (frame.joints_m[0, HUMAN.joint_index(f"{side}_shoulder"), 0] for side in ("right", "left"))
    assert right < left


def test_only_valid_frames_are_scored(tmp_path, arrays):
    depth, labels = arrays
    labels["is_valid"] = np.array([0, 1, 0, 1], np.uint8)
    labels["real_world_coordinates"][0] = np.nan  # labels of invalid frames are ignored
    pack = LabelledItop(write_itop(tmp_path, depth, labels), HUMAN)
    assert [frame.depth.index for frame in (pack[0], pack[1])] == [1, 3]
    assert len(pack) == 2
    labels["is_valid"][:] = 0
    with pytest.raises(FormatError, match="no frame is valid"):
        LabelledItop(write_itop(tmp_path, depth, labels, "ITOP_none"), HUMAN)


def test_the_identity_is_of_the_content(tmp_path, arrays):
    depth, labels = arrays
    first = open_labelled([write_itop(tmp_path, depth, labels)], HUMAN).identity
    again = open_labelled([write_itop(tmp_path, depth, labels, "ITOP_top_test")], HUMAN).identity
    labels["real_world_coordinates"][2, 3, 1] += 0.5
    changed = open_labelled([write_itop(tmp_path, depth, labels)], HUMAN).identity
    assert first == again != changed


def test_labels_are_found_beside_the_depth_and_must_match_it(tmp_path, arrays):
    depth, labels = arrays
    alone = write_itop(tmp_path, depth, None)
    with pytest.raises(FormatError, match=r"wanted a name NAME_depth_map\.h5 and NAME_labels\.h5 beside it"):
        LabelledItop(alone, HUMAN)
    renamed = alone.rename(tmp_path / "frames.h5")
    with pytest.raises(FormatError, match="no truth to compare with"):
        LabelledItop(renamed, HUMAN)
    fewer = {key: array[:3] for key, array in labels.items()}
    with pytest.raises(FormatError, match=r"labels of 3 frames, .* holds 4"):
        LabelledItop(write_itop(tmp_path, depth, fewer), HUMAN)
    with pytest.raises(FormatError, match=r"labels of other frames .* ids differ"):
        LabelledItop(write_itop(tmp_path, depth, {**labels, "id": labels["id"][::-1]}), HUMAN)
    assert len(LabelledItop(write_itop(tmp_path, depth, {**labels, "id": None}), HUMAN)) == 4


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("is_valid", None, r"is_valid: wanted \(N\), the file holds 'id', 'image_coordinates'"),
        ("visible_joints", lambda a: a[:, :14], r"visible_joints: wanted \(4, 15\) .* got int16 \(4, 14\)"),
        ("real_world_coordinates", lambda a: a * 1000, "real_world_coordinates: wanted metres"),
        ("real_world_coordinates", lambda a: a * np.nan, "real_world_coordinates: wanted metres"),
        ("real_world_coordinates", lambda a: a.astype(int), "of kind 'f', got int64"),
        ("segmentation", None, r"segmentation: wanted \(4, 240, 320\)"),
        ("segmentation", lambda a: a[:3], r"segmentation: wanted \(4, 240, 320\)"),
    ],
)
def test_invalid_labels_are_refused(tmp_path, arrays, name, change, message):
    depth, labels = arrays
    labels[name] = change and change(labels[name])
    path = write_itop(tmp_path, depth, labels)
    with pytest.raises(FormatError, match=message):
        read_itop_labels(path)


def test_other_files_of_the_dataset_say_which_one_is_wanted(tmp_path, arrays):
    write_itop(tmp_path, *arrays)
    wanted = r"wanted ITOP_\.\._depth_map\.h5, _labels\.h5 beside it"
    with pytest.raises(FormatError, match=rf"data: .* the file holds 'id', .*; {wanted}"):
        open_source(tmp_path / "ITOP_side_test_labels.h5")
    cloud = write_itop(tmp_path, {"data": np.zeros((4, 76800, 3), np.float16)}, None)
    with pytest.raises(FormatError, match=r"wanted \(N, 240, 320\) of kind 'f', got float16 \(4, 76800, 3\)"):
        open_source(cloud)


@pytest.mark.parametrize("data", [np.zeros((0, 240, 320), np.float16), np.zeros((2, 240, 320), int), np.float16(3)])
def test_invalid_depth_is_refused(tmp_path, data):
    with pytest.raises(FormatError, match=r"data: wanted \(N, 240, 320\)"):
        open_source(write_itop(tmp_path, {"data": data}, None))


def test_hostile_sizes_and_links_are_refused(tmp_path, arrays):
    path = write_itop(tmp_path, arrays[0], None)
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("data", (10**9, 240, 320), np.float16, chunks=(1, 240, 320))
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["data"] = h5py.ExternalLink(path.name, "data")
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        external = [("/etc/passwd", 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("data", (2, 240, 320), np.float16, external=external)
    with h5py.File(tmp_path / "view.h5", "w") as file:
        layout = h5py.VirtualLayout((4, 240, 320), np.float16)
        layout[:] = h5py.VirtualSource(path, "data", (4, 240, 320))
        file.create_virtual_dataset("data", layout)
    with h5py.File(tmp_path / "group.h5", "w") as file:
        file.create_group("data")
    for name in ("huge", "link", "raw", "view", "group"):
        with pytest.raises(FormatError, match=r"data: wanted \(N, 240, 320\)"):
            open_source(tmp_path / f"{name}.h5")


def test_a_cut_or_empty_file_is_one_line(tmp_path, arrays):
    path = write_itop(tmp_path, *arrays)
    content = path.read_bytes()
    for length in (8, 100, 1000, len(content) * 7 // 10, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(FormatError, match="not HDF5, or cut or damaged") as problem:
            open_source(path)
        assert "\n" not in str(problem.value)
    path.write_bytes(b"")
    with pytest.raises(SourceError, match="the file is empty"):
        open_source(path)


@pytest.mark.parametrize("size", [0, 50, 5000])
def test_random_bytes_after_the_magic_are_one_line(tmp_path, size):
    path = tmp_path / "random.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + np.random.default_rng(size).bytes(size))
    with pytest.raises(FormatError, match="not HDF5, or cut or damaged"):
        open_source(path)


def test_damaged_bytes_play_or_are_one_line(tmp_path, arrays):
    path = tmp_path / "ITOP_side_test_depth_map.h5"
    with h5py.File(path, "w") as file:
        file["id"] = arrays[0]["id"]
        file.create_dataset("data", data=arrays[0]["data"], chunks=(1, 240, 320), compression="gzip")
    content = path.read_bytes()
    rng, problems = np.random.default_rng(3), set()
    for _ in range(100):
        damaged = bytearray(content)
        for place in rng.integers(8, 4000, 6):
            damaged[place] = rng.integers(256)
        damaged[rng.integers(4000, len(content))] ^= 255
        path.write_bytes(damaged)
        try:
            with open_source(path) as source:
                list(source)
        except PosepipeError as error:
            problems.add(str(error))
    assert len(problems) > 3
    assert not any("\n" in problem for problem in problems)


def test_mixed_files_and_bodies_without_joints_are_refused(tmp_path, arrays):
    path = write_itop(tmp_path, *arrays)
    write_npz_pack(tmp_path / "pack.npz", [frame.depth for frame in people_in_rooms()])
    with pytest.raises(PosepipeError, match=r"pack\.npz is none of ITOP's files, unlike the others"):
        open_labelled([path, tmp_path / "pack.npz"], HUMAN)
    assert len(open_labelled([path], TOY)) == 4  # a head, a torso and two hands


def test_a_missing_h5py_names_its_install_command(tmp_path, arrays, monkeypatch):
    path = write_itop(tmp_path, arrays[0], None)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(SourceError, match=r"need h5py; pip install 'posepipe\[itop\]'"):
        open_source(path)


def test_frames_that_were_never_written_are_not_played(tmp_path):
    with h5py.File(tmp_path / "a_depth_map.h5", "w") as file:
        file.create_dataset("data", (100_000, 240, 320), np.float16)
    with pytest.raises(FormatError, match="an array of 14648 MB, allowed are 512 MB for a file of its size"):
        open_source(tmp_path / "a_depth_map.h5")


def test_frames_in_chunks_of_a_few_pixels_are_refused(tmp_path):
    with h5py.File(tmp_path / "a_depth_map.h5", "w") as file:
        file.create_dataset("data", (3, 240, 320), np.float16, chunks=(1, 2, 2), compression="gzip")
    with pytest.raises(FormatError, match="store a row in fewer, larger ones"):
        open_source(tmp_path / "a_depth_map.h5")
