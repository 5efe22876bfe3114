"""Up by the accelerometer of a recording: in the camera's axes, at each time, and kept in recordings of our own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingReader, RecordingWriter
from posepipe.recording.ros import message_fields
from posepipe.sources import open_source
from posepipe.sources.conversion import convert_frames
from tests.support.recordings import ros_writers as made

TILTED = np.array([0.0, -0.8, -0.6])  #: up, for a camera that looks down by 37 degrees
FORCE_M_S2 = 9.81 * TILTED
WRITERS = {".bag": made.write_bag, ".db3": made.write_db3, ".mcap": made.write_mcap}
OPTICAL = Rotation.from_matrix([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]).as_quat()  #: camera axes to x forward, y left, z up


def measured(count=120, rate_hz=60, force_m_s2=FORCE_M_S2, noise=0.4, **options):
    rng = np.random.default_rng(5)
    times_ns = [made.START_NS + i * 10**9 // rate_hz for i in range(count)]
    return [made.imu(force_m_s2 + rng.normal(0, noise, 3), time_ns, **options) for time_ns in times_ns]


def ups(path):
    with open_source(path) as source:
        return [frame.up for frame in source]


@pytest.mark.parametrize("suffix", WRITERS)
def test_up_is_the_mean_force_at_rest(tmp_path, suffix):
    found = ups(WRITERS[suffix](tmp_path / f"walk{suffix}", made.depth_recording() + measured()))
    assert len(found) == 3
    for up in found:
        np.testing.assert_allclose(up, TILTED, atol=0.04)
        assert np.linalg.norm(up) == pytest.approx(1)


def test_up_follows_a_camera_that_is_tilted(tmp_path):
    levels = [(0.0, -9.81, 0.0), (0.0, -7.848, -5.886)]
    imu = [made.imu(levels[second], made.START_NS + second * 10**9 + i * 10**7) for second in (0, 1) for i in range(50)]
    depth = [made.camera_info()] + [
        made.image(made.depth_mm(s), made.START_NS + s * 10**9 + 10**8) for s in (0, 1, 2, 6)
    ]
    found = ups(made.write_mcap(tmp_path / "tilted.mcap", [made.camera_info(), *depth, *imu]))
    assert found[0] == pytest.approx((0, -1, 0))
    assert found[1] == pytest.approx((0, -0.8, -0.6))
    assert found[2] == found[1]  # it was measured a moment ago
    assert found[3] is None


@pytest.mark.parametrize("force_m_s2", [(0, 0, 0), (0, -14.0, 0), (np.nan, -9.81, 0), (np.inf, 0, 0)])
def test_a_camera_that_shakes_or_falls_does_not_know_up(tmp_path, force_m_s2):
    messages = made.depth_recording() + measured(force_m_s2=force_m_s2)
    assert ups(made.write_mcap(tmp_path / "m.mcap", messages)) == [None] * 3


@pytest.mark.parametrize("suffix", WRITERS)
def test_axes_follow_from_the_static_transforms(tmp_path, suffix):
    """An accelerometer with axes x forward, y left, z up, linked to the camera by the link of its housing."""
    links = [("housing", "camera", OPTICAL), ("housing", "imu_link", (0, 0, 0, 1)), ("housing", "broken", (0, 0, 0, 0))]
    body = Rotation.from_quat(OPTICAL).apply(FORCE_M_S2)
    imu = measured(force_m_s2=body, frame_id="imu_link")
    messages = [made.static_transforms(*links), *made.depth_recording(), *imu]
    (up, *_) = ups(WRITERS[suffix](tmp_path / f"linked{suffix}", messages))
    np.testing.assert_allclose(up, TILTED, atol=0.04)


def test_an_accelerometer_in_unknown_axes_is_passed_over(tmp_path):
    imu = measured(frame_id="imu_link")
    assert ups(made.write_mcap(tmp_path / "m.mcap", made.depth_recording() + imu)) == [None] * 3


def test_streams_of_the_realsense_sdk_have_camera_axes(tmp_path):
    names = {
        made.DEPTH: "/device_0/sensor_0/Depth_0/image/data",
        made.INFO: "/device_0/sensor_0/Depth_0/info/camera_info",
    }
    depth = [replace(m, topic=names[m.topic]) for m in made.depth_recording(colour=False)]
    accel = measured(topic="/device_0/sensor_2/Accel_0/imu/data", frame_id="0")
    gyro = measured(topic="/device_0/sensor_2/Gyro_0/imu/data", frame_id="0", force_m_s2=(0, 0, 0))
    (up, *_) = ups(made.write_bag(tmp_path / "sdk.bag", [*depth, *gyro, *accel]))
    np.testing.assert_allclose(up, TILTED, atol=0.04)


def test_a_damaged_measurement_is_passed_over(tmp_path):
    imu = measured()
    imu[0] = replace(imu[0], fields={"raw": b"cut"})
    imu[1:] = [replace(m, fields={"raw": b"cut"}) if i % 2 else m for i, m in enumerate(imu[1:])]
    messages = [*made.depth_recording(), *imu]
    with pytest.raises(ValueError, match="ends where"):
        message_fields.read_imu(b"cut", "ros1")
    assert ups(made.write_bag(tmp_path / "m.bag", messages)) == [None] * 3  # the first tells the axes
    (up, *_) = ups(made.write_bag(tmp_path / "n.bag", [*made.depth_recording(), *measured()[:1], *imu[1:]]))
    np.testing.assert_allclose(up, TILTED, atol=0.06)


def test_our_recordings_keep_up(tmp_path):
    lens = Intrinsics(20.0, 21.0, 7.5, 5.5)
    given = [None, TILTED, TILTED]
    with RecordingWriter(tmp_path / "a.mcap", lens, *made.SHAPE) as writer:
        for i, up in enumerate(given):
            writer.write(DepthFrame(made.depth_mm(i), lens, i * 1.0, i, up))
    with RecordingReader(tmp_path / "a.mcap") as reader:
        found = [frame.up for frame in reader]
    assert found[0] is None
    assert found[1:] == [pytest.approx(TILTED)] * 2
    convert_frames(open_source(tmp_path / "a.mcap"), tmp_path / "b.mcap")
    assert ups(tmp_path / "b.mcap") == found


def test_recordings_without_up_have_no_topic_for_it(tmp_path):
    lens = Intrinsics(20.0, 21.0, 7.5, 5.5)
    with RecordingWriter(tmp_path / "a.mcap", lens, *made.SHAPE) as writer:
        writer.write(DepthFrame(made.depth_mm(0), lens))
    assert b"Imu" not in (tmp_path / "a.mcap").read_bytes()


@pytest.mark.parametrize("up", [(0, 0, 0), (np.nan, 1, 0), (np.inf, 0, 0)])
def test_up_is_a_direction(up):
    with pytest.raises(ValueError, match="up: wanted a direction"):
        DepthFrame(np.ones((2, 2), np.uint16), Intrinsics(2.0, 2.0, 0.5, 0.5), up=up)


def test_the_accelerometer_of_the_same_camera_is_taken(tmp_path):
    """Two cameras without transforms: names decide, and an empty frame is no name."""
    level = {"force_m_s2": (0.0, -9.81, 0.0), "noise": 0.0}
    messages = made.depth_recording(colour=False)
    for message in messages:
        message.fields["header"]["frame_id"] = "right_depth_optical_frame"
    other = measured(topic="/left/accel", frame_id="left_accel_optical_frame", force_m_s2=(0, 0, 9.81), noise=0.0)
    own = measured(topic="/right/imu", frame_id="right_imu_optical_frame", **level)
    (up, *_) = ups(made.write_mcap(tmp_path / "two.mcap", [*messages, *other, *own]))
    assert up == pytest.approx((0, -1, 0))
    assert ups(made.write_mcap(tmp_path / "one.mcap", [*messages, *other])) == [None] * 3
    for message in messages:
        message.fields["header"]["frame_id"] = ""
    nameless = measured(frame_id="", **level)
    assert ups(made.write_mcap(tmp_path / "none.mcap", [*messages, *nameless])) == [None] * 3


@pytest.mark.parametrize("is_split", [False, True])
def test_a_recording_plays_whatever_its_accelerometer_costs(tmp_path, is_split):
    """Measurements in large chunks of their own, which say little: they are given up, and depth is not."""
    payload = made.text("0" * 30_000_000, "/log")
    messages = []
    for i in range(40):
        time_ns = made.START_NS + i * 10**9
        messages += [made.camera_info(time_ns), made.image(made.depth_mm(i), time_ns)]
        messages += [replace(payload, time_ns=time_ns + 10), made.imu(FORCE_M_S2, time_ns + 20)]
    path = made.write_mcap(tmp_path / "bag_0.mcap", messages, chunk_size=1 << 20)
    if is_split:  # a folder of ros2 bag record
        made.write_mcap(tmp_path / "bag_1.mcap", [replace(m, time_ns=m.time_ns + 10**12) for m in messages[:4]])
        (tmp_path / "metadata.yaml").write_text("")
    found = ups(tmp_path if is_split else path)
    assert len(found) == 40 + is_split
    assert found[0] == pytest.approx(TILTED)


def test_many_static_transforms_open_at_once(tmp_path):
    links = made.static_transforms(*((f"a{i}", f"a{i + 1}", OPTICAL) for i in range(20_000)))
    again = [replace(links, time_ns=made.START_NS + i) for i in range(3)]
    imu = measured(frame_id="a9000")
    assert ups(made.write_mcap(tmp_path / "m.mcap", [*again, *made.depth_recording(), *imu])) == [None] * 3
