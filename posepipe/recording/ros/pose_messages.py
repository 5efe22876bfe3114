"""People as ROS 2 messages, for recordings: markers for RViz and Foxglove, and transforms for /tf.

Markers and transforms are in the frame of the camera. The markers of a frame first delete those of the previous frame.
Frames of joints have the orientation of the camera; those of a fitted body have that of the joint, from the rest pose.

References
----------
ROS: visualization_msgs/Marker, tf2_msgs/TFMessage (Humble); REP 103, REP 105.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.recording.ros.messages import message_header, typestore
from posepipe.results import Track

PEOPLE_TOPIC = "/posepipe/people"
TRANSFORMS_TOPIC = "/tf"
MARKERS = "visualization_msgs/msg/MarkerArray"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
POSE_TOPICS = {PEOPLE_TOPIC: MARKERS, TRANSFORMS_TOPIC: TRANSFORMS}
WORLD_FRAME = "world"

_JOINT_M, _BONE_M, _TEXT_M, _TEXT_ABOVE_M = 0.06, 0.02, 0.12, 0.2
_LEFT, _RIGHT, _MIDDLE, _BONE, _TEXT = (1, 0.55, 0.1), (0.2, 0.55, 1), (0.3, 0.85, 0.3), (0.8, 0.8, 0.8), (1, 1, 1)
_MIN_ALPHA = 0.2  # of a joint with low confidence


def encode_poses(
    people: Sequence[Track], body: BodyDefinition, world: Extrinsics | None, stamp_ns: int, frame_id: str
) -> dict[str, bytes]:
    """Serialise all people of one frame.

    Parameters
    ----------
    people : tracks with joints in camera axes, metres
    body : BodyDefinition, for the bones
    world : T_world_camera; if known, /tf contains the camera as well: z up, the floor at 0
    stamp_ns, frame_id : of the depth image

    Returns
    -------
    CDR bytes by topic; without people and world there is no message for /tf
    """
    header = message_header(stamp_ns, frame_id)
    markers = [_marker(header, "", 0, "DELETEALL", "ARROW")]
    transforms = [] if world is None else [_camera_in_world(world, stamp_ns, frame_id)]
    for track in people:
        if track.pose.joints:
            markers += _person_markers(track, body, header)
            transforms += _joint_transforms(track, header)
    messages = {PEOPLE_TOPIC: _serialize(MARKERS, markers)}
    if transforms:
        messages[TRANSFORMS_TOPIC] = _serialize(TRANSFORMS, transforms)
    return messages


def _type(name: str) -> Any:
    return typestore().types[name]


def _serialize(message_type: str, content: list) -> bytes:
    return bytes(typestore().serialize_cdr(_type(message_type)(content), message_type, little_endian=True))


def _person_markers(track: Track, body: BodyDefinition, header: Any) -> list:
    """Joints as spheres, more transparent at low confidence, bones as lines, and the id above."""
    point, joints = _type("geometry_msgs/msg/Point"), track.pose.joints
    places = {name: point(*map(float, joint.xyz_m)) for name, joint in joints.items()}
    pairs = [(body.joints[row], body.joints[parent]) for row, parent in body.bones()]
    ends = [places[end] for pair in pairs if places.keys() >= set(pair) for end in pair]
    xyz_m = np.array([joint.xyz_m for joint in joints.values()], float)
    x, _, z = np.median(xyz_m, axis=0).tolist()
    above = point(x, float(xyz_m[:, 1].min()) - _TEXT_ABOVE_M, z)
    name = f"person_{track.id}"
    colours = [_colour(_side_colour(n), max(float(j.confidence), _MIN_ALPHA)) for n, j in joints.items()]
    dots = _marker(header, name, 0, "ADD", "SPHERE_LIST", size_m=_JOINT_M, points=list(places.values()), colors=colours)
    lines = _marker(header, name, 1, "ADD", "LINE_LIST", size_m=_BONE_M, points=ends, color=_colour(_BONE))
    text = _marker(header, name, 2, "ADD", "TEXT_VIEW_FACING", size_m=_TEXT_M, place=above, color=_colour(_TEXT))
    text.text = str(track.id)
    return [dots, lines, text]


def _marker(
    header: Any,
    namespace: str,
    number: int,
    action: str,
    kind: str,
    *,
    size_m: float = 0.0,
    place: Any = None,
    points: Sequence = (),
    colors: Sequence = (),
    color: Any = None,
) -> Any:
    marker, nothing = _type("visualization_msgs/msg/Marker"), np.zeros(0, np.uint8)
    place = place or _type("geometry_msgs/msg/Point")(0.0, 0.0, 0.0)
    return marker(
        header=header,
        ns=namespace,
        id=number,
        type=getattr(marker, kind),
        action=getattr(marker, action),
        pose=_type("geometry_msgs/msg/Pose")(place, _type("geometry_msgs/msg/Quaternion")(0.0, 0.0, 0.0, 1.0)),
        scale=_type("geometry_msgs/msg/Vector3")(size_m, size_m, size_m),
        color=color or _colour(_MIDDLE),
        lifetime=_type("builtin_interfaces/msg/Duration")(0, 0),
        frame_locked=False,
        points=list(points),
        colors=list(colors),
        texture_resource="",
        texture=_type("sensor_msgs/msg/CompressedImage")(message_header(0, ""), "", nothing),
        uv_coordinates=[],
        text="",
        mesh_resource="",
        mesh_file=_type("visualization_msgs/msg/MeshFile")("", nothing),
        mesh_use_embedded_materials=False,
    )


def _side_colour(joint: str) -> tuple[float, float, float]:
    return _LEFT if joint.startswith("left_") else _RIGHT if joint.startswith("right_") else _MIDDLE


def _colour(rgb: tuple[float, float, float], alpha: float = 1.0) -> Any:
    return _type("std_msgs/msg/ColorRGBA")(*map(float, rgb), alpha)


def _joint_transforms(track: Track, header: Any) -> list:
    fit = track.fit
    turns = {} if fit is None else dict(zip(fit.names, fit.rotations_xyzw, strict=True))
    return [
        _transform(header, f"person_{track.id}/{name}", joint.xyz_m, turns.get(name, (0.0, 0.0, 0.0, 1.0)))
        for name, joint in track.pose.joints.items()
    ]


def _camera_in_world(world: Extrinsics, stamp_ns: int, frame_id: str) -> Any:
    from scipy.spatial.transform import Rotation  # slow to import

    turn = Rotation.from_matrix(world.rotation).as_quat()
    return _transform(message_header(stamp_ns, WORLD_FRAME), frame_id, world.translation_m, turn)


def _transform(header: Any, child: str, xyz_m: Sequence[float] | np.ndarray, turn_xyzw: Sequence[float]) -> Any:
    place = _type("geometry_msgs/msg/Vector3")(*map(float, xyz_m))
    turn = _type("geometry_msgs/msg/Quaternion")(*map(float, turn_xyzw))
    return _type("geometry_msgs/msg/TransformStamped")(header, child, _type("geometry_msgs/msg/Transform")(place, turn))
