"""Files of ROS messages: the same messages as ROS 1 bag, ROS 2 database or MCAP file."""

from __future__ import annotations

import sqlite3
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import mcap.writer
import numpy as np
from rosbags.rosbag1 import Writer as BagWriter
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from posepipe.camera import Intrinsics

CAMERA = Intrinsics(20.0, 21.0, 7.5, 5.5)
SHAPE = (12, 16)
START_NS = 1_700_000_000_000_000_000
DEPTH = "/camera/depth/image_raw"
INFO = "/camera/depth/camera_info"


@dataclass(frozen=True)
class Message:
    """One message before serialisation, which depends on the version of ROS."""

    topic: str
    kind: str  #: message type, as ROS 2 writes it
    time_ns: int  #: of the recorder
    fields: dict[str, Any]

    def serialised(self, ros: int, little_endian: bool = True) -> bytes:
        """Serialise for ROS 1 or 2, by rosbags."""
        store = typestore(ros)
        built = _built(store, self.kind, self.fields, ros)
        if ros == 1:
            return bytes(store.serialize_ros1(built, self.kind))
        return bytes(store.serialize_cdr(built, self.kind, little_endian=little_endian))


@cache
def typestore(ros: int) -> Any:
    store = get_typestore(Stores.ROS1_NOETIC if ros == 1 else Stores.ROS2_HUMBLE)
    if ros == 1:  # rosbags lacks it there
        store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
    return store


def _built(store: Any, kind: str, fields: dict[str, Any], ros: int) -> Any:
    if kind == "std_msgs/msg/Header":
        stamp = _built(store, "builtin_interfaces/msg/Time", fields["stamp"], ros)
        counter = {"seq": 0} if ros == 1 else {}
        return store.types[kind](**counter, stamp=stamp, frame_id=fields["frame_id"])
    if kind == "sensor_msgs/msg/CameraInfo" and ros == 1:  # its matrices have capital names
        fields = {name.upper() if name in "dkrp" else name: value for name, value in fields.items()}
    parts = {n: _part(store, n, v, ros) for n, v in fields.items()}
    return store.types[kind](**parts)


_KINDS = {
    "header": "std_msgs/msg/Header",
    "roi": "sensor_msgs/msg/RegionOfInterest",
    "orientation": "geometry_msgs/msg/Quaternion",
    "angular_velocity": "geometry_msgs/msg/Vector3",
    "linear_acceleration": "geometry_msgs/msg/Vector3",
    "transforms": "geometry_msgs/msg/TransformStamped",
    "transform": "geometry_msgs/msg/Transform",
    "translation": "geometry_msgs/msg/Vector3",
    "rotation": "geometry_msgs/msg/Quaternion",
}


def _part(store: Any, name: str, value: Any, ros: int) -> Any:
    if name not in _KINDS:
        return value
    if isinstance(value, list):
        return [_built(store, _KINDS[name], each, ros) for each in value]
    return _built(store, _KINDS[name], value, ros)


def _header(stamp_ns: int, frame_id: str = "camera") -> dict[str, Any]:
    seconds, nanoseconds = divmod(stamp_ns, 10**9)
    return {"stamp": {"sec": seconds, "nanosec": nanoseconds}, "frame_id": frame_id}


def image(
    pixels: np.ndarray,
    time_ns: int = START_NS,
    topic: str = DEPTH,
    encoding: str = "16UC1",
    big_endian: bool = False,
    padding: int = 0,
    stamp_ns: int | None = None,
) -> Message:
    """sensor_msgs/Image of pixels (H, W), with padding bytes after each row."""
    ordered = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">" if big_endian else "<")))
    rows = np.pad(ordered.view(np.uint8).reshape(len(pixels), -1), ((0, 0), (0, padding)), constant_values=0xAA)
    fields = {
        "header": _header(time_ns if stamp_ns is None else stamp_ns),
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "encoding": encoding,
        "is_bigendian": int(big_endian),
        "step": rows.shape[1],
        "data": rows.reshape(-1),
    }
    return Message(topic, "sensor_msgs/msg/Image", time_ns, fields)


def compressed_image(payload: bytes, time_ns: int = START_NS, topic: str = f"{DEPTH}/compressedDepth",
                     format: str = "16UC1; compressedDepth png") -> Message:  # fmt: skip
    fields = {"header": _header(time_ns), "format": format, "data": np.frombuffer(payload, np.uint8)}
    return Message(topic, "sensor_msgs/msg/CompressedImage", time_ns, fields)


