"""ROS 2 recordings: databases, rosbag2 folders, and databases of the RealSense SDK."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import zstandard
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as FolderWriter

from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingWriter
from posepipe.sources import open_source
from posepipe.sources.formats.ros2_bag import Ros2Bag
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.ros_playback import assert_plays, play

COUNT = 8


def write_folder(path: Path, messages, storage=StoragePlugin.SQLITE3, compression=None) -> Path:
    """Write a rosbag2 folder, by rosbags."""
    writer = FolderWriter(path, version=9, storage_plugin=storage)
    if compression is not None:
        writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for message in messages:
            if message.topic not in connections:
                store = ros.typestore(2)
                connections[message.topic] = writer.add_connection(message.topic, message.kind, typestore=store)
            writer.write(connections[message.topic], message.time_ns, message.serialised(2))
    return path


def test_a_database_is_read(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(COUNT))
    assert_plays(path, COUNT)
    with Ros2Bag(path) as source:
        assert (source.intrinsics, source.shape, source.start_time_ns) == (ros.CAMERA, ros.SHAPE, ros.START_NS)
        np.testing.assert_allclose(source.timestamps_s, np.arange(COUNT) / 30, atol=1e-8)
        for i in (5, 0, 7, 7, 3):
            frame = source[i]
            assert frame.index == i
            np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), ros.depth_mm(i))


def test_messages_out_of_order_are_played_in_order_of_time(tmp_path):
    assert_plays(ros.write_db3(tmp_path / "a.db3", ros.depth_recording(COUNT)[::-1]), COUNT)


def test_a_database_is_not_changed_by_reading(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(2))
    content = path.read_bytes()
    assert_plays(path, 2)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("storage", list(StoragePlugin))
@pytest.mark.parametrize("compression", [None, CompressionMode.MESSAGE])
@pytest.mark.parametrize("metadata", [True, False])  # missing after a killed recorder
def test_a_folder_is_read(tmp_path, storage, compression, metadata):
    path = write_folder(tmp_path / "bag", ros.depth_recording(COUNT), storage, compression)
    if not metadata:
        (path / "metadata.yaml").unlink()
    with open_source(path) as source:
        assert type(source) is Ros2Bag
        assert (source.name, len(source), source.start_time_ns) == (str(path), COUNT, ros.START_NS)
        np.testing.assert_allclose(source.timestamps_s, np.arange(COUNT) / 30, atol=1e-8)
        np.testing.assert_array_equal(np.rint(source[5].depth_m * 1000), ros.depth_mm(5))
    assert_plays(path, COUNT)


@pytest.mark.parametrize("write", [ros.write_db3, ros.write_mcap])
def test_a_recording_in_several_files_is_one(tmp_path, write, caplog):
    messages = ros.depth_recording(12)
    suffix = "db3" if write is ros.write_db3 else "mcap"
    for i in range(11):  # enough for bag_10 to sort before bag_2
        write(tmp_path / f"bag_{i}.{suffix}", messages[3 * i : 3 * i + 3] if i < 10 else messages[30:])
    assert_plays(tmp_path, 12)
    with open_source(tmp_path) as source:
        np.testing.assert_allclose(source.timestamps_s, np.arange(12) / 30, atol=1e-8)
    said = f"{tmp_path}: no metadata.yaml there; 11 files, bag_0.{suffix} first, are played as parts"
    assert all(record.getMessage().startswith(said) for record in caplog.records)
    assert caplog.records
    caplog.clear()
    (tmp_path / "metadata.yaml").write_text("of ros2 bag record")
    assert_plays(tmp_path, 12)
    assert not caplog.records


def test_a_cut_file_of_several_says_what_is_missing(tmp_path, caplog):
    messages = ros.depth_recording(COUNT)
    (tmp_path / "metadata.yaml").write_text("of ros2 bag record")
    ros.write_mcap(tmp_path / "bag_0.mcap", messages[:12], chunk_size=1300)
    last = ros.write_mcap(tmp_path / "bag_1.mcap", messages[12:], chunk_size=1300)
    last.write_bytes(last.read_bytes()[: last.stat().st_size // 2])
    got = play(tmp_path)
    assert 4 < len(got) < COUNT
    (record,) = caplog.records
    assert f"bag_1.mcap: not closed or damaged; {len(got)} complete frame" in record.getMessage()


def test_invalid_folders_are_errors(tmp_path):
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information: {}")
    with pytest.raises(FormatError, match=r"no \.db3 and no \.mcap beside"):
        open_source(tmp_path)
    (tmp_path / "bag_0.db3.zstd").write_bytes(b"")
    with pytest.raises(FormatError, match=r"unpack bag_0\.db3\.zstd first: zstd -d"):
        open_source(tmp_path)
    for name in ("bag_0.db3", "other_0.db3"):
        ros.write_db3(tmp_path / name, ros.depth_recording(1))
    with pytest.raises(FormatError, match=r"several recordings in one folder, give one of them: bag_0\.db3, other_0"):
        open_source(tmp_path)


def test_pictures_beside_a_recording_do_not_hide_it(tmp_path):
    folder = write_folder(tmp_path / "bag", ros.depth_recording(COUNT))
    for name in ("preview.png", "map.pgm"):
        (folder / name).write_bytes(b"a picture of the scene")
    assert_plays(folder, COUNT)


def test_a_ros_1_bag_beside_a_recording_is_another(tmp_path):
    folder = write_folder(tmp_path / "walk", ros.depth_recording(COUNT))
    ros.write_bag(folder / "a.bag", ros.depth_recording(1))
    assert_plays(folder, COUNT)  # metadata.yaml says that the folder is one recording
    (folder / "metadata.yaml").unlink()
    with pytest.raises(FormatError, match=r"several recordings in one folder, give one of them: a\.bag, walk"):
        open_source(folder)


@pytest.mark.parametrize("other", ["b.mkv", "b.oni", "b.npz", "B.NPZ", "b.h5"])
def test_one_of_several_recordings_is_not_played_alone(tmp_path, other):
    ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(1))
    (tmp_path / other).write_bytes(b"another recording")
    with pytest.raises(
        FormatError, match=rf"give one of them: (a\.mcap, {other}|{other}, a\.mcap); or all to .posepipe"
    ):
        open_source(tmp_path)


def test_hidden_files_beside_a_recording_do_not_count(tmp_path):
    folder = write_folder(tmp_path / "walk", ros.depth_recording(COUNT))
    (folder / "metadata.yaml").unlink()
    for name in ("._walk_0.db3", "._walk.mcap", ".b.npz"):  # as macOS writes on drives of other systems
        (folder / name).write_bytes(b"\x00\x05\x16\x07")
    assert_plays(folder, COUNT)


def test_recordings_of_posepipe_are_not_parts_of_one(tmp_path):
    for number in (1, 2):
        with RecordingWriter(tmp_path / f"walk_{number}.mcap", ros.CAMERA, *ros.SHAPE) as writer:
            writer.write(DepthFrame(ros.depth_mm(number), ros.CAMERA))
        if number == 1:
            assert len(open_source(tmp_path)) == 1
    with pytest.raises(FormatError, match=r"several recordings in one folder, give one of them: walk_1\.mcap, walk_2"):
        open_source(tmp_path)


def test_the_write_ahead_log_of_a_killed_recorder_is_read(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(2))
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    depth = writer.execute("SELECT id FROM topics WHERE name = ?", (ros.DEPTH,)).fetchone()[0]
    later = ros.image(ros.depth_mm(2), ros.START_NS + 10**9)
    writer.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)",
                   (depth, later.time_ns, later.serialised(2)))  # fmt: skip
    writer.commit()
    left = tmp_path / "left"
    left.mkdir()
    for name in ("a.db3", "a.db3-wal"):
        shutil.copy(tmp_path / name, left / name)
    writer.close()
    assert_plays(left / "a.db3", 3)


def test_a_half_written_database_names_the_repair_command(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(40))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA cache_size = 2")
    writer.execute("BEGIN")
    writer.execute("UPDATE messages SET data = zeroblob(length(data) + 9)")
    left = tmp_path / "left"
    left.mkdir()
    for name in ("a.db3", "a.db3-journal"):
        shutil.copy(tmp_path / name, left / name)
    writer.execute("ROLLBACK")
    writer.close()
    with pytest.raises(FormatError, match=r"killed while it wrote; put it right first: sqlite3 a\.db3 \.tables"):
        open_source(left / "a.db3")
    with sqlite3.connect(left / "a.db3") as repaired:
        assert repaired.execute("SELECT count(*) FROM topics").fetchone() == (3,)
    assert_plays(left / "a.db3", 40)


def test_a_cut_database_is_a_format_error_or_plays_whole(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(40))
    content = path.read_bytes()
    for tenth in range(1, 10):
        path.write_bytes(content[: len(content) * tenth // 10])
        with pytest.raises(FormatError, match="the database is cut or damaged"):
            play(path)


def test_damage_anywhere_is_a_format_error_or_harmless(tmp_path):
    content = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(3)).read_bytes()
    rng = np.random.default_rng(3)
    path = tmp_path / "b.db3"
    for _ in range(150):
        damaged = bytearray(content)
        for position in rng.integers(16, len(content), 3):
            damaged[position] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(FormatError):
            assert len(play(path)) <= 9


def test_random_bytes_after_the_magic_are_one_line(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "a.db3"
    for size in (0, 9, 84, 5000):
        path.write_bytes(b"SQLite format 3\0" + rng.bytes(size))
        with pytest.raises(PosepipeError) as error:
            open_source(path)
        assert "\n" not in str(error.value)
    for content, problem in ((b"", "the file is empty"), (b"hello", "wanted a ROS 2 database")):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=problem):
            Ros2Bag(path)


@pytest.mark.parametrize("time", ["'text'", "NULL", "-9223372036854775000"])
def test_a_time_that_is_none_is_one_line(tmp_path, time):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(3))
    database = sqlite3.connect(path)
    (table,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'messages'").fetchone()
    database.executescript(
        "ALTER TABLE messages RENAME TO old;"
        + table.replace("NOT NULL", "")
        + f";INSERT INTO messages SELECT id, topic_id, {time}, data FROM old; DROP TABLE old"
    )
    database.close()
    with pytest.raises(FormatError, match=r"a\.db3: the database is cut or damaged"):
        open_source(path)


def test_another_database_is_an_error(tmp_path):
    path = tmp_path / "a.db3"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE songs(title TEXT)")
    with pytest.raises(FormatError, match="wanted tables topics and messages, got songs"):
        open_source(path)


def test_a_database_with_views_is_refused(tmp_path):
    path = tmp_path / "a.db3"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)")
        database.execute("CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                         "SELECT i AS id, 1 AS topic_id, i AS timestamp, x'00' AS data FROM n")  # fmt: skip
    with pytest.raises(FormatError, match="wanted tables topics and messages, got topics"):
        open_source(path)


def test_a_damaged_compressed_message_is_an_error(tmp_path):
    path = ros.write_db3(tmp_path / "a.db3", ros.depth_recording(1), lambda data: zstandard.compress(data)[:-9])
    with pytest.raises(FormatError, match="a compressed message that is damaged"):
        open_source(path)


@pytest.fixture(scope="module")
def realsense(tmp_path_factory):
    """Three frames in units of 0.25 mm, recorded by the SDK."""
    pytest.importorskip("pyrealsense2", reason="needs posepipe[realsense] and libusb-1.0", exc_type=ImportError)
    path = tmp_path_factory.mktemp("realsense") / "a.db3"
    return ros.record_realsense(path, [ros.depth_mm(i) for i in range(3)], unit_m=0.00025)


def test_a_recording_of_the_realsense_sdk_has_its_own_unit(realsense):
    with open_source(realsense) as source:
        assert (source.intrinsics, source.shape, len(source)) == (ros.CAMERA, ros.SHAPE, 3)
        assert source.start_time_ns == 0  # unknown: the file counts from the start of the recording
        assert (np.diff(source.timestamps_s) > 0).all()
        for i, frame in enumerate(source):
            wanted_m = np.where(ros.depth_mm(i) < 400, 0, ros.depth_mm(i) * 0.00025)  # 400 are 0.1 m, the minimum
            np.testing.assert_allclose(frame.depth_m, wanted_m, atol=1e-6)


def test_a_distortion_wrongly_named_plumb_bob_is_refused(tmp_path):
    pytest.importorskip("pyrealsense2", reason="needs posepipe[realsense] and libusb-1.0", exc_type=ImportError)
    coefficients = (0.1, 0.2, 0.0, 0.0, 0.0)
    path = ros.record_realsense(tmp_path / "a.db3", [ros.depth_mm(0)], 0.001, "inverse_brown_conrady", coefficients)
    with pytest.raises(FormatError, match="'Inverse Brown Conrady' cannot be undone"):
        open_source(path)
    path = ros.record_realsense(tmp_path / "b.db3", [ros.depth_mm(0)], 0.001, "brown_conrady", coefficients)
    with open_source(path) as source:
        assert source[0].depth_m.shape == ros.SHAPE
