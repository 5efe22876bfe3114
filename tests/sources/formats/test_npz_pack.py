"""NPZ packs: the documented arrays are read, and everything else is refused."""

from __future__ import annotations

import contextlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import FormatError
from posepipe.frames import DepthFrame
from posepipe.sources.formats.npz_pack import NpzPack, write_npz_pack

GOOD = {"depth_mm": np.full((3, 4, 5), 1200, np.uint16), "K": np.array([10.0, 11.0, 2.0, 1.5])}


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_a_pack_of_depth_alone_plays_at_30_fps(tmp_path):
    with NpzPack(save(tmp_path / "a.npz", **GOOD)) as source:
        frames = list(source)
    assert source.intrinsics == Intrinsics(10.0, 11.0, 2.0, 1.5)
    assert (source.frame_count, source.parts, source.joints_m, source.joint_names) == (3, None, None, ())
    assert [frame.timestamp_s for frame in frames] == pytest.approx([0, 1 / 30, 2 / 30])
    np.testing.assert_allclose(frames[0].depth_m, 1.2)


@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize("each", [False, True])
def test_a_camera_is_four_numbers_or_a_matrix_or_one_a_frame(tmp_path, as_matrix, each):
    numbers = np.array([[10.0, 11.0, 2.0, 1.5], [12.0, 13.0, 2.5, 1.0], [14.0, 15.0, 2.0, 2.0]])
    matrices = np.zeros((3, 3, 3))
    matrices[:, (0, 1, 0, 1, 2), (0, 1, 2, 2, 2)] = np.column_stack([numbers, np.ones(3)])
    cameras = matrices if as_matrix else numbers
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD | {"K": cameras if each else cameras[0]}))
    wanted = numbers if each else numbers[[0, 0, 0]]
    assert [frame.intrinsics for frame in pack] == [Intrinsics(*row) for row in wanted]
    assert pack.intrinsics == Intrinsics(*numbers[0])
    assert ("others differ" in pack.intrinsics_from) is each


def test_times_count_from_the_first_frame(tmp_path):
    path = save(tmp_path / "a.npz", **GOOD, timestamp_s=np.array([100.0, 100.5, 102.0]))
    assert [frame.timestamp_s for frame in NpzPack(path)] == [0, 0.5, 2.0]
    path = save(tmp_path / "b.npz", **GOOD, fps=np.array(10))
    assert [frame.timestamp_s for frame in NpzPack(path)] == pytest.approx([0, 0.1, 0.2])


@pytest.mark.parametrize(("start_ns", "wanted_ns"), [(0, 0), (10**18, 10**18 + 5 * 10**8)])
def test_an_unknown_date_stays_unknown(tmp_path, start_ns, wanted_ns):
    times = {"timestamp_s": np.array([0.5, 0.6, 0.7]), "start_time_ns": np.int64(start_ns)}
    assert NpzPack(save(tmp_path / "a.npz", **GOOD, **times)).start_time_ns == wanted_ns


@pytest.mark.parametrize(("first_s", "wanted_ns"), [(1_700_000_000.25, 1_700_000_000_250_000_000), (5000.0, 0)])
def test_seconds_since_1970_are_a_date(tmp_path, first_s, wanted_ns):
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD, timestamp_s=first_s + np.array([0, 0.5, 2.0])))
    assert pack.start_time_ns == wanted_ns
    assert [frame.timestamp_s for frame in pack] == [0, 0.5, 2.0]


def test_a_date_given_twice_counts_once(tmp_path):
    times = {"timestamp_s": 1_700_000_000.25 + np.arange(3), "start_time_ns": np.int64(1_700_000_000_250_000_000)}
    assert NpzPack(save(tmp_path / "a.npz", **GOOD, **times)).start_time_ns == 1_700_000_000_250_000_000


def test_ground_truth_is_read(tmp_path):
    joints_m = np.zeros((3, 2, 3), np.float32)
    names = np.array(["head", "neck"])
    truth = {"parts": np.ones((3, 4, 5), np.uint8), "joints_m": joints_m, "joint_names": names}
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD, **truth, note=np.array("unknown arrays are passed over")))
    assert pack.joint_names == ("head", "neck")
    np.testing.assert_array_equal(pack.joints_m, joints_m)
    np.testing.assert_array_equal(pack.parts, truth["parts"])
    assert pack.trusted is None


def test_the_mask_of_joints_is_ok_or_else_visible(tmp_path):
    truth = {"joints_m": np.zeros((3, 2, 3)), "visible": np.zeros((3, 2), bool)}
    assert not NpzPack(save(tmp_path / "a.npz", **GOOD, **truth)).trusted.any()
    assert NpzPack(save(tmp_path / "b.npz", **GOOD, **truth, ok=np.ones((3, 2), bool))).trusted.all()
    assert NpzPack(save(tmp_path / "c.npz", **GOOD, ok=np.array("fine"))).trusted is None  # of no joints


