"""Depth and poses in one MCAP file: ROS tools read every message, and the file is a source of frames."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.records import Channel
from mcap.stream_reader import StreamReader
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.camera import Extrinsics
from posepipe.errors import PosepipeError
from posepipe.recording import RecordingReader
from posepipe.sinks.files.ros_poses import PoseRecordingSink
from tests.support.found_people import FLOOR, INTRINSICS, fitted, result, standing_m, track, track_of

START_NS = 1_700_000_000_000_000_000
TYPES = get_typestore(Stores.ROS2_HUMBLE)  # ROS's own definitions, not those in the file


def some_results():
    half = standing_m(-0.5)
    half[HUMAN.joint_index("left_knee")] = np.nan
    people = [(), (track(3, standing_m()),), (track(3, standing_m(0.1)), track(12, half, 0.25)), ()]
    return [result(i, one, floor=FLOOR if i in (2, 3) else None) for i, one in enumerate(people)]


def write(path, results):
    with PoseRecordingSink(path, HUMAN, {"source": "a"}, START_NS) as sink:
        for one in results:
            sink.write(one)
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return write(tmp_path_factory.mktemp("ros") / "r.mcap", some_results())


def messages(path, topic):
    """Log time and message, read by mcap and by ROS's definitions."""
    with path.open("rb") as file:
        return [
            (message.log_time, TYPES.deserialize_cdr(message.data, schema.name))
            for schema, _, message in make_reader(file).iter_messages(topics=[topic])
        ]


def xyz(point):
    return np.array([point.x, point.y, point.z])


def test_the_depth_is_what_a_recording_has(recorded):
    with RecordingReader(recorded) as source:
        frames = list(source)
        assert source.complete
        assert source.intrinsics == INTRINSICS
        assert source.start_time_ns == START_NS
        assert source.metadata == {"source": "a"}
    for frame, one in zip(frames, some_results(), strict=True):
        np.testing.assert_allclose(frame.depth_m, one.frame.depth_m, atol=1e-6)
        assert frame.timestamp_s == pytest.approx(one.frame.timestamp_s, abs=1e-8)


def test_all_messages_of_a_frame_have_the_time_of_its_depth(recorded):
    stamps = [time for time, _ in messages(recorded, "/depth/image")]
    assert stamps == [START_NS + round(i / 30 * 1e9) for i in range(4)]
    people, transforms = messages(recorded, "/posepipe/people"), messages(recorded, "/tf")
    assert [time for time, _ in people] == stamps
    assert [time for time, _ in transforms] == stamps[1:]  # without people and floor there is no transform
    headers = [(time, each.header) for time, array in people for each in array.markers]
    headers += [(time, each.header) for time, message in transforms for each in message.transforms]
    assert all(header.stamp.sec * 10**9 + header.stamp.nanosec == time for time, header in headers)
    assert {header.frame_id for _, header in headers} == {"depth_camera", "world"}


def test_markers_of_a_frame_replace_those_of_the_previous_one(recorded):
    for _, array in messages(recorded, "/posepipe/people"):
        assert [each.action for each in array.markers] == [3] + [0] * (len(array.markers) - 1)  # DELETEALL, then ADD


def test_a_person_is_spheres_lines_and_a_number(recorded):
    _, array = messages(recorded, "/posepipe/people")[2]
    found = {(each.ns, each.type): each for each in array.markers[1:]}
    assert set(found) == {(f"person_{id}", kind) for id in (3, 12) for kind in (7, 5, 9)}
    assert len({(each.ns, each.id) for each in array.markers}) == len(array.markers)  # else the later hides the earlier
    spheres = found["person_3", 7]
    np.testing.assert_allclose([xyz(p) for p in spheres.points], standing_m(0.1))
    assert len(spheres.colors) == 20
    assert spheres.scale.x == spheres.scale.y == spheres.scale.z > 0
    pairs = np.array([xyz(p) for p in found["person_3", 5].points]).reshape(-1, 2, 3)
    wanted = np.array([[standing_m(0.1)[row] for row in bone] for bone in HUMAN.bones()])
    np.testing.assert_allclose(pairs, wanted)
    number = found["person_12", 9]
    assert number.text == "12"
    assert number.pose.position.y < standing_m()[:, 1].min()  # above the head: y is down
    for marker in found.values():
        assert marker.pose.orientation.w == 1
        assert (marker.lifetime.sec, marker.lifetime.nanosec) == (0, 0)


def test_an_absent_joint_has_no_sphere_no_bones_and_no_frame(recorded):
    _, array = messages(recorded, "/posepipe/people")[2]
    found = {(each.ns, each.type): each for each in array.markers}
    assert len(found["person_12", 7].points) == 19
    assert len(found["person_12", 5].points) == 2 * (19 - 2)
    _, transforms = messages(recorded, "/tf")[1]
    assert "person_12/left_knee" not in {each.child_frame_id for each in transforms.transforms}


