"""Recordings: read back exactly, by posepipe and by other programs, complete or cut."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import mcap.reader
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mcap.writer import Writer
from rosbags.highlevel import AnyReader

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import BodyTruth, DepthFrame, LabelledFrame
from posepipe.recording import RecordingReader, RecordingWriter
from posepipe.recording.ros import messages as ros

CAMERA = Intrinsics(60.0, 61.0, 15.5, 11.5)
SHAPE = (24, 32)


def depth_frame(index: int, shape: tuple[int, int] = SHAPE) -> DepthFrame:
    depth_mm = np.random.default_rng(index).integers(0, 9000, shape, dtype=np.uint16)
    return DepthFrame(depth_mm, CAMERA, index / 30, index)


def labelled_frame(index: int, people: int = 2) -> LabelledFrame:
    rng = np.random.default_rng(index + 1000)
    joints_m = rng.normal(size=(people, len(HUMAN.joints), 3)).astype(np.float32)
    ids = rng.integers(0, people + 1, SHAPE, dtype=np.uint8)
    parts = rng.integers(0, 32, SHAPE, dtype=np.uint8)
    return LabelledFrame(depth_frame(index), parts, ids, joints_m, joints_m[:, :, 0] > 0)


def record(path: Path, frames: list, **options) -> Path:
    with RecordingWriter(path, CAMERA, *SHAPE, **options) as writer:
        for frame in frames:
            writer.write(frame)
    return path


def assert_same_depth(got: DepthFrame, wanted: DepthFrame) -> None:
    np.testing.assert_array_equal(got.depth_m, wanted.depth_m)
    assert got.depth_m.dtype == np.float32
    assert got.intrinsics == wanted.intrinsics
    assert got.timestamp_s == pytest.approx(wanted.timestamp_s, abs=1e-9)
    assert got.index == wanted.index


def assert_same_truth(got: object, wanted: LabelledFrame) -> None:
    assert isinstance(got, LabelledFrame)
    assert_same_depth(got.depth, wanted.depth)
    for name in ("parts", "people", "joints_m", "visible"):
        left, right = getattr(got, name), getattr(wanted, name)
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype
        assert left.flags.writeable, f"{name}: a read-only array would compile every kernel twice"


def test_depth_frames_are_read_back(tmp_path):
    frames = [depth_frame(i) for i in range(5)]
    path = record(tmp_path / "a.mcap", frames, metadata={"sensor": "ideal"}, start_time_ns=1_700_000_000_000_000_000)
    with RecordingReader(path) as reader:
        assert (len(reader), reader.labelled, reader.complete, reader.missing) == (5, False, True, "")
        assert (reader.intrinsics, reader.shape, reader.metadata) == (CAMERA, SHAPE, {"sensor": "ideal"})
        assert reader.start_time_ns == 1_700_000_000_000_000_000
        for got, wanted in zip(reader, frames, strict=True):
            assert_same_depth(got, wanted)


def test_labelled_frames_are_read_back(tmp_path):
    frames = [labelled_frame(i, people=i) for i in range(3)]
    with RecordingReader(record(tmp_path / "a.mcap", frames, body=HUMAN)) as reader:
        assert reader.body == HUMAN
        for got, wanted in zip(reader, frames, strict=True):
            assert_same_truth(got, wanted)


def with_bodies(frame: LabelledFrame, angles: int = 2) -> LabelledFrame:
    rng, people = np.random.default_rng(5), len(frame.joints_m)
    shape = people, len(HUMAN.joints)
    names = tuple(f"angle {k}" for k in range(angles))
    angles_deg = rng.normal(size=(people, angles)).astype(np.float32) if angles else None
    lengths_m = rng.random(shape, np.float32)
    lengths_m[:, 0] = np.nan
    return replace(frame, bodies=BodyTruth(rng.random((*shape, 4), np.float32), lengths_m, names, angles_deg))


@pytest.mark.parametrize("angles", [0, 2])
def test_orientations_and_bone_lengths_are_read_back(tmp_path, angles):
    frames = [with_bodies(labelled_frame(0), angles), labelled_frame(1), with_bodies(labelled_frame(2, 0), angles)]
    with RecordingReader(record(tmp_path / "a.mcap", frames, body=HUMAN)) as reader:
        for got, wanted in zip(reader, frames, strict=True):
            assert_same_truth(got, wanted)
            if wanted.bodies is None:
                assert got.bodies is None
                continue
            assert got.bodies.angle_names == wanted.bodies.angle_names
            for name in ("rotations_xyzw", "bone_lengths_m", "angles_deg"):
                np.testing.assert_array_equal(getattr(got.bodies, name), getattr(wanted.bodies, name))


def test_bodies_of_another_shape_are_refused(tmp_path):
    frame = with_bodies(labelled_frame(0))
    wrong = replace(frame, bodies=replace(frame.bodies, bone_lengths_m=np.zeros((1, 3), np.float32)))
    with pytest.raises(ValueError, match=r"bone_lengths_m: wanted shape \(2, 20\), got \(1, 3\)"):
        record(tmp_path / "a.mcap", [wrong], body=HUMAN)


def test_any_frame_can_be_read_in_any_order(tmp_path):
    frames = [labelled_frame(i) for i in range(6)]
    with RecordingReader(record(tmp_path / "a.mcap", frames, body=HUMAN)) as reader:
        for i in (3, 0, 5, -1, -6, 3):
            assert_same_truth(reader[i], frames[i])
        with pytest.raises(IndexError, match="frame 6 of 6"):
            reader[6]


@settings(deadline=None, max_examples=25)
@given(
    depth_m=hnp.arrays(np.float32, SHAPE, elements=st.floats(0, 20, width=32) | st.just(float("nan"))),
    whole_mm=st.booleans(),
)
def test_depth_is_kept_to_a_hundredth_of_a_millimetre(tmp_path_factory, depth_m, whole_mm):
    if whole_mm:
        depth_m = np.round(np.nan_to_num(depth_m), 3)
    frame = DepthFrame(depth_m, CAMERA)
    path = record(tmp_path_factory.mktemp("r") / "a.mcap", [frame])
    with RecordingReader(path) as reader:
        np.testing.assert_allclose(next(iter(reader)).depth_m, frame.depth_m, atol=ros.WHOLE_MM_TOLERANCE_M)


def test_whole_millimetres_are_integers_and_finer_depth_floats():
    assert ros.depth_pixels(np.array([[1.234, 0.0]], np.float32))[1] == "16UC1"
    pixels, encoding = ros.depth_pixels(np.array([[1.2345, 0.0]], np.float32))
    assert encoding == "32FC1"
    assert np.isnan(pixels[0, 1])


def test_equal_frames_give_equal_bytes(tmp_path):
    frames = [labelled_frame(i) for i in range(3)]
    first, second = (record(tmp_path / name, frames, body=HUMAN).read_bytes() for name in ("a.mcap", "b.mcap"))
    assert first == second


def test_two_frames_of_equal_time_stay_separate(tmp_path):
    frames = [labelled_frame(0), labelled_frame(0)]
    with RecordingReader(record(tmp_path / "a.mcap", frames, body=HUMAN)) as reader:
        assert [frame.depth.index for frame in reader] == [0, 1]


def test_frames_that_will_be_played_in_another_order_are_told(tmp_path, caplog):
    depth_mm = np.full((4, 5), 1000, np.uint16)
    with RecordingWriter(tmp_path / "a.mcap", CAMERA, 4, 5) as writer:
        for index, time_s in enumerate((0.0, 0.5, 0.5, 0.0, 0.5)):
            writer.write(DepthFrame(depth_mm + index, CAMERA, time_s, index))
            assert len(caplog.records) == (index >= 3)
    assert "frame 3 is of an earlier time" in caplog.text
    with RecordingReader(tmp_path / "a.mcap") as reader:
        assert [round(1000 * float(frame.depth_m[0, 0])) for frame in reader] == [1000, 1003, 1001, 1002, 1004]


def test_every_cut_gives_all_complete_frames(tmp_path):
    frames = [labelled_frame(i) for i in range(8)]
    content = record(tmp_path / "whole.mcap", frames, body=HUMAN).read_bytes()
    found = []
    for cut in [len(content) * tenth // 10 for tenth in range(10)] + [len(content) - 1]:
        path = tmp_path / f"{cut}.mcap"
        path.write_bytes(content[:cut])
        try:
            reader = RecordingReader(path)
        except FormatError:
            found.append(0)
            continue
        with reader:
            got = list(reader)
            assert not reader.complete
            assert f"{len(got)} complete frame" in reader.missing
            assert len(reader) == len(got)
            for frame, wanted in zip(got, frames, strict=False):
                assert_same_truth(frame, wanted)
            assert_same_truth(reader[len(got) - 1], frames[len(got) - 1])
        found.append(len(got))
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] == 8
    assert found[5] >= 2, "half of the file holds frames"


def test_a_killed_writer_leaves_every_frame_it_wrote(tmp_path):
    writer = RecordingWriter(tmp_path / "a.mcap", CAMERA, *SHAPE)
    for i in range(3):
        writer.write(depth_frame(i))
        with RecordingReader(tmp_path / "a.mcap") as reader:  # not closed, as after a kill
            assert len(list(reader)) == i + 1
    writer.close()


def test_zeros_after_the_last_frame_are_a_cut(tmp_path):
    path = record(tmp_path / "a.mcap", [depth_frame(0), depth_frame(1)])
    content = path.read_bytes()
    data_end = content.rindex(b"\x0f" + struct.pack("<Q", 4))
    path.write_bytes(content[:data_end] + bytes(4096))
    with RecordingReader(path) as reader:
        assert len(list(reader)) == 2
        assert "4096 bytes" in reader.missing


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"not a recording", bytes(100)])
def test_a_file_of_another_format_is_a_format_error(tmp_path, content):
    path = tmp_path / "a.mcap"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.mcap"):
        RecordingReader(path)


def test_damage_is_a_format_error_or_harmless(tmp_path):
    content = record(tmp_path / "a.mcap", [labelled_frame(i) for i in range(3)], body=HUMAN).read_bytes()
    rng = np.random.default_rng(3)
    path = tmp_path / "b.mcap"
    for _ in range(60):
        damaged = bytearray(content)
        for position in rng.integers(0, len(content), 4):
            damaged[position] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            with RecordingReader(path) as reader:
                assert sum(1 for _ in reader) <= 3
        except FormatError:
            pass


def test_random_bytes_after_the_magic_are_a_format_error(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "a.mcap"
    for size in (1, 9, 40, 1000):
        path.write_bytes(b"\x89MCAP0\r\n" + rng.bytes(size))
        with pytest.raises(FormatError):
            RecordingReader(path)


def test_a_recording_without_frames_is_no_file(tmp_path):
    record(tmp_path / "a.mcap", [])
    assert not list(tmp_path.iterdir())


def test_a_recording_of_no_complete_frame_is_a_format_error(tmp_path):
    whole = record(tmp_path / "a.mcap", [depth_frame(0)]).read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[:800])
    with pytest.raises(FormatError, match="no complete frame"):
        RecordingReader(tmp_path / "cut.mcap")


def test_the_reader_of_mcap_finds_all_topics_and_depth(tmp_path):
    frames = [labelled_frame(i) for i in range(3)]
    path = record(tmp_path / "a.mcap", frames, body=HUMAN)
    with path.open("rb") as stream:
        reader = mcap.reader.make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        assert summary is not None
        assert reader.get_header().profile == "ros2"
        assert len(summary.chunk_indexes) == 3, "a chunk a frame"
        assert len(summary.channels) == 6
        attachments = {a.name: a.data for a in reader.iter_attachments()}
        assert BodyDefinition.from_dict(json.loads(attachments["body.json"])) == HUMAN
        found = [(m.log_time, m.data) for _, _, m in reader.iter_messages(topics=[ros.DEPTH_TOPIC])]
    for (log_time, data), wanted in zip(found, frames, strict=True):
        assert log_time == round(wanted.depth.timestamp_s * 1e9)
        np.testing.assert_array_equal(DepthFrame(ros.decode_image(data)[0], CAMERA).depth_m, wanted.depth.depth_m)


def test_rosbags_reads_a_recording_by_the_schemas_in_the_file(tmp_path):
    frames = [labelled_frame(i) for i in range(3)]
    path = record(tmp_path / "a.mcap", frames, body=HUMAN)
    seen = dict.fromkeys((ros.DEPTH_TOPIC, ros.JOINTS_TOPIC, ros.CAMERA_INFO_TOPIC), 0)
    with AnyReader([path]) as reader:
        for connection, time_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            wanted = frames[seen.get(connection.topic, 0)] if connection.topic in seen else None
            if connection.topic == ros.DEPTH_TOPIC:
                depth_mm = message.data.view(np.uint16).reshape(message.height, message.width)
                np.testing.assert_array_equal(DepthFrame(depth_mm, CAMERA).depth_m, wanted.depth.depth_m)
                assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time_ns
            elif connection.topic == ros.JOINTS_TOPIC:
                np.testing.assert_array_equal(message.xyz_m, wanted.joints_m.reshape(-1))
                assert tuple(message.joint_names) == HUMAN.joints
            elif connection.topic == ros.CAMERA_INFO_TOPIC:
                assert message.k[[0, 4, 2, 5]].tolist() == [60.0, 61.0, 15.5, 11.5]
            if connection.topic in seen:
                seen[connection.topic] += 1
    assert set(seen.values()) == {3}


def write_foreign(
    path: Path, images: list[bytes], info: bytes | None, topic: str = "/cam/depth/image_rect_raw"
) -> Path:
    """A recording of another ROS 2 program: all messages in one chunk, with other topic names."""
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2")
        image = writer.register_schema(ros.IMAGE, "ros2msg", ros.schema_text(ros.IMAGE).encode())
        camera = writer.register_schema(ros.CAMERA_INFO, "ros2msg", ros.schema_text(ros.CAMERA_INFO).encode())
        depth_channel = writer.register_channel(topic, "cdr", image)
        colour_channel = writer.register_channel("/cam/color/image_raw", "cdr", image)
        info_channel = writer.register_channel(topic.rpartition("/")[0] + "/camera_info", "cdr", camera)
        for i, data in enumerate(images):
            writer.add_message(colour_channel, 10**9 + i * 10**8, b"never looked at", 0)
            if info is not None:
                writer.add_message(info_channel, 10**9 + i * 10**8, info, 0)
            writer.add_message(depth_channel, 10**9 + i * 10**8, data, 0)
        writer.finish()
    return path


def camera_info() -> bytes:
    return bytes(ros.encode_camera_info(CAMERA, *SHAPE, 0, "f"))


def test_another_programs_recording_is_read(tmp_path):
    frames = [depth_frame(i) for i in range(4)]
    pixels = [np.rint(frame.depth_m * 1000).astype(np.uint16) for frame in frames]
    images = [bytes(ros.encode_image(p, "16UC1", 0, "f")) for p in pixels]
    images[1] = bytes(ros.encode_image(frames[1].depth_m, "32FC1", 0, "f"))
    with RecordingReader(write_foreign(tmp_path / "a.mcap", images, camera_info())) as reader:
        assert (len(reader), reader.start_time_ns, reader.intrinsics) == (4, 10**9, CAMERA)
        np.testing.assert_array_equal(reader[2].depth_m, frames[2].depth_m)
        for i, got in enumerate(reader):
            np.testing.assert_array_equal(got.depth_m, frames[i].depth_m)
            assert got.timestamp_s == pytest.approx(i / 10)


def test_big_endian_and_padded_images_are_read():
    store = ros.typestore()
    pixels = np.arange(6, dtype=np.uint16).reshape(2, 3)
    padded = np.zeros((2, 8), np.uint8)
    padded[:, :6] = pixels.astype(">u2").view(np.uint8)
    message = store.types[ros.IMAGE](ros.message_header(0, "f"), 2, 3, "mono16", 1, 8, padded.reshape(-1))
    got, _ = ros.decode_image(bytes(store.serialize_cdr(message, ros.IMAGE)))
    np.testing.assert_array_equal(got, pixels)
    assert got.dtype == np.uint16


def test_a_missing_calibration_is_an_error_and_can_be_given(tmp_path):
    image = bytes(ros.encode_image(np.full(SHAPE, 1000, np.uint16), "16UC1", 0, "f"))
    path = write_foreign(tmp_path / "a.mcap", [image], None)
    with pytest.raises(FormatError, match="no camera_info"):
        RecordingReader(path)
    with RecordingReader(path, intrinsics=CAMERA) as reader:
        assert next(iter(reader)).intrinsics == CAMERA


def test_labels_with_lens_distortion_are_refused(tmp_path, monkeypatch):
    message = ros.typestore().deserialize_cdr(camera_info(), ros.CAMERA_INFO)
    message.d = np.array([0.1, 0, 0, 0, 0])
    distorted = ros.typestore().serialize_cdr(message, ros.CAMERA_INFO)
    monkeypatch.setattr(ros, "encode_camera_info", lambda *_: distorted)
    with pytest.raises(FormatError, match="its labels do not fit the undistorted image"):
        RecordingReader(record(tmp_path / "a.mcap", [labelled_frame(0)], body=HUMAN))


def test_an_error_without_depth_names_the_topics(tmp_path):
    path = write_foreign(tmp_path / "a.mcap", [b""], None, topic="/cam/infra/image")
    with pytest.raises(FormatError, match=r"no depth topic.*/cam/color/image_raw"):
        RecordingReader(path)


def test_frames_of_another_camera_or_body_are_refused(tmp_path):
    with RecordingWriter(tmp_path / "a.mcap", CAMERA, *SHAPE) as writer:
        with pytest.raises(ValueError, match="no body"):
            writer.write(labelled_frame(0))
        with pytest.raises(ValueError, match="another camera"):
            writer.write(depth_frame(0, shape=(8, 8)))
    with RecordingWriter(tmp_path / "b.mcap", CAMERA, *SHAPE, body=HUMAN) as writer:
        with pytest.raises(ValueError, match="LabelledFrame"):
            writer.write(depth_frame(0))
        frame = labelled_frame(0)
        with pytest.raises(ValueError, match="joints_m"):
            writer.write(
                LabelledFrame(frame.depth, frame.parts, frame.people, frame.joints_m[:, :3], frame.visible[:, :3])
            )


def test_a_disk_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PosepipeError, match=r"wanted a folder at .*, a file is there") as caught:
        RecordingWriter(tmp_path / "file" / "a.mcap", CAMERA, *SHAPE)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to play a full disk")
def test_a_full_disk_is_one_line():
    with pytest.raises(PosepipeError, match="No space left"), RecordingWriter("/dev/full", CAMERA, *SHAPE) as writer:
        writer.write(depth_frame(0))