def test_frames_are_read_in_any_order(tmp_path):
    depth_mm = np.arange(1000, 1060, dtype=np.uint16).reshape(3, 4, 5)
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD | {"depth_mm": depth_mm}, fps=np.array(10)))
    assert (len(pack), pack[2].index, pack[2].timestamp_s) == (3, 2, pytest.approx(0.2))
    np.testing.assert_allclose(pack[1].depth_m, depth_mm[1] / 1000, atol=1e-6)


@pytest.mark.parametrize("order", "<>")
def test_the_byte_order_of_depth_does_not_matter(tmp_path, order):
    depth_mm = np.arange(1000, 1060).reshape(3, 4, 5).astype(f"{order}u2")
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD | {"depth_mm": depth_mm}))
    assert pack.depth_mm.dtype == np.uint16
    np.testing.assert_allclose(pack[1].depth_m, np.arange(1020, 1040).reshape(4, 5) / 1000, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(depth_mm=hnp.arrays(np.uint16, (2, 4, 5), elements=st.integers(0, 65535)))
def test_written_packs_are_read_back(tmp_path_factory, depth_mm):
    frames = [DepthFrame(image, Intrinsics(9.0, 9.0, 2.0, 2.0), i / 15, i) for i, image in enumerate(depth_mm)]
    path = tmp_path_factory.mktemp("npz") / "pack"
    write_npz_pack(path, frames)
    for got, wanted in zip(NpzPack(path), frames, strict=True):
        np.testing.assert_array_equal(got.depth_m, wanted.depth_m)
        assert (got.intrinsics, got.timestamp_s, got.index) == (wanted.intrinsics, wanted.timestamp_s, wanted.index)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"depth_mm": None}, "'depth_mm' is missing"),
        ({"K": None}, "'K' is missing"),
        ({"depth_mm": np.ones((3, 4, 5), np.float32)}, "wanted uint16 millimetres, got float32"),
        ({"depth_mm": np.ones((3, 4, 5), np.uint8)}, "got uint8"),
        ({"depth_mm": np.ones((4, 5), np.uint16)}, r"\(N, H, W\)"),
        ({"depth_mm": np.ones((0, 4, 5), np.uint16)}, "at least one frame"),
        ({"depth_mm": np.array([1, "x"], object)}, "Python objects"),
        ({"K": np.eye(2)}, "wanted four numbers"),
        ({"K": np.ones((2, 4))}, "for all frames or each of the 3, got float64"),
        ({"K": np.ones((3, 3))}, r"K: wanted \[\[fx, 0, cx\], \[0, fy, cy\], \[0, 0, 1\]\], got \[\[1.0, 1.0"),
        ({"K": np.array([[9.0, 9, 2, 2], [9, 9, 2, 2], [0.4, 9, 2, 2]])}, "K: wanted focal lengths"),
        ({"K": np.array(["1", "2", "3", "4"])}, "wanted four numbers"),
        ({"K": np.array([np.nan, 1, 1, 1])}, "finite"),
        ({"K": np.array([-1.0, 1, 1, 1])}, "positive"),
        ({"K": np.array([0.49, 5.0, 2.0, 1.5])}, "a.npz: K: wanted focal lengths of 0.5 to 100 pixels .*--camera"),
        ({"K": np.array([5.0, 1e9, 2.0, 1.5])}, r"got fx 5, fy 1e\+09; correct K, or give --camera"),
        ({"timestamp_s": np.zeros(2)}, "wanted 3 finite seconds"),
        ({"timestamp_s": np.array([0, 1, np.inf])}, "wanted 3 finite seconds"),
        ({"fps": np.array(0)}, "fps: wanted one rate"),
        ({"fps": np.array(1e-310)}, "fps: wanted one rate"),
        ({"fps": np.array([30, 30])}, "one rate"),
        ({"parts": np.zeros((3, 4, 4), np.uint8)}, "parts"),
        ({"people": np.zeros((3, 4, 5), np.int64)}, "people"),
        ({"joints_m": np.zeros((2, 20, 3))}, "joints_m"),
        ({"joints_m": np.zeros((3, 2, 3)), "joint_names": np.array(["head"])}, "joint_names"),
        ({"joints_m": np.zeros((3, 2, 3)), "ok": np.ones((3, 2))}, r"ok: wanted bool \(3, 2\), got float64"),
        ({"joints_m": np.zeros((3, 1, 2, 3)), "visible": np.ones((3, 2), bool)}, r"visible: wanted bool \(3, 1, 2\)"),
    ],
)
def test_a_wrong_array_is_named(tmp_path, change, message):
    arrays = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(FormatError, match=message):
        NpzPack(save(tmp_path / "a.npz", **arrays))


MATRIX = np.array([[10.0, 0, 2], [0, 11, 1.5], [0, 0, 1]])