def camera_info(
    time_ns: int = START_NS,
    topic: str = INFO,
    camera: Intrinsics = CAMERA,
    shape: tuple[int, int] = SHAPE,
    model: str = "plumb_bob",
    d: Sequence[float] = (0.0,) * 5,
    p: Intrinsics | None = None,
) -> Message:
    """sensor_msgs/CameraInfo; ``p`` are the intrinsics of the rectified image, by default the same."""
    rectified = p or camera
    fields = {
        "header": _header(time_ns),
        "height": shape[0],
        "width": shape[1],
        "distortion_model": model,
        "d": np.array(d, float),
        "k": np.array([camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1]),
        "r": np.eye(3).reshape(-1),
        "p": np.array([rectified.fx, 0, rectified.cx, 0, 0, rectified.fy, rectified.cy, 0, 0, 0, 1, 0]),
        "binning_x": 0,
        "binning_y": 0,
        "roi": {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False},
    }
    return Message(topic, "sensor_msgs/msg/CameraInfo", time_ns, fields)


def imu(
    acceleration: Sequence[float], time_ns: int = START_NS, topic: str = "/camera/imu", frame_id: str = "camera"
) -> Message:
    """sensor_msgs/Imu of an acceleration, m/s2; nothing else in it is measured."""
    fields = {
        "header": _header(time_ns, frame_id),
        "orientation": dict(zip("xyzw", (0.0, 0.0, 0.0, 1.0), strict=True)),
        "orientation_covariance": np.full(9, -1.0),
        "angular_velocity": dict.fromkeys("xyz", 0.5),
        "angular_velocity_covariance": np.full(9, 0.25),
        "linear_acceleration": dict(zip("xyz", map(float, acceleration), strict=True)),
        "linear_acceleration_covariance": np.zeros(9),
    }
    return Message(topic, "sensor_msgs/msg/Imu", time_ns, fields)


def static_transforms(*links: tuple[str, str, Sequence[float]], time_ns: int = START_NS) -> Message:
    """tf2_msgs/TFMessage of links (parent, child, rotation x y z w)."""
    transforms = [
        {
            "header": _header(time_ns, parent),
            "child_frame_id": child,
            "transform": {
                "translation": dict.fromkeys("xyz", 0.1),
                "rotation": dict(zip("xyzw", map(float, rotation), strict=True)),
            },
        }
        for parent, child, rotation in links
    ]
    return Message("/tf_static", "tf2_msgs/msg/TFMessage", time_ns, {"transforms": transforms})


def number(value: float, topic: str, time_ns: int = START_NS) -> Message:
    return Message(topic, "std_msgs/msg/Float32", time_ns, {"data": value})


def text(value: str, topic: str, time_ns: int = START_NS) -> Message:
    return Message(topic, "std_msgs/msg/String", time_ns, {"data": value})


