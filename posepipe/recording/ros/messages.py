"""ROS 2 messages of a recording, as CDR bytes: depth and label images, camera info, true joints.

rosbags supplies the definitions and the serialiser. It is imported on first use: it triples the start time of the
command line. The constant part of each message is serialised once and cached.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import Any

import cv2
import numpy as np

from posepipe.camera import Intrinsics, UpVector
from posepipe.camera.gravity import GRAVITY_M_S2
from posepipe.frames import BodyTruth
from posepipe.recording.ros.depth_images import image_pixels
from posepipe.recording.ros.message_fields import read_image

DEPTH_TOPIC = "/depth/image"
CAMERA_INFO_TOPIC = "/depth/camera_info"
IMU_TOPIC = "/depth/imu"
COLOUR_TOPIC = "/colour/image/compressed"
PARTS_TOPIC = "/truth/parts"
PEOPLE_TOPIC = "/truth/people"
JOINTS_TOPIC = "/truth/joints"
BODIES_TOPIC = "/truth/bodies"

IMAGE = "sensor_msgs/msg/Image"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
IMU = "sensor_msgs/msg/Imu"
JOINTS = "posepipe_msgs/msg/Joints"
BODIES = "posepipe_msgs/msg/Bodies"
SKELETONS = "posepipe_msgs/msg/Skeletons"

JOINTS_DEFINITION = """\
# True joints of everybody in one depth frame. Camera axes: x right, y down, z forward, metres.
std_msgs/Header header
# names of the J joints; their order is that of the columns below
string[] joint_names
# ids of the P people, 1 and up, as painted in /truth/people
uint8[] person_ids
# P x J x 3, row-major: x y z of each joint of the first person, then of the next; NaN where unknown
float32[] xyz_m
# P x J, row-major: whether the camera sees the surface around the joint
bool[] visible
"""

SKELETONS_DEFINITION = """\
# Tracked people of one depth frame. Camera axes: x right, y down, z forward, metres.
std_msgs/Header header
# names of the J joints; their order is that of the columns below
string[] joint_names
# ids of the P people; an id stays with a person while they are tracked
uint32[] person_ids
# P x J x 3, row-major: x y z of each joint of the first person, then of the next; NaN where unknown
float32[] xyz_m
# P x J, row-major: confidence of each joint, 0 to 1; 0 where unknown
float32[] confidence
"""

BODIES_DEFINITION = """\
# True orientations, bone lengths and joint angles of everybody in one depth frame.
std_msgs/Header header
# names of the J joints and ids of the P people, as in /truth/joints
string[] joint_names
uint8[] person_ids
# P x J x 4, row-major: unit quaternion x y z w, from the rest pose to camera axes, of the segment that starts there
float32[] rotation_xyzw
# P x J, row-major: distance of the joint from its parent in the rest pose, metres; NaN without a parent
float32[] bone_length_m
# names of the A joint angles, and P x A, row-major: degrees; NaN where undefined
string[] angle_names
float32[] angle_deg
"""

_DEFINITIONS = {JOINTS: JOINTS_DEFINITION, BODIES: BODIES_DEFINITION, SKELETONS: SKELETONS_DEFINITION}
"""Message types of posepipe -> their definitions."""

WHOLE_MM_TOLERANCE_M = 1e-5
"""Maximum distance from a whole millimetre that counts as rounding of float32."""

MAX_STAMP_NS = (1 << 31) * 1_000_000_000 - 1
"""Maximum time in a message of ROS 2, whose seconds are an int32: January 2038."""

JPEG_QUALITY = 90
MAX_JPEG_SIDE = 65_500

_STAMP = slice(4, 12)
"""Bytes of the time in a message that starts with a header, after four bytes for the encoding."""
_LENGTH = struct.Struct("<I")
"""Number of elements, before those of a sequence."""


@cache
def typestore() -> Any:
    """Message types of ROS 2 Humble and of posepipe; takes 0.15 s to build, and is cached."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    for message_type, definition in _DEFINITIONS.items():
        store.register(get_types_from_msg(definition, message_type))
    return store


def schema_text(message_type: str) -> str:
    """Definition of a message type and its fields' types: content of an MCAP schema of encoding ``ros2msg``."""
    text, _ = typestore().generate_msgdef(message_type, ros_version=2)
    if message_type not in _DEFINITIONS:
        return text
    _, separator, contained = text.partition("=" * 80)  # rosbags drops comments; these document the format
    return _DEFINITIONS[message_type] + separator + contained


def _seconds(stamp_ns: int) -> tuple[int, int]:
    """Seconds and nanoseconds of a time. Raises ValueError for one that no message can hold."""
    if not 0 <= stamp_ns <= MAX_STAMP_NS:
        raise ValueError(f"{stamp_ns} ns since 1970: messages of ROS hold no times before, and none after January 2038")
    return divmod(stamp_ns, 1_000_000_000)


