"""The RealSense driver on librealsense's software device, which streams through the real SDK."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import LiveSource
from posepipe.sources.cameras.realsense import RealSenseCamera

rs = pytest.importorskip("pyrealsense2", reason="needs posepipe[realsense] and libusb-1.0", exc_type=ImportError)

WIDTH, HEIGHT = 64, 48
INTRINSICS = Intrinsics(57.0, 58.0, 31.5, 23.5)
LONG = Intrinsics(200.0, 200.0, 31.5, 23.5)  #: plausible for images of any size here
START_MS = 1_700_000_000_000.0


class SoftwareRealSense:
    """A device with one depth sensor; the test supplies the frames."""

    def __init__(
        self,
        unit_m=0.001,
        model="brown_conrady",
        coefficients=(0.0,) * 5,
        sizes=((WIDTH, HEIGHT),),
        default=0,
        lens=INTRINSICS,
    ):
        self.lens = lens
        self.device = rs.software_device()
        self.device.register_info(rs.camera_info.name, "Made up")
        self.device.register_info(rs.camera_info.serial_number, "0123456789")
        self.sensor = self.device.add_sensor("Stereo Module")
        self.unit_m = unit_m
        self.sensor.add_read_only_option(rs.option.depth_units, unit_m)
        self.profiles = []
        for i, size in enumerate(sizes):
            stream = self._stream(i, size, getattr(rs.distortion, model), coefficients)
            self.profiles.append(self.sensor.add_video_stream(stream, i == default).as_video_stream_profile())

    def _stream(self, number, size, model, coefficients):
        own = rs.intrinsics()
        own.width, own.height = size
        own.fx, own.fy, own.ppx, own.ppy = self.lens.fx, self.lens.fy, self.lens.cx, self.lens.cy
        own.model, own.coeffs = model, list(coefficients)
        stream = rs.video_stream()
        stream.type, stream.fmt, stream.index, stream.uid = rs.stream.depth, rs.format.z16, 0, number + 1
        stream.width, stream.height = size
        stream.fps, stream.bpp, stream.intrinsics = 30, 2, own
        return stream

    def add_accelerometer(self):
        self.motions = self.device.add_sensor("Motion Module")
        stream = rs.motion_stream()
        stream.type, stream.fmt, stream.index, stream.uid = rs.stream.accel, rs.format.motion_xyz32f, 0, 77
        stream.fps = 100
        self.accel_profile = self.motions.add_motion_stream(stream, True).as_motion_stream_profile()

    def accelerate(self, number, xyz_m_s2):
        frame, data = rs.software_motion_frame(), rs.vector()
        data.x, data.y, data.z = map(float, xyz_m_s2)
        frame.data = data
        frame.timestamp = START_MS + 10 * number
        frame.domain, frame.frame_number = rs.timestamp_domain.global_time, number
        frame.profile = self.accel_profile
        self.motions.on_motion_frame(frame)

    def put(self, number, grey, clock=None):
        frame = rs.software_video_frame()
        frame.pixels, frame.stride, frame.bpp = grey, 2 * WIDTH, 2
        frame.timestamp = START_MS + number * 100 / 3
        frame.domain = rs.timestamp_domain.global_time if clock is None else clock
        frame.frame_number, frame.profile, frame.depth_units = number, self.profiles[0], self.unit_m
        self.sensor.on_video_frame(frame)


def started(made_up, calibration=None):
    camera = RealSenseCamera("camera:realsense", "", calibration)
    camera.start(rs, made_up.device)
    return camera


def grey_of(number):
    return np.random.default_rng(number).integers(300, 9000, (HEIGHT, WIDTH), dtype=np.uint16)


def test_frames_have_the_cameras_intrinsics_count_and_clock():
    made_up = SoftwareRealSense()
    camera = started(made_up)
    assert (camera.intrinsics, camera.shape) == (INTRINSICS, (HEIGHT, WIDTH))
    for number in (7, 8):
        made_up.put(number, grey_of(number))
        frame = camera.read(1.0)
        np.testing.assert_array_equal(frame.depth, grey_of(number))
        assert frame.depth.dtype == np.uint16
        assert (frame.number, frame.since_epoch) == (number, True)
        assert frame.time_ns == pytest.approx((START_MS + number * 100 / 3) * 1e6, abs=1000)
    camera.close()


def test_an_implausible_lens_is_refused_unless_it_is_replaced():
    made_up = SoftwareRealSense(lens=Intrinsics(0.5, 0.5, 31.5, 23.5))
    with pytest.raises(SourceError, match=r"^camera:realsense: its calibration: .* got fx 0\.5, .*give --camera"):
        started(made_up)
    camera = started(
        SoftwareRealSense(lens=Intrinsics(0.5, 0.5, 31.5, 23.5)), CameraFile(WIDTH, HEIGHT, INTRINSICS, 0.001, 30.0)
    )
    assert camera.intrinsics == INTRINSICS
    camera.close()


def test_frames_are_copies_of_the_sdks_buffers():
    made_up = SoftwareRealSense()
    camera = started(made_up)
    kept = []
    for number in range(40):
        made_up.put(number, grey_of(number))
        kept.append(camera.read(1.0).depth)
    camera.close()
    for number, depth in enumerate(kept):
        np.testing.assert_array_equal(depth, grey_of(number))


def test_a_finer_unit_gives_metres():
    made_up = SoftwareRealSense(unit_m=0.00025)  # of an L515
    camera = started(made_up)
    made_up.put(0, grey_of(0))
    depth = camera.read(1.0).depth
    assert depth.dtype == np.float32
    np.testing.assert_allclose(depth, grey_of(0) * 0.00025, rtol=1e-6)
    camera.close()


def test_a_hardware_clock_has_no_date():
    made_up = SoftwareRealSense()
    camera = started(made_up)
    made_up.put(0, grey_of(0), rs.timestamp_domain.hardware_clock)
    assert not camera.read(1.0).since_epoch
    camera.close()


def test_no_frame_in_time_is_none():
    camera = started(SoftwareRealSense())
    assert camera.read(0.02) is None
    camera.close()
    camera.close()


@pytest.mark.parametrize(
    ("model", "coefficients", "ours"),
    [
        ("brown_conrady", (0.2, -0.1, 0.01, 0.02, 0.03), ("plumb_bob", 5)),
        ("kannala_brandt4", (0.2, -0.1, 0.01, 0.02, 0.0), ("equidistant", 4)),
    ],
)
def test_lens_distortion_is_removed(model, coefficients, ours):
    made_up = SoftwareRealSense(model=model, coefficients=coefficients)
    camera = started(made_up)
    made_up.put(0, grey_of(0))
    got = camera.read(1.0).depth
    camera.close()
    stored = tuple(float(np.float32(value)) for value in coefficients[: ours[1]])
    wanted = Undistortion(INTRINSICS, LensDistortion(ours[0], stored), (HEIGHT, WIDTH)).undistort(grey_of(0))
    np.testing.assert_array_equal(got, wanted)
    assert not np.array_equal(got, grey_of(0))


def test_an_unsupported_distortion_is_refused():
    with pytest.raises(SourceError, match=r"unsupported lens distortion \(inverse_brown_conrady, .*give --camera"):
        started(SoftwareRealSense(model="inverse_brown_conrady", coefficients=(0.2, 0, 0, 0, 0)))


@pytest.mark.parametrize(("default", "shape"), [(0, (24, 32)), (None, (480, 640))])
def test_the_default_stream_is_taken_else_the_largest(default, shape):
    camera = started(SoftwareRealSense(sizes=((32, 24), (640, 480), (64, 48)), default=default, lens=LONG))
    assert camera.shape == shape
    camera.close()


def test_a_device_without_a_depth_sensor_is_one_line():
    with pytest.raises(SourceError, match=r"^camera:realsense: cannot be started"):
        RealSenseCamera("camera:realsense", "").start(rs, rs.software_device())


def test_a_whole_source_runs_on_the_sdk(monkeypatch):
    made_up = SoftwareRealSense()
    camera = RealSenseCamera("camera:realsense", "")
    monkeypatch.setattr(camera, "open", lambda stop: camera.start(rs, made_up.device))
    with LiveSource(camera, every_frame=True) as source:
        frames = iter(source)
        got = []
        for number in (3, 4, 7):
            made_up.put(number, grey_of(number))
            got.append(next(frames))
        assert source.start_time_ns == pytest.approx((START_MS + 100) * 1e6, abs=1000)
    assert [frame.index for frame in got] == [0, 1, 4]
    assert source.dropped == 2
    assert [frame.timestamp_s for frame in got] == pytest.approx([0, 1 / 30, 4 / 30], abs=1e-5)


def test_a_stalled_camera_is_noticed(monkeypatch):
    made_up = SoftwareRealSense()
    camera = RealSenseCamera("camera:realsense", "")
    monkeypatch.setattr(camera, "open", lambda stop: camera.start(rs, made_up.device))
    with LiveSource(camera, stall_s=0.2, pauses_s=()) as source, pytest.raises(SourceError, match="is it unplugged"):
        next(iter(source))


def test_no_connected_camera_is_one_line():
    if len(rs.context().query_devices()):
        pytest.skip("a RealSense is connected")
    for name in ("camera:realsense", "camera:realsense:0123456789"):
        with pytest.raises(SourceError, match=f"^{name}: no RealSense camera is connected"):
            open_source(name)


def test_the_accelerometer_says_where_up_is():
    made_up = SoftwareRealSense()
    made_up.add_accelerometer()
    camera = started(made_up)
    made_up.put(0, grey_of(0))
    assert camera.read(1.0).up is None
    rng = np.random.default_rng(3)
    for number in range(100):
        made_up.accelerate(number, [0.0, -9.81 * 0.8, -9.81 * 0.6] + rng.normal(0, 0.3, 3))
    made_up.put(1, grey_of(1))
    np.testing.assert_allclose(camera.read(1.0).up, [0, -0.8, -0.6], atol=0.03)
    for number in range(100, 300):
        made_up.accelerate(number, [0.0, -20.0, 0.0])
    made_up.put(2, grey_of(2))
    assert camera.read(1.0).up is None
    camera.close()


def test_a_camera_without_accelerometer_does_not_know_up():
    made_up = SoftwareRealSense()
    camera = started(made_up)
    made_up.put(0, grey_of(0))
    assert camera.read(1.0).up is None
    camera.close()