def depth_mm(index: int, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    """Millimetres, with holes, that depend on the index."""
    rng = np.random.default_rng(index)
    return (rng.integers(500, 9000, shape) * (rng.random(shape) < 0.8)).astype(np.uint16)


def depth_recording(count: int = 3, colour: bool = True) -> list[Message]:
    """Depth, its calibration and a colour stream."""
    messages = []
    for i in range(count):
        time_ns = START_NS + i * 10**9 // 30
        messages += [camera_info(time_ns), image(depth_mm(i), time_ns)]
        if colour:
            grey = np.zeros((SHAPE[0], SHAPE[1] * 3), np.uint8)
            messages.append(image(grey, time_ns, "/camera/color/image_raw", encoding="rgb8"))
    return messages


def write_bag(path: Path, messages: Sequence[Message], compression: str = "none", chunk_bytes: int = 1 << 20) -> Path:
    """Write a ROS 1 bag, by rosbags; bytes in ``fields["raw"]`` are written unchanged."""
    path.unlink(missing_ok=True)
    writer = BagWriter(path)
    writer.chunk_threshold = chunk_bytes
    if compression != "none":
        writer.set_compression(BagWriter.CompressionFormat[compression.upper()])
    with writer:
        connections: dict[str, Any] = {}
        for message in messages:
            if message.topic not in connections:
                connections[message.topic] = writer.add_connection(message.topic, message.kind, typestore=typestore(1))
            data = message.fields.get("raw") or message.serialised(1)
            writer.write(connections[message.topic], message.time_ns, data)
    return path


def write_db3(path: Path, messages: Sequence[Message], packed: Callable[[bytes], bytes] = bytes) -> Path:
    """Write a database in the format of rosbag2 in Foxy, without type definitions."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
                     "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)")  # fmt: skip
    database.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
                     "timestamp INTEGER NOT NULL, data BLOB NOT NULL)")  # fmt: skip
    database.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
    topics: dict[str, int] = {}
    for message in messages:
        if message.topic not in topics:
            topics[message.topic] = len(topics) + 1
            row = (topics[message.topic], message.topic, message.kind, "cdr", "")
            database.execute("INSERT INTO topics VALUES (?, ?, ?, ?, ?)", row)
        content = packed(message.serialised(2))
        row = (topics[message.topic], message.time_ns, content)
        database.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", row)
    database.commit()
    database.close()
    return path


def write_mcap(path: Path, messages: Sequence[Message], encoding: str = "cdr", **options: Any) -> Path:
    """Write an MCAP file by its own library; ``options`` are those of its writer."""
    with path.open("wb") as stream:
        writer = mcap.writer.Writer(stream, **options)
        writer.start(profile="ros2" if encoding == "cdr" else encoding)
        channels: dict[str, int] = {}
        for message in messages:
            if message.topic not in channels:
                kind = message.kind if encoding == "cdr" else message.kind.replace("/msg/", "/")
                schema = writer.register_schema(kind, "ros2msg", b"")
                channels[message.topic] = writer.register_channel(message.topic, encoding, schema)
            data = message.serialised(1 if encoding == "ros1" else 2)
            writer.add_message(channels[message.topic], message.time_ns, data, message.time_ns)
        writer.finish()
    return path


def png(grey: np.ndarray) -> bytes:
    return cv2.imencode(".png", grey)[1].tobytes()


def compressed_depth(content: bytes, a: float = 0.0, b: float = 0.0) -> bytes:
    """Header of compressed_depth_image_transport, and an image."""
    return struct.pack("<iff", 0, a, b) + content


def rvl(grey: np.ndarray) -> bytes:
    """Columns, rows, and the RVL stream of Wilson 2017."""
    pixels, nibbles, reading, at = grey.reshape(-1).tolist(), [], 0, 0

    def put(number: int) -> None:
        while number >= 8:
            nibbles.append(8 + number % 8)
            number //= 8
        nibbles.append(number)

    def run(zero: bool) -> int:
        end = at
        while end < len(pixels) and (pixels[end] == 0) == zero:
            end += 1
        return end - at

    while at < len(pixels):
        zeros = run(True)
        at += zeros
        put(zeros)
        put(run(False))
        for pixel in pixels[at : at + run(False)]:
            step = pixel - reading
            put(2 * step if step >= 0 else -2 * step - 1)
            reading, at = pixel, at + 1
    nibbles += [0] * (-len(nibbles) % 8)
    words = [sum(n << (28 - 4 * i) for i, n in enumerate(nibbles[k : k + 8])) for k in range(0, len(nibbles), 8)]
    return struct.pack("<II", grey.shape[1], grey.shape[0]) + struct.pack(f"<{len(words)}I", *words)


def record_realsense(path: Path, frames: Sequence[np.ndarray], unit_m: float = 0.001, model: str = "brown_conrady",
                     coefficients: Sequence[float] = (0.0,) * 5) -> Path:  # fmt: skip
    """Record depth frames of a software device by the RealSense SDK: .db3, or .bag up to 2.57."""
    import pyrealsense2 as rs

    height, width = frames[0].shape
    device = rs.software_device()
    sensor = device.add_sensor("Stereo Module")
    own = rs.intrinsics()
    own.width, own.height, own.fx, own.fy, own.ppx, own.ppy = (
        width, height, CAMERA.fx, CAMERA.fy, CAMERA.cx, CAMERA.cy,
    )  # fmt: skip
    own.model, own.coeffs = getattr(rs.distortion, model), list(coefficients)
    stream = rs.video_stream()
    stream.type, stream.index, stream.uid, stream.fmt = rs.stream.depth, 0, 0, rs.format.z16
    stream.width, stream.height, stream.fps, stream.bpp, stream.intrinsics = width, height, 30, 2, own
    profile = sensor.add_video_stream(stream).as_video_stream_profile()
    sensor.add_read_only_option(rs.option.depth_units, unit_m)
    recorder = rs.recorder(str(path), device)
    recorded = recorder.query_sensors()[0]
    arrived = threading.Semaphore(0)
    recorded.open(recorded.get_stream_profiles()[0])
    recorded.start(lambda frame: arrived.release())
    for i, pixels in enumerate(frames):
        frame = rs.software_video_frame()
        frame.pixels, frame.stride, frame.bpp, frame.profile = pixels, width * 2, 2, profile
        frame.timestamp, frame.domain = START_NS / 1e6 + i * 1000 / 30, rs.timestamp_domain.system_time
        frame.frame_number, frame.depth_units = i, unit_m
        sensor.on_video_frame(frame)
        assert arrived.acquire(timeout=10), "the SDK dropped a frame"
    recorded.stop()
    recorded.close()
    recorder.pause()
    return path