def message_header(stamp_ns: int, frame_id: str) -> Any:
    """Make a std_msgs/Header. Raises ValueError for a time before 1970 or after `MAX_STAMP_NS`."""
    types = typestore().types
    return types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](*_seconds(stamp_ns)), frame_id)


def depth_pixels(depth_m: np.ndarray) -> tuple[np.ndarray, str]:
    """Smallest lossless image of a cleaned depth frame, and its ROS encoding.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading, at most MAX_DEPTH_M

    Returns
    -------
    uint16 millimetres and ``16UC1``, or float32 metres (NaN = no reading, REP 118) and ``32FC1``
    """
    valid = depth_m > 0
    left, top, wide, tall = cv2.boundingRect(valid.view(np.uint8))  # a cut-out person fills little of a frame
    window = slice(top, top + tall), slice(left, left + wide)
    window_m = depth_m[window]
    window_mm = np.rint(window_m * np.float32(1000))
    if np.abs(window_mm * np.float32(0.001) - window_m).max(initial=0) > WHOLE_MM_TOLERANCE_M:
        return np.where(valid, depth_m, np.float32(np.nan)), "32FC1"
    depth_mm = np.zeros(depth_m.shape, np.uint16)
    depth_mm[window] = window_mm
    return depth_mm, "16UC1"


def _stamped(message: bytes, stamp_ns: int) -> bytes:
    """Replace the time of a message that starts with a header."""
    return message[: _STAMP.start] + struct.pack("<iI", *_seconds(stamp_ns)) + message[_STAMP.stop :]


@lru_cache(maxsize=16)
def _image_head(height: int, width: int, encoding: str, row_bytes: int, frame_id: str) -> bytes:
    """Serialised Image without its pixels, which are at the end."""
    types = typestore().types
    empty = types[IMAGE](message_header(0, frame_id), height, width, encoding, 0, row_bytes, np.zeros(0, np.uint8))
    head = bytes(typestore().serialize_cdr(empty, IMAGE, little_endian=True))
    return head[: -_LENGTH.size] + _LENGTH.pack(height * row_bytes)


def encode_image(pixels: np.ndarray, encoding: str, stamp_ns: int, frame_id: str) -> bytes:
    """Serialise an image (H, W) as sensor_msgs/Image; ``encoding`` is its ROS encoding."""
    height, width = pixels.shape
    head = _image_head(height, width, encoding, width * pixels.itemsize, frame_id)
    return b"".join([_stamped(head, stamp_ns), np.ascontiguousarray(pixels).data])


def decode_image(data: bytes) -> tuple[np.ndarray, str]:
    """Decode a sensor_msgs/Image: pixels (H, W) in native byte order, writable, and the encoding.

    Raises ValueError for an unsupported encoding or a damaged message.
    """
    image = read_image(data, "cdr")
    return image_pixels(image), image.encoding


