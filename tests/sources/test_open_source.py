"""The format of a source is recognised by content, whatever its name."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.datasets.dataset import RecordingEntry, write_manifest
from posepipe.errors import FormatError, PosepipeError, SourceError
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import RecordingWriter
from posepipe.sources import FORMATS, open_source, recordings_in
from posepipe.sources.formats.fakenect_dump import ZeroPlane
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from tests.support.recordings import ros_writers
from tests.support.recordings.azure_recordings import NO_DISTORTION, calibration_json, write_azure_recording
from tests.support.recordings.kinect_dumps import device_json, write_dump

CAMERA = Intrinsics(20.0, 21.0, 7.5, 5.5)
OTHER = Intrinsics(30.0, 30.0, 7.0, 5.0)
SHAPE = (12, 16)


def frames(count: int = 3) -> list[DepthFrame]:
    return [DepthFrame(np.full(SHAPE, 1000 + i, np.uint16), CAMERA, i / 30, i) for i in range(count)]


def depth_mm() -> np.ndarray:
    """Frames as a camera delivers them: uint16 (N, H, W)."""
    return np.stack([np.rint(frame.depth_m * 1000) for frame in frames()]).astype(np.uint16)


def labelled(frame: DepthFrame) -> LabelledFrame:
    labels = np.zeros(SHAPE, np.uint8)
    return LabelledFrame(frame, labels, labels, np.zeros((0, 20, 3), np.float32), np.zeros((0, 20), bool))


def make_png(path):
    write_png_folder(path, frames())
    (path / "depth.txt").unlink()


def make_images(path):
    path.mkdir()
    for index, image in enumerate(depth_mm()):
        np.save(path / f"{index}.npy", image)
    write_camera_file(path / "camera.json", CameraFile(SHAPE[1], SHAPE[0], CAMERA, 0.001, 30.0))


def make_tum(path):
    write_png_folder(path, frames())


def make_npz(path):
    write_npz_pack(path, frames())


def make_recording(path):
    with RecordingWriter(path, CAMERA, *SHAPE) as writer:
        for frame in frames():
            writer.write(frame)


def make_dataset(path):
    path.mkdir()
    with RecordingWriter(path / "frames-00000.mcap", CAMERA, *SHAPE, body=HUMAN) as writer:
        for frame in frames():
            writer.write(labelled(frame))
    write_manifest(path, HUMAN, {}, [RecordingEntry.describe(path / "frames-00000.mcap")])


def messages() -> list[ros_writers.Message]:
    """The same frames as ROS messages."""
    found = [ros_writers.camera_info(camera=CAMERA)]
    for frame in frames():
        time_ns = ros_writers.START_NS + round(frame.timestamp_s * 1e9)
        found.append(ros_writers.image(np.rint(frame.depth_m * 1000).astype(np.uint16), time_ns))
    return found


def make_bag(path):
    ros_writers.write_bag(path, messages())


def make_db3(path):
    ros_writers.write_db3(path, messages())


def make_azure(path):
    pytest.importorskip("av", reason="needs the extra azure", exc_type=ImportError)
    write_azure_recording(path, depth_mm(), calibration_json(NO_DISTORTION, sensor=SHAPE[::-1]))


def make_fakenect(path):
    """A dump of a Kinect with a long baseline: every millimetre has its own disparity."""
    plane = {"dcmos_emitter_distance": 150.0, "reference_distance": 120.0, "reference_pixel_size": 0.5}
    write_dump(path, np.searchsorted(ZeroPlane(**plane).millimetres()[:1000], depth_mm()))
    path.joinpath("device.json").write_text(device_json(plane, 200.0))
    write_camera_file(path / "camera.json", CameraFile(SHAPE[1], SHAPE[0], CAMERA, 0.001, 30.0))


MAKERS = {
    "PngFolder": make_png,
    "ImageFolder": make_images,
    "TumFolder": make_tum,
    "NpzPack": make_npz,
    "RecordingSource": make_recording,
    "DatasetFolder": make_dataset,
    "Ros1Bag": make_bag,
    "Ros2Bag": make_db3,
    "AzureMkv": make_azure,
    "FakenectDump": make_fakenect,
}
ONE_CAMERA = {"ItopDepthMap", "OpenniFile"}
"""Formats with a fixed size and calibration, which cannot hold these frames; their own tests cover the same."""


def test_every_format_of_the_table_is_tested():
    assert {kind.open.__name__ for kind in FORMATS} == set(MAKERS) | ONE_CAMERA


@pytest.mark.parametrize("kind", MAKERS)
def test_every_format_gives_the_same_frames(tmp_path, kind):
    MAKERS[kind](tmp_path / "thing.bin")
    with open_source(str(tmp_path / "thing.bin")) as source:
        assert type(source).__name__ == kind
        assert (source.intrinsics, source.frame_count) == (CAMERA, 3)
        assert source.name == str(tmp_path / "thing.bin")
        for _ in range(2):  # a source can be iterated again
            got = list(source)
            assert len(got) == 3
            for frame, wanted in zip(got, frames(), strict=True):
                np.testing.assert_array_equal(frame.depth_m, wanted.depth_m)
                assert (frame.index, frame.intrinsics) == (wanted.index, CAMERA)
                assert frame.timestamp_s == pytest.approx(wanted.timestamp_s, abs=1e-5)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_negative_index_counts_from_the_end(tmp_path, kind):
    MAKERS[kind](tmp_path / "thing.bin")
    with open_source(tmp_path / "thing.bin") as source:
        for index in (-1, -3, 0, np.int64(-2)):
            frame, wanted = source[index], frames()[index]
            np.testing.assert_array_equal(frame.depth_m, wanted.depth_m)
            assert frame.index == wanted.index
        for index in (3, -4):
            with pytest.raises(IndexError, match=rf"thing.bin: wanted the index of one of its 3 frames, got {index}"):
                source[index]
        for wrong in (1.0, "a", None):
            with pytest.raises(TypeError, match="wanted the index of a frame, a whole number, got"):
                source[wrong]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_slice_of_a_source_is_a_source(tmp_path, kind):
    MAKERS[kind](tmp_path / "thing.bin")
    with open_source(tmp_path / "thing.bin") as source:
        for part in (slice(1, None), slice(None, None, 2), slice(-2, 9), slice(2, 2), slice(None, None, -1)):
            view, wanted = source[part], frames()[part]
            assert (len(view), view.frame_count, view.name, view.shape) == (
                len(wanted),
                len(wanted),
                source.name,
                SHAPE,
            )
            assert [frame.index for frame in view] == [frame.index for frame in wanted]
            np.testing.assert_array_equal(view.timestamps_s, source.timestamps_s[part])
        view = source[1:]
        np.testing.assert_array_equal(view[-1].depth_m, frames()[2].depth_m)
        assert [frame.index for frame in view[:1]] == [1]
        with pytest.raises(IndexError):
            view[2]


def test_a_view_closes_its_source(tmp_path):
    make_recording(tmp_path / "a.mcap")
    source = open_source(tmp_path / "a.mcap")
    with source[1:] as view:
        assert len(list(view)) == 2
    with pytest.raises(ValueError, match="is closed"):
        source[0]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_closed_source_plays_or_says_that_it_is_closed(tmp_path, kind, caplog):
    MAKERS[kind](tmp_path / "thing")
    with open_source(tmp_path / "thing") as source:
        assert len(list(source)) == 3
    if kind in {"RecordingSource", "Ros1Bag", "Ros2Bag", "AzureMkv"}:
        with pytest.raises(ValueError, match=r"thing: this source is closed; open it again to read its frames"):
            list(source)
    else:
        assert len(list(source)) == 3
    assert caplog.messages == []


@pytest.mark.parametrize("kind", MAKERS)
def test_a_given_calibration_replaces_the_sources_own(tmp_path, kind):
    MAKERS[kind](tmp_path / "thing")
    write_camera_file(tmp_path / "other.json", CameraFile(SHAPE[1], SHAPE[0], OTHER, 0.001, 30.0))
    with open_source(tmp_path / "thing", camera=tmp_path / "other.json") as source:
        assert source.intrinsics == OTHER
        assert next(iter(source)).intrinsics == OTHER


@pytest.mark.parametrize(
    ("d", "model", "told"),
    [((0.1, 0, 0, 0, 0), "plumb_bob", True), ((0.1, 0), "thin prism", True), ((0,) * 5, "plumb_bob", False)],
)
def test_distortion_that_stays_is_told(tmp_path, caplog, d, model, told):
    info = ros_writers.camera_info(d=tuple(map(float, d)), model=model)
    path = ros_writers.write_mcap(tmp_path / "a.mcap", [info, ros_writers.image(ros_writers.depth_mm(0))])
    other = tmp_path / "other.json"
    write_camera_file(other, CameraFile(*ros_writers.SHAPE[::-1], ros_writers.CAMERA, 0.001, 30.0))
    open_source(path, camera=other).close()
    assert caplog.messages == [f"{path}: calibration from {other}; images are not undistorted"] * told


def test_a_missing_source_is_one_line(tmp_path):
    with pytest.raises(SourceError, match="no such file or folder"):
        open_source(tmp_path / "nothing.mcap")


def test_an_empty_folder_is_one_line(tmp_path):
    with pytest.raises(SourceError, match=r"the folder is empty; readable: .*PNGs"):
        open_source(tmp_path)


def test_a_folder_without_depth_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(SourceError, match="without depth frames"):
        open_source(tmp_path)


def test_a_folder_of_recordings_names_one(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    for name in ("a.bag", "b.bag"):
        ros_writers.write_bag(tmp_path / name, messages())
    with pytest.raises(SourceError, match=r"give one of them, such as .*[/\\]a\.bag, or all to `posepipe run --cl"):
        open_source(tmp_path)


def test_pictures_are_no_recordings(tmp_path):
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures" / "a.png"), np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(SourceError, match="without depth frames"):
        open_source(tmp_path)
    ros_writers.write_bag(tmp_path / "z.bag", messages())
    with pytest.raises(SourceError, match=r"such as .*[/\\]z\.bag"):
        open_source(tmp_path)


def test_what_else_a_folder_of_recordings_holds_is_told_once(tmp_path, caplog):
    ros_writers.write_bag(tmp_path / "a.bag", messages())
    assert recordings_in(tmp_path) == [tmp_path / "a.bag"]
    assert caplog.messages == []
    for name in ("z.mcap", *"bcdef", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
    assert recordings_in(tmp_path) == [tmp_path / "a.bag"]
    assert caplog.messages == [f"{tmp_path}: left out, of no known kind or damaged: b, c, d, e, f and 1 more"]


@pytest.mark.parametrize(("content", "message"), [(b"", "is empty"), (b"hello", "no known kind")])
def test_an_unknown_file_is_an_error_with_the_formats(tmp_path, content, message):
    (tmp_path / "thing.npz").write_bytes(content)
    with pytest.raises(SourceError, match=rf"{message}; readable: .*\.mcap.*posepipe run --help") as error:
        open_source(tmp_path / "thing.npz")
    assert len(str(error.value).removeprefix(str(tmp_path))) < 150


@pytest.mark.parametrize("name", ["camera.json", "depth.txt"])
def test_a_file_that_describes_frames_names_its_folder(tmp_path, name):
    make_tum(tmp_path / "frames")
    with pytest.raises(SourceError, match=r"describes a folder of frames; give the folder, .*frames$"):
        open_source(tmp_path / "frames" / name)


def test_a_single_image_is_an_error_that_names_its_folder(tmp_path):
    make_png(tmp_path / "frames")
    with pytest.raises(SourceError, match=r"one picture; give the folder that it lies in, with a camera\.json"):
        open_source(tmp_path / "frames" / "000000.png")


def test_a_single_array_is_an_error_that_says_how_to_pack_it(tmp_path):
    np.save(tmp_path / "depth.npy", depth_mm())
    with pytest.raises(SourceError, match=r"one array; give the folder .* into a pack: np\.savez_compressed"):
        open_source(tmp_path / "depth.npy")


@pytest.mark.parametrize("kind", ["NpzPack", "RecordingSource"])
def test_a_cut_file_plays_or_is_a_format_error(tmp_path, kind):
    MAKERS[kind](tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for tenth in range(1, 10):
        path = tmp_path / "cut"
        path.write_bytes(content[: len(content) * tenth // 10])
        try:
            with open_source(path) as source:
                assert sum(1 for _ in source) == source.frame_count
        except FormatError:
            pass


def test_random_bytes_after_a_magic_are_one_line(tmp_path):
    rng = np.random.default_rng(1)
    for magic in (b"PK\x03\x04", b"PK\x05\x06", b"\x89MCAP0\r\n", b"\x1a\x45\xdf\xa3", b"\x89HDF\r\n\x1a\n"):
        for size in (0, 18, 100, 5000):
            path = tmp_path / "random"
            path.write_bytes(magic + rng.bytes(size))
            with pytest.raises(PosepipeError):
                open_source(path)
