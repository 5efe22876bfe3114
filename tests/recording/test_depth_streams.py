"""Choice of depth stream and calibration: the same rules for all files, tested on MCAP."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import FormatError
from posepipe.recording import DepthStream, McapFile
from tests.support.recordings import ros_writers as ros

GREY = ros.depth_mm(0)
COEFFICIENTS = (0.9, 0.5, 0.01, -0.02, 0.0)
RECTIFIED = Intrinsics(18.0, 18.5, 7.0, 5.0)
PACKED = ros.compressed_image(ros.compressed_depth(ros.png(GREY)))
INFRARED = ros.image(GREY, topic="/camera/infra/image", encoding="mono16")


@pytest.fixture
def stream_of(tmp_path):
    """Open the depth stream of an MCAP file with these messages."""

    def open_stream(*messages: ros.Message, topic: str | None = None, camera: Intrinsics | None = None) -> DepthStream:
        path = ros.write_mcap(tmp_path / "a.mcap", messages)
        return DepthStream(McapFile(path), topic, camera)

    return open_stream


def beside(message: ros.Message) -> ros.Message:
    """The camera_info of a stream."""
    return ros.camera_info(topic=message.topic.rpartition("/")[0] + "/camera_info")


@pytest.mark.parametrize("encoding", ["16UC1", "mono16", "32FC1"])
@pytest.mark.parametrize("big_endian", [False, True])
def test_every_encoding_of_depth_is_read(stream_of, encoding, big_endian):
    pixels = GREY if encoding != "32FC1" else GREY.astype(np.float32) / 1000
    stream = stream_of(ros.camera_info(), ros.image(pixels, encoding=encoding, big_endian=big_endian, padding=5))
    np.testing.assert_array_equal(stream[0], pixels)
    assert stream[0].dtype == pixels.dtype
    assert (stream.shape, stream.intrinsics) == (ros.SHAPE, ros.CAMERA)


def test_the_raw_version_of_a_stream_plays_before_the_compressed(stream_of):
    raw = ros.image(GREY + np.uint16(1))
    np.testing.assert_array_equal(stream_of(ros.camera_info(), PACKED, raw)[0], GREY + 1)
    np.testing.assert_array_equal(stream_of(ros.camera_info(), PACKED, raw, topic=PACKED.topic)[0], GREY)
    np.testing.assert_array_equal(stream_of(ros.camera_info(), PACKED)[0], GREY)


def test_colour_and_infrared_are_not_depth_whatever_their_name(stream_of):
    colour = ros.image(np.zeros((12, 48), np.uint8), topic="/camera/depth/coloured", encoding="rgb8")
    stream = stream_of(INFRARED, colour, ros.camera_info(), ros.image(GREY))
    np.testing.assert_array_equal(stream[0], GREY)
    with pytest.raises(FormatError, match=r"holds no depth but 'rgb8'; there are: .*infra/image \(sensor_msgs"):
        stream_of(INFRARED, colour, topic=colour.topic)


def test_a_stream_not_named_depth_plays_on_request(stream_of):
    np.testing.assert_array_equal(stream_of(INFRARED, beside(INFRARED), topic=INFRARED.topic)[0], GREY)


def test_several_streams_are_listed_with_what_they_hold(stream_of):
    aligned = ros.image(GREY, topic="/camera/aligned_depth_to_color/image_raw")
    with pytest.raises(FormatError) as error:
        stream_of(ros.camera_info(), ros.image(GREY), ros.image(GREY, ros.START_NS + 1), aligned)
    assert "several depth topics, choose one with --topic" in str(error.value)
    assert f"{ros.DEPTH} (sensor_msgs/Image, 2 messages)" in str(error.value)
    assert f"{aligned.topic} (sensor_msgs/Image, 1 message)" in str(error.value)
    assert stream_of(ros.camera_info(), ros.image(GREY), aligned, topic=ros.DEPTH).shape == ros.SHAPE


@pytest.mark.parametrize("topic", [None, "/not/there"])
def test_where_there_is_no_depth_all_topics_are_listed(stream_of, topic):
    with pytest.raises(FormatError, match=r"no depth topic.*/camera/infra/image.*/camera/depth/camera_info"):
        stream_of(INFRARED, ros.camera_info(), topic=topic)


def test_a_topic_of_another_type_is_refused(stream_of):
    with pytest.raises(FormatError, match=r"wanted sensor_msgs/Image or .*, got sensor_msgs/CameraInfo"):
        stream_of(ros.camera_info(), topic=ros.INFO)


def test_lens_distortion_is_removed(stream_of):
    stream = stream_of(ros.camera_info(d=COEFFICIENTS), ros.image(GREY))
    wanted = Undistortion(ros.CAMERA, LensDistortion("plumb_bob", COEFFICIENTS), ros.SHAPE).undistort(GREY)
    np.testing.assert_array_equal(stream[0], wanted)
    assert (wanted != GREY).any()
    assert stream.intrinsics == ros.CAMERA


def test_a_rectified_stream_uses_p_and_is_not_undistorted(stream_of):
    rectified = ros.image(GREY, topic="/camera/depth/image_rect_raw")
    stream = stream_of(ros.camera_info(d=COEFFICIENTS, p=RECTIFIED), rectified)
    np.testing.assert_array_equal(stream[0], GREY)
    assert stream.intrinsics == RECTIFIED


def test_a_name_that_merely_contains_rect_is_not_rectified(stream_of):
    direct = ros.image(GREY, topic="/direct/depth/image")
    info = ros.camera_info(topic="/direct/depth/camera_info", d=COEFFICIENTS, p=RECTIFIED)
    assert stream_of(info, direct).undistorted


def test_an_unsupported_distortion_is_refused(stream_of):
    with pytest.raises(FormatError, match=r"camera_info, message 0: .*'Kannala' cannot be undone.*--camera"):
        stream_of(ros.camera_info(d=COEFFICIENTS, model="Kannala"), ros.image(GREY))
    with pytest.raises(FormatError, match="plumb_bob has 4 or 5 numbers"):
        stream_of(ros.camera_info(d=(0.1,)), ros.image(GREY))


@pytest.mark.parametrize("model", ["", "Brown Conrady", "Inverse Brown Conrady", "None"])
@pytest.mark.parametrize("d", [(), (0.0,) * 5])
def test_a_zero_distortion_may_have_any_model(stream_of, model, d):
    stream = stream_of(ros.camera_info(d=d, model=model), ros.image(GREY))
    np.testing.assert_array_equal(stream[0], GREY)


def test_brown_conrady_is_what_ros_calls_plumb_bob():
    rs = pytest.importorskip("pyrealsense2", reason="needs posepipe[realsense] and libusb-1.0", exc_type=ImportError)
    import cv2

    own = rs.intrinsics()
    own.width, own.height, own.fx, own.fy, own.ppx, own.ppy = 640, 480, 600.0, 610.0, 320.0, 240.0
    own.model, own.coeffs = rs.distortion.brown_conrady, [0.1, -0.2, 0.01, -0.02, 0.05]
    matrix = np.array([[600.0, 0, 320], [0, 610, 240], [0, 0, 1]])
    for point in ([0.3, -0.2, 1.0], [-0.4, 0.3, 1.2]):
        theirs = rs.rs2_project_point_to_pixel(own, point)
        opencv, _ = cv2.projectPoints(np.array([point]), np.zeros(3), np.zeros(3), matrix, np.array(own.coeffs))
        np.testing.assert_allclose(theirs, opencv[0, 0], atol=1e-3)


def test_given_intrinsics_replace_the_file_s_and_undistortion(stream_of):
    for info in ([], [ros.camera_info(d=COEFFICIENTS)], [ros.camera_info(d=COEFFICIENTS, model="Kannala")]):
        stream = stream_of(*info, ros.image(GREY), camera=RECTIFIED)
        np.testing.assert_array_equal(stream[0], GREY)
        assert stream.intrinsics == RECTIFIED


def test_a_missing_calibration_names_the_option_to_give_one(stream_of):
    with pytest.raises(FormatError, match=r"no camera_info beside /camera/depth/image_raw; give --camera PRESET\|FILE"):
        stream_of(ros.image(GREY))
    never = ros.camera_info()
    never.fields["k"][:] = 0
    with pytest.raises(FormatError, match=r"never calibrated; give --camera PRESET\|FILE"):
        stream_of(never, ros.image(GREY))
    with pytest.raises(FormatError, match=r"camera_info is for images \(24, 32\), the depth images are \(12, 16\)"):
        stream_of(ros.camera_info(shape=(24, 32)), ros.image(GREY))


@pytest.mark.parametrize("lens", [Intrinsics(0.9, 0.9, 0.5, 0.5), Intrinsics(20.0, 1e9, 7.5, 5.5)])
def test_an_implausible_lens_is_refused_with_file_and_topic(stream_of, lens):
    wanted = rf"a\.mcap.*: {ros.INFO}, message 0: wanted .* 1\.6 to 320 pixels .*, got fx {lens.fx:g}, .*give --camera"
    for info in (ros.camera_info(camera=lens), ros.camera_info(camera=lens, d=COEFFICIENTS)):
        with pytest.raises(FormatError, match=wanted):
            stream_of(info, ros.image(GREY))
    assert stream_of(ros.camera_info(camera=lens), ros.image(GREY), camera=RECTIFIED).intrinsics == RECTIFIED


def test_a_change_of_size_or_encoding_names_the_message(stream_of):
    other = ros.image(GREY[:6], ros.START_NS + 1)
    stream = stream_of(ros.camera_info(), ros.image(GREY), other)
    with pytest.raises(FormatError, match=r"image_raw, message 1: wanted a depth image \(12, 16\), got \(6, 16\)"):
        stream[1]
    colour = ros.image(GREY.view(np.uint8), ros.START_NS + 1, encoding="rgb8")
    with pytest.raises(FormatError, match=r"message 1: wanted a depth image .*, got rgb8"):
        stream_of(ros.camera_info(), ros.image(GREY), colour)[1]


@pytest.mark.parametrize(("field", "value"), [("height", 2**31), ("width", 2**31), ("step", 2**31), ("height", 0)])
def test_oversized_images_are_refused_before_allocation(stream_of, field, value):
    picture = ros.image(GREY)
    picture.fields[field] = value
    with pytest.raises(FormatError, match=r"image of .* with 384 bytes|readable are 1 to 16777216 pixels"):
        stream_of(ros.camera_info(), picture)


def test_time_is_the_recorders_with_a_start_date_if_known(stream_of):
    times = [ros.START_NS, ros.START_NS + 5]
    stream = stream_of(ros.camera_info(), *(ros.image(GREY, t, stamp_ns=7) for t in times))
    assert (stream.times_ns.tolist(), stream.start_time_ns) == (times, ros.START_NS)
    assert stream_of(ros.camera_info(), ros.image(GREY, 33, stamp_ns=ros.START_NS)).start_time_ns == ros.START_NS
    assert stream_of(ros.camera_info(), ros.image(GREY, 33, stamp_ns=7)).start_time_ns == 0