def test_sides_differ_in_colour_and_low_confidence_is_faint(recorded):
    _, array = messages(recorded, "/posepipe/people")[2]
    high, low = (each.colors for each in array.markers if each.type == 7)
    colours = {(c.r, c.g, c.b) for c in high}
    assert len(colours) == 3
    assert {c.a for c in high} == {0.875}
    assert {c.a for c in low} == {0.25}


def test_tf_has_a_frame_for_each_joint(recorded):
    _, first = messages(recorded, "/tf")[0]
    places = {each.child_frame_id: each for each in first.transforms}
    assert set(places) == {f"person_3/{joint}" for joint in HUMAN.joints}
    for joint, place in zip(HUMAN.joints, standing_m(), strict=True):
        each = places[f"person_3/{joint}"]
        assert each.header.frame_id == "depth_camera"
        np.testing.assert_allclose(xyz(each.transform.translation), place)
        turn = each.transform.rotation
        assert (turn.x, turn.y, turn.z, turn.w) == (0, 0, 0, 1)


def test_joints_of_a_fitted_body_are_turned(tmp_path):
    person = fitted(track(3, standing_m()))
    _, message = messages(write(tmp_path / "r.mcap", [result(0, (person,))]), "/tf")[0]
    for each, xyzw in zip(message.transforms, person.fit.rotations_xyzw, strict=True):
        turn = each.transform.rotation
        assert (turn.x, turn.y, turn.z, turn.w) == tuple(xyzw)


def test_above_a_floor_tf_has_the_camera_in_the_world(recorded):
    for _, message in messages(recorded, "/tf")[1:]:
        (camera,) = [each for each in message.transforms if each.child_frame_id == "depth_camera"]
        assert camera.header.frame_id == "world"
        turn = camera.transform.rotation
        rotation = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w])
        world = rotation.apply(standing_m()) + xyz(camera.transform.translation)
        np.testing.assert_allclose(world, Extrinsics.above_floor(FLOOR).world_points(standing_m()), atol=1e-9)


def test_rosbags_opens_it_with_the_definitions_in_the_file(tmp_path, recorded):
    with AnyReader([recorded]) as bag:
        kinds = {connection.topic: connection.msgtype for connection in bag.connections}
        found = [bag.deserialize(data, connection.msgtype) for connection, _, data in bag.messages()]
    assert kinds == {
        "/depth/camera_info": "sensor_msgs/msg/CameraInfo",
        "/depth/image": "sensor_msgs/msg/Image",
        "/posepipe/people": "visualization_msgs/msg/MarkerArray",
        "/tf": "tf2_msgs/msg/TFMessage",
    }
    assert len(found) == 4 + 4 + 4 + 3


def test_every_frame_is_a_chunk_that_survives_a_kill(tmp_path):
    path = tmp_path / "r.mcap"
    sink = PoseRecordingSink(path, HUMAN)
    for number, one in enumerate(some_results(), start=1):
        sink.write(one)
        topics = set()
        with path.open("rb") as file, suppress(EndOfFile):  # as it lies on a machine that lost power now
            for record in StreamReader(file).records:
                topics |= {record.topic} if isinstance(record, Channel) else set()
        assert topics == {"/depth/camera_info", "/depth/image", "/posepipe/people", "/tf"}
        with RecordingReader(path) as source:
            assert (source.complete, source.frame_count) == (False, number)
    sink.close()


def test_a_body_with_nothing_found_of_it_is_no_marker(tmp_path):
    path = write(tmp_path / "r.mcap", [result(0, (track_of(5, {}),))])
    ((_, array),) = messages(path, "/posepipe/people")
    assert len(array.markers) == 1
    assert messages(path, "/tf") == []


def test_an_older_file_stays_until_there_is_a_frame(tmp_path):
    path = tmp_path / "r.mcap"
    path.write_text("older")
    write(path, [])
    assert path.read_text() == "older"


def test_a_disk_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match=r"r\.mcap"):
        write(tmp_path / "file" / "r.mcap", some_results())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to play a full disk")
def test_a_full_disk_is_one_line():
    with pytest.raises(PosepipeError, match="No space left"):
        write("/dev/full", some_results())


def test_times_before_those_of_the_first_camera_begin_at_0(tmp_path):
    with PoseRecordingSink(tmp_path / "r.mcap", HUMAN) as sink:  # a second camera that began earlier, without dates
        for i in range(20):
            sink.write(result(i, (track(1, standing_m()),), timestamp_s=i / 20 - 0.5))
    stamps_ns = [stamp_ns for stamp_ns, _ in messages(tmp_path / "r.mcap", "/posepipe/people")]
    np.testing.assert_array_equal(stamps_ns, np.arange(20) * 50_000_000)


@pytest.mark.parametrize(("start_time_ns", "start"), [(0, "the first frame of the recording"), (10**9, "1970")])
def test_a_frame_before_the_recording_s_start_is_named(tmp_path, start_time_ns, start):
    with PoseRecordingSink(tmp_path / "r.mcap", HUMAN, start_time_ns=start_time_ns) as sink:
        sink.write(result(0))
        with pytest.raises(ValueError, match=f"r.mcap: frame 7: timestamp_s -2 lies before {start}"):
            sink.write(result(7, (track(1, standing_m()),), timestamp_s=-2.0))
