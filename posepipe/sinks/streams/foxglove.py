"""Depth, points and people, live, for Foxglove: the app connects to a WebSocket of posepipe.

Topics: docs/reference/results.md. The server is that of the foxglove-sdk (extra ``foxglove``). It never waits for a
client; a slow one loses messages.

References
----------
Foxglove SDK, message schemas (docs.foxglove.dev).
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Self

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.errors import PosepipeError
from posepipe.loopback import is_loopback
from posepipe.results import FrameResult, Track
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.stream_clock import StreamClock

DEPTH_TOPIC, LENS_TOPIC = "/depth/image", "/depth/calibration"
POINTS_TOPIC, PEOPLE_TOPIC, TRANSFORMS_TOPIC = "/depth/points", "/people", "/tf"
CAMERA_FRAME, WORLD_FRAME = "depth_camera", "world"

_JOINT_M, _BONE_M, _TEXT_M, _TEXT_ABOVE_M = 0.06, 0.02, 0.12, 0.2
_LEFT, _RIGHT, _MIDDLE, _BONE = (1.0, 0.55, 0.1), (0.2, 0.55, 1.0), (0.3, 0.85, 0.3), (0.8, 0.8, 0.8)
_MIN_ALPHA = 0.2  # of a joint with low confidence

logger = logging.getLogger(__name__)


class FoxgloveSink:
    """Serves depth, point cloud, people as scene entities, and the camera's pose; a `FrameSink`.

    Parameters
    ----------
    address : where to listen
    body : bones to draw
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Raises
    ------
    PosepipeError
        On opening, if the address is taken or the extra ``foxglove`` is missing.
    """

    def __init__(self, address: StreamAddress, body: BodyDefinition, start_time_ns: int = 0) -> None:
        self.address = address
        self._body = body
        self._clock = StreamClock(start_time_ns)
        self._context: Any = None
        self._server: Any = None
        self._channels: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            import foxglove
            from foxglove import channels
        except ImportError as error:
            advice = "pip install 'posepipe[foxglove]'"
            raise PosepipeError(f"{self.address}: needs the foxglove-sdk ({error}); {advice}") from error
        self._context = context = foxglove.Context()  # without a reference it is closed, with its channels
        try:
            self._server = foxglove.start_server(
                name="posepipe", host=self.address.host, port=self.address.port, context=context
            )
        except Exception as error:  # the SDK has no class of its own
            raise PosepipeError(f"{self.address}: cannot listen there ({error})") from error
        self._channels = {
            DEPTH_TOPIC: channels.RawImageChannel(DEPTH_TOPIC, context=context),
            LENS_TOPIC: channels.CameraCalibrationChannel(LENS_TOPIC, context=context),
            POINTS_TOPIC: channels.PointCloudChannel(POINTS_TOPIC, context=context),
            PEOPLE_TOPIC: channels.SceneUpdateChannel(PEOPLE_TOPIC, context=context),
            TRANSFORMS_TOPIC: channels.FrameTransformsChannel(TRANSFORMS_TOPIC, context=context),
        }
        if not is_loopback(self.address.host):
            logger.info("%s: other machines can read this stream, with the depth", self.address)
        return self

    @property
    def port(self) -> int:
        """The port that is listened on. Raises RuntimeError before the sink is opened."""
        if self._server is None:
            raise RuntimeError(f"{self.address}: not open")
        return int(self._server.port)

    def write(self, result: FrameResult) -> None:
        """Send one frame. Messages that nobody asked for are not made."""
        time_ns = self._clock.stamp_ns(result.frame.timestamp_s)
        makers = {
            DEPTH_TOPIC: _depth,
            LENS_TOPIC: _lens,
            POINTS_TOPIC: _points,
            PEOPLE_TOPIC: lambda result, stamp: _people(result, stamp, self._body),
            TRANSFORMS_TOPIC: _transforms,
        }
        for topic, make in makers.items():
            channel = self._channels[topic]
            if channel.has_sinks():
                channel.log(make(result, _stamp(time_ns)), log_time=time_ns)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()


def _stamp(time_ns: int) -> Any:
    from foxglove.messages import Timestamp

    try:
        return Timestamp(*divmod(time_ns, 1_000_000_000))
    except OverflowError:
        raise PosepipeError(f"a time of {time_ns} ns since 1970; Foxglove's messages hold none after 2106") from None


def _depth(result: FrameResult, stamp: Any) -> Any:
    """Depth as millimetres, 16UC1; depth beyond 16 bits does not occur."""
    from foxglove.messages import RawImage

    depth_mm = np.rint(result.frame.depth_m * 1000).astype("<u2")
    height, width = depth_mm.shape
    return RawImage(
        timestamp=stamp,
        frame_id=CAMERA_FRAME,
        width=width,
        height=height,
        encoding="16UC1",
        step=2 * width,
        data=depth_mm.tobytes(),
    )


def _lens(result: FrameResult, stamp: Any) -> Any:
    from foxglove.messages import CameraCalibration

    lens = result.frame.intrinsics
    height, width = result.frame.depth_m.shape
    return CameraCalibration(
        timestamp=stamp,
        frame_id=CAMERA_FRAME,
        width=width,
        height=height,
        K=[lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1],
        P=[lens.fx, 0, lens.cx, 0, 0, lens.fy, lens.cy, 0, 0, 0, 1, 0],
    )


def _points(result: FrameResult, stamp: Any) -> Any:
    """All readings as points, float32 x, y, z, metres, camera axes."""
    from foxglove.messages import PackedElementField, PackedElementFieldNumericType, PointCloud

    frame = result.frame
    rows, cols = np.nonzero(frame.depth_m)
    z = frame.depth_m[rows, cols]
    x = (cols - frame.intrinsics.cx) * z / frame.intrinsics.fx
    y = (rows - frame.intrinsics.cy) * z / frame.intrinsics.fy
    kind = PackedElementFieldNumericType.Float32
    return PointCloud(
        timestamp=stamp,
        frame_id=CAMERA_FRAME,
        pose=_pose((0.0, 0.0, 0.0)),
        point_stride=12,
        fields=[PackedElementField(name=axis, offset=4 * k, type=kind) for k, axis in enumerate("xyz")],
        data=np.stack([x, y, z], axis=1).astype("<f4").tobytes(),
    )


def _people(result: FrameResult, stamp: Any, body: BodyDefinition) -> Any:
    """All people of a frame; those of the frame before are deleted."""
    from foxglove.messages import SceneEntityDeletion, SceneEntityDeletionType, SceneUpdate

    everything = SceneEntityDeletion(timestamp=stamp, type=SceneEntityDeletionType.All)
    people = [_person(track, stamp, body) for track in result.people if track.pose.joints]
    return SceneUpdate(deletions=[everything], entities=people)


def _person(track: Track, stamp: Any, body: BodyDefinition) -> Any:
    from foxglove.messages import KeyValuePair, SceneEntity, SpherePrimitive, TextPrimitive, Vector3

    joints = track.pose.joints
    size = Vector3(x=_JOINT_M, y=_JOINT_M, z=_JOINT_M)
    spheres = [
        SpherePrimitive(
            pose=_pose(joint.xyz_m), size=size, color=_colour(_side(name), max(joint.confidence, _MIN_ALPHA))
        )
        for name, joint in joints.items()
    ]
    top = min((joint.xyz_m for joint in joints.values()), key=lambda xyz_m: xyz_m[1])
    label = TextPrimitive(
        pose=_pose((top[0], top[1] - _TEXT_ABOVE_M, top[2])),
        billboard=True,
        font_size=_TEXT_M,
        color=_colour((1.0, 1.0, 1.0)),
        text=str(track.id),
    )
    return SceneEntity(
        timestamp=stamp,
        frame_id=CAMERA_FRAME,
        id=f"person {track.id}",
        metadata=[KeyValuePair(key=name, value=f"{joint.confidence:.2f}") for name, joint in joints.items()],
        spheres=spheres,
        lines=[_bones(track, body)],
        texts=[label],
    )


def _bones(track: Track, body: BodyDefinition) -> Any:
    """All bones of a person between joints that are known."""
    from foxglove.messages import LinePrimitive, LinePrimitiveLineType, Point3

    joints = track.pose.joints
    names = [(body.joints[joint], body.joints[parent]) for joint, parent in body.bones()]
    ends = [name for bone in names if joints.keys() >= set(bone) for name in bone]
    return LinePrimitive(
        type=LinePrimitiveLineType.LineList,
        pose=_pose((0.0, 0.0, 0.0)),
        thickness=_BONE_M,
        points=[Point3(**dict(zip("xyz", joints[name].xyz_m, strict=True))) for name in ends],
        color=_colour(_BONE),
    )


def _transforms(result: FrameResult, stamp: Any) -> Any:
    """Pose of the camera in the world, where it is known."""
    from foxglove.messages import FrameTransform, FrameTransforms, Quaternion, Vector3
    from scipy.spatial.transform import Rotation

    if result.world is None:
        return FrameTransforms(transforms=[])
    place = dict(zip("xyz", result.world.translation_m.tolist(), strict=True))
    turn = dict(zip("xyzw", Rotation.from_matrix(result.world.rotation).as_quat().tolist(), strict=True))
    camera = FrameTransform(
        timestamp=stamp,
        parent_frame_id=WORLD_FRAME,
        child_frame_id=CAMERA_FRAME,
        translation=Vector3(**place),
        rotation=Quaternion(**turn),
    )
    return FrameTransforms(transforms=[camera])


def _pose(xyz_m: tuple[float, float, float]) -> Any:
    from foxglove.messages import Pose, Quaternion, Vector3

    return Pose(position=Vector3(x=xyz_m[0], y=xyz_m[1], z=xyz_m[2]), orientation=Quaternion(x=0, y=0, z=0, w=1))


def _colour(rgb: tuple[float, float, float], alpha: float = 1.0) -> Any:
    from foxglove.messages import Color

    return Color(r=rgb[0], g=rgb[1], b=rgb[2], a=alpha)


def _side(name: str) -> tuple[float, float, float]:
    """Colour of a joint: left warm, right cold."""
    if mirror_name(name) == name:
        return _MIDDLE
    return _LEFT if name.startswith("left_") else _RIGHT