@lru_cache(maxsize=4)
def _camera_info(intrinsics: Intrinsics, height: int, width: int, frame_id: str) -> bytes:
    types = typestore().types
    fx, fy, cx, cy = intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy
    message = types[CAMERA_INFO](
        header=message_header(0, frame_id),
        height=height,
        width=width,
        distortion_model="plumb_bob",
        d=np.zeros(5),
        k=np.array([fx, 0, cx, 0, fy, cy, 0, 0, 1]),
        r=np.eye(3).reshape(-1),
        p=np.array([fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0]),
        binning_x=0,
        binning_y=0,
        roi=types["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False),
    )
    return bytes(typestore().serialize_cdr(message, CAMERA_INFO, little_endian=True))


def encode_camera_info(intrinsics: Intrinsics, height: int, width: int, stamp_ns: int, frame_id: str) -> bytes:
    """Serialise the intrinsics of a camera without distortion as sensor_msgs/CameraInfo."""
    return _stamped(_camera_info(intrinsics, height, width, frame_id), stamp_ns)


@lru_cache(maxsize=16)
def _gravity(up: UpVector, frame_id: str) -> bytes:
    types = typestore().types
    unknown = np.zeros(9)
    unknown[0] = -1  # of its covariance: not measured
    message = types[IMU](
        header=message_header(0, frame_id),
        orientation=types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
        orientation_covariance=unknown,
        angular_velocity=types["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0),
        angular_velocity_covariance=unknown,
        linear_acceleration=types["geometry_msgs/msg/Vector3"](*(GRAVITY_M_S2 * each for each in up)),
        linear_acceleration_covariance=np.zeros(9),
    )
    return bytes(typestore().serialize_cdr(message, IMU, little_endian=True))


def encode_up(up: UpVector, stamp_ns: int, frame_id: str) -> bytes:
    """Serialise the direction of up, camera axes, as the acceleration of a sensor_msgs/Imu at rest."""
    return _stamped(_gravity(up, frame_id), stamp_ns)


def encode_colour(colour: np.ndarray, stamp_ns: int, frame_id: str) -> bytes:
    """Serialise colour, uint8 (h, w, 3), RGB, as a sensor_msgs/CompressedImage: a JPEG.

    Raises ValueError for a picture of more than MAX_JPEG_SIDE rows or columns.
    """
    if max(colour.shape[:2]) > MAX_JPEG_SIDE:
        raise ValueError(
            f"colour is recorded as JPEG, of at most {MAX_JPEG_SIDE} pixels a side, got {colour.shape[:2]}"
        )
    _, data = cv2.imencode(".jpg", np.ascontiguousarray(colour[:, :, ::-1]), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    message = typestore().types[COMPRESSED_IMAGE](message_header(stamp_ns, frame_id), "jpeg", data.ravel())
    return bytes(typestore().serialize_cdr(message, COMPRESSED_IMAGE, little_endian=True))


@lru_cache(maxsize=16)
def _joints_head(joint_names: tuple[str, ...], people: int, frame_id: str) -> bytes:
    """Serialised Joints message without joints and the two counts at the end."""
    message = typestore().types[JOINTS](
        header=message_header(0, frame_id),
        joint_names=list(joint_names),
        person_ids=np.arange(1, people + 1, dtype=np.uint8),
        xyz_m=np.zeros(0, np.float32),
        visible=np.zeros(0, bool),
    )
    head = bytes(typestore().serialize_cdr(message, JOINTS, little_endian=True))
    return head[: -2 * _LENGTH.size]


def encode_joints(
    joint_names: tuple[str, ...], joints_m: np.ndarray, visible: np.ndarray, stamp_ns: int, frame_id: str
) -> bytes:
    """Serialise true joints (P, J, 3), metres, and visibility (P, J) as posepipe_msgs/Joints."""
    head = _stamped(_joints_head(tuple(joint_names), len(joints_m), frame_id), stamp_ns)
    xyz_m, seen = np.ascontiguousarray(joints_m, np.float32), np.ascontiguousarray(visible, bool)
    return b"".join([head, _LENGTH.pack(xyz_m.size), xyz_m.data, _LENGTH.pack(seen.size), seen.data])


def decode_joints(data: bytes) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Decode a posepipe_msgs/Joints: joint names, joints_m float32 (P, J, 3) and visible bool (P, J).

    Raises ValueError for inconsistent sizes.
    """
    message = typestore().deserialize_cdr(data, JOINTS)
    people, joints = len(message.person_ids), len(message.joint_names)
    if message.person_ids.tolist() != list(range(1, people + 1)):
        raise ValueError(f"joints message: wanted person ids 1, 2, ..., got {message.person_ids.tolist()}")
    xyz_m = message.xyz_m.reshape(people, joints, 3).copy()
    visible = message.visible.reshape(people, joints).astype(bool)
    return tuple(message.joint_names), xyz_m, visible


def encode_bodies(joint_names: tuple[str, ...], bodies: BodyTruth, stamp_ns: int, frame_id: str) -> bytes:
    """Serialise true orientations, bone lengths and joint angles as posepipe_msgs/Bodies."""
    angles_deg = np.zeros(0) if bodies.angles_deg is None else bodies.angles_deg
    message = typestore().types[BODIES](
        header=message_header(stamp_ns, frame_id),
        joint_names=list(joint_names),
        person_ids=np.arange(1, len(bodies.rotations_xyzw) + 1, dtype=np.uint8),
        rotation_xyzw=np.asarray(bodies.rotations_xyzw, np.float32).ravel(),
        bone_length_m=np.asarray(bodies.bone_lengths_m, np.float32).ravel(),
        angle_names=list(bodies.angle_names),
        angle_deg=np.asarray(angles_deg, np.float32).ravel(),
    )
    return bytes(typestore().serialize_cdr(message, BODIES, little_endian=True))


def decode_bodies(data: bytes) -> tuple[tuple[str, ...], BodyTruth]:
    """Decode a posepipe_msgs/Bodies: joint names, and the truth. Raises ValueError for inconsistent sizes."""
    message = typestore().deserialize_cdr(data, BODIES)
    people, joints, angles = (len(each) for each in (message.person_ids, message.joint_names, message.angle_names))
    truth = BodyTruth(
        message.rotation_xyzw.reshape(people, joints, 4).copy(),
        message.bone_length_m.reshape(people, joints).copy(),
        tuple(message.angle_names),
        message.angle_deg.reshape(people, angles).copy() if angles else None,
    )
    return tuple(message.joint_names), truth