@pytest.mark.parametrize(
    "k", [MATRIX, np.stack([GOOD["K"]] * 3), np.stack([MATRIX] * 3)], ids=["matrix", "rows", "each"]
)
def test_one_camera_may_be_written_in_four_ways(tmp_path, k):
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD | {"K": k}))
    assert pack.cameras == (Intrinsics(10.0, 11.0, 2.0, 1.5),)
    assert {frame.intrinsics for frame in pack} == set(pack.cameras)


@pytest.mark.parametrize("as_matrices", [False, True])
def test_each_frame_may_have_its_own_camera(tmp_path, as_matrices):
    cameras = [Intrinsics(10.0 + i, 11.0, 2.0, 1.5) for i in range(3)]
    k = np.array([[c.fx, c.fy, c.cx, c.cy] for c in cameras])
    if as_matrices:
        k = np.stack([np.array([[c.fx, 0, c.cx], [0, c.fy, c.cy], [0, 0, 1]]) for c in cameras])
    pack = NpzPack(save(tmp_path / "a.npz", **GOOD | {"K": k}))
    assert [frame.intrinsics for frame in pack] == cameras
    assert write_npz_pack(tmp_path / "b.npz", pack) == 3
    assert [frame.intrinsics for frame in NpzPack(tmp_path / "b.npz")] == cameras


@pytest.mark.parametrize("k", [np.array([0.4, 0.4, 0.5, 0.5]), np.zeros((3, 3)), None], ids=["normalised", "0", "none"])
def test_a_given_calibration_replaces_any_or_none(tmp_path, k):
    path = save(tmp_path / "a.npz", **({} if k is None else {"K": k}), depth_mm=GOOD["depth_mm"])
    camera = CameraFile(5, 4, Intrinsics(10.0, 11.0, 2.0, 1.5), 0.001, 30.0)
    assert NpzPack(path, camera).intrinsics == camera.intrinsics


@pytest.mark.parametrize(
    ("name", "values"),
    [("distortion", [0.1, 0, 0, 0, 0]), ("dist_coeffs", [[0.1, 0, 0, 0, 0]]), ("D", np.full((3, 5), 0.1)), ("k1", 0.1)],
)
def test_lens_distortion_is_refused_or_told(tmp_path, caplog, name, values):
    path = save(tmp_path / "a.npz", **GOOD, **{name: np.array(values)})
    with pytest.raises(FormatError, match=f"array '{name}': lens distortion of images is not removed"):
        NpzPack(path)
    NpzPack(path, CameraFile(5, 4, Intrinsics(9.0, 9.0, 2.0, 1.5), 0.001, 30.0))
    assert caplog.messages == [f"{path}: calibration from camera.json; images are not undistorted"]


@pytest.mark.parametrize(
    ("name", "values"), [("D", np.zeros(5)), ("dist", np.ones(100)), ("distortion", None), ("distance_m", 2.5)]
)
def test_other_arrays_are_no_distortion(tmp_path, name, values):
    assert len(NpzPack(save(tmp_path / "a.npz", **GOOD, **{name: np.array(values)}))) == 3


def test_a_file_that_is_no_zip_is_a_format_error(tmp_path):
    path = tmp_path / "a.npz"
    for content in (b"", b"PK", b"hello there", np.random.default_rng(0).bytes(500)):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"a.npz"):
            NpzPack(path)
    np.save(tmp_path / "single.npy", GOOD["depth_mm"])
    with pytest.raises(FormatError, match="zip archive"):
        NpzPack(tmp_path / "single.npy")


def test_a_cut_or_damaged_pack_is_a_format_error_or_harmless(tmp_path):
    content = save(tmp_path / "a.npz", **GOOD).read_bytes()
    path = tmp_path / "b.npz"
    for tenth in range(10):
        path.write_bytes(content[: len(content) * tenth // 10])
        with pytest.raises(FormatError):
            NpzPack(path)
    rng = np.random.default_rng(4)
    for _ in range(150):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] = rng.integers(256)
        path.write_bytes(damaged)
        with contextlib.suppress(FormatError):
            assert len(list(NpzPack(path))) >= 1


def test_frames_of_two_sizes_do_not_go_into_one_pack(tmp_path):
    frames = [DepthFrame(np.ones((4, 5 + i), np.float32), Intrinsics(9.0, 9.0, 2.0, 2.0)) for i in range(2)]
    with pytest.raises(ValueError, match="one size"):
        write_npz_pack(tmp_path / "a.npz", frames)


def test_depth_is_in_memory_once_while_a_pack_is_written(tmp_path):
    levels, lens = np.full((480, 640), 2000, np.uint16), Intrinsics(500.0, 500.0, 319.5, 239.5)
    frames = (DepthFrame(levels, lens, i / 30, i) for i in range(120))  # 74 MB
    tracemalloc.start()
    try:
        write_npz_pack(tmp_path / "a.npz", frames)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * 120 * levels.nbytes
    assert NpzPack(tmp_path / "a.npz").depth_mm.shape == (120, 480, 640)
