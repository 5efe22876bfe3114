"""Write depth frames, with or without ground truth, to an MCAP recording."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import IO, cast

import numpy as np
from mcap.writer import CompressionType, Writer

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import BodyTruth, DepthFrame, LabelledFrame
from posepipe.io.files import disk_errors, name_text
from posepipe.io.growing_file import GrowingFile
from posepipe.processes.interrupts import delayed_interrupt
from posepipe.recording.containers.chunk_indices import keep_chunk_indices_packed
from posepipe.recording.containers.mcap_file import HEADER_METADATA
from posepipe.recording.ros import messages as ros

BODY_ATTACHMENT = "body.json"
USER_METADATA = "source"
FORMAT_VERSION = "1"
FRAME_ID, COLOUR_FRAME_ID = "depth_camera", "colour_camera"

_UNLIMITED_CHUNK_BYTES = 1 << 62  # chunks are closed explicitly, at the end of each frame
_TOPICS = {ros.CAMERA_INFO_TOPIC: ros.CAMERA_INFO}
_TRUTH_TOPICS = {
    ros.PARTS_TOPIC: ros.IMAGE,
    ros.PEOPLE_TOPIC: ros.IMAGE,
    ros.BODIES_TOPIC: ros.BODIES,
    ros.JOINTS_TOPIC: ros.JOINTS,
}
_DEPTH_TOPIC = {ros.DEPTH_TOPIC: ros.IMAGE}

_log = logging.getLogger(__name__)


class RecordingWriter:
    """One camera's frames in one MCAP file; a context manager.

    Every frame is a flushed chunk of its own: a killed writer loses at most one frame. The file appears with its first
    frame, and a frame that finds no room on the disk is cut off again. Equal frames give equal bytes, because no clock
    is read.

    Parameters
    ----------
    path : the file, replaced at the first frame if it exists; its folder is created
    intrinsics, height, width : of every frame
    body : body definition of a labelled recording, of LabelledFrame; None = unlabelled
    metadata : free text about the origin of the frames, such as sensor and seed
    start_time_ns : sensor time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown
    further_topics : message type by topic, for further messages of `write`
    whole : let the file appear, or replace an older one, when the context ends without an error, and not before

    Raises
    ------
    PosepipeError
        When the file cannot be written.
    ValueError
        For a negative ``start_time_ns``.
    """

    def __init__(
        self,
        path: str | Path,
        intrinsics: Intrinsics,
        height: int,
        width: int,
        body: BodyDefinition | None = None,
        metadata: dict[str, str] | None = None,
        start_time_ns: int = 0,
        further_topics: dict[str, str] | None = None,
        whole: bool = False,
    ) -> None:
        if start_time_ns < 0:
            raise ValueError(f"start_time_ns must not be negative, got {start_time_ns}")
        self.path = Path(path)
        self.intrinsics = intrinsics
        self.body = body
        self.frame_count = 0  #: frames written so far
        self.frame_id = FRAME_ID  #: in the headers of all messages
        self._shape = (height, width)
        self._start_time_ns = start_time_ns
        self._zero_ns: int | None = start_time_ns or None  # time in the file of ``timestamp_s`` 0
        self._latest_ns, self._is_told, self._whole = 0, False, whole
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = GrowingFile(self.path, whole)
            self._mcap = Writer(
                cast(IO[bytes], self._file), chunk_size=_UNLIMITED_CHUNK_BYTES, compression=CompressionType.ZSTD
            )
            keep_chunk_indices_packed(self._mcap, CompressionType.ZSTD.name.lower())
            self._mcap.start(profile="ros2", library="posepipe")
            self._write_head(metadata or {})
        self._channels = self._register_channels(further_topics or {})

    def _write_head(self, metadata: dict[str, str]) -> None:
        # before the first frame: a cut file still has them
        header = {"version": FORMAT_VERSION, "start_time_ns": str(self._start_time_ns)}
        self._mcap.add_metadata(HEADER_METADATA, header)
        if metadata:
            texts = {key: name_text(value) for key, value in metadata.items()}  # the source's name is among them
            self._mcap.add_metadata(USER_METADATA, texts)
        if self.body is not None:
            content = json.dumps(self.body.to_dict()).encode()
            self._mcap.add_attachment(0, self._start_time_ns, BODY_ATTACHMENT, "application/json", content)

    def _register_channels(self, further_topics: dict[str, str]) -> dict[str, int]:
        topics = {**_TOPICS, **(_TRUTH_TOPICS if self.body is not None else {}), **further_topics, **_DEPTH_TOPIC}
        return self._registered(topics)

    def _registered(self, topics: dict[str, str]) -> dict[str, int]:
        schemas = {
            kind: self._mcap.register_schema(kind, "ros2msg", ros.schema_text(kind).encode())
            for kind in dict.fromkeys(topics.values())
        }
        return {
            topic: self._mcap.register_channel(topic, "cdr", schemas[kind], {"offered_qos_profiles": ""})
            for topic, kind in topics.items()
        }

    @property
    def size(self) -> int:
        """Bytes on the disk: all whole frames, and after `close` the index."""
        return self._file.size

    def stamp_ns(self, frame: DepthFrame) -> int:
        """Time of a frame and of all its messages, nanoseconds.

        Without a date, a first frame of negative time is at 0: ROS knows no negative times. Raises ValueError for a
        time that ROS cannot hold.
        """
        time_ns = round(frame.timestamp_s * 1e9)
        if self._zero_ns is None:
            self._zero_ns = max(0, -time_ns)
        stamp_ns = self._zero_ns + time_ns
        if stamp_ns < 0:
            start = "1970" if self._start_time_ns else "the first frame of the recording"
            raise ValueError(
                f"{self.path}: frame {frame.index}: timestamp_s {frame.timestamp_s:g} lies before {start}, which ROS"
                " cannot hold; sort the frames by time, or give the source a date"
            )
        if stamp_ns > ros.MAX_STAMP_NS:
            raise ValueError(f"{self.path}: frame {frame.index}: a time after January 2038, which ROS cannot hold")
        return stamp_ns

    def write(self, frame: DepthFrame | LabelledFrame, further: dict[str, bytes] | None = None) -> None:
        """Append one frame and flush it.

        Depth is stored as uint16 millimetres if all values are whole millimetres, within 0.01 mm; else as float32
        metres.

        Parameters
        ----------
        frame : LabelledFrame for a labelled recording, else DepthFrame
        further : further messages of this frame, serialised, by topic

        Raises
        ------
        ValueError
            When camera, size, body or time of the frame do not fit this recording.
        """
        depth, truth = (frame.depth, frame) if isinstance(frame, LabelledFrame) else (frame, None)
        self._check(depth, truth)
        stamp_ns = self.stamp_ns(depth)  # raises before anything of the frame is in its chunk
        self._tell_if_earlier(depth, stamp_ns)
        height, width = self._shape
        with delayed_interrupt(), disk_errors(self.path):
            self._add_beside(depth, stamp_ns)
            info = ros.encode_camera_info(self.intrinsics, height, width, stamp_ns, FRAME_ID)
            self._add(ros.CAMERA_INFO_TOPIC, stamp_ns, info)
            if truth is not None:
                self._add_truth(truth, stamp_ns)
            for topic, message in (further or {}).items():
                self._add(topic, stamp_ns, message)
            pixels, encoding = ros.depth_pixels(depth.depth_m)
            self._add(ros.DEPTH_TOPIC, stamp_ns, ros.encode_image(pixels, encoding, stamp_ns, FRAME_ID))
            self._mcap.flush()
            self.frame_count += 1

    def _tell_if_earlier(self, depth: DepthFrame, stamp_ns: int) -> None:
        """Warn once of a frame that lies before an earlier one: readers of MCAP files play in order of time."""
        if stamp_ns < self._latest_ns and not self._is_told:
            self._is_told = True
            problem = "is of an earlier time than frames before it; the recording will be played in order of time"
            _log.warning("%s: frame %d %s", self.path, depth.index, problem)
        self._latest_ns = max(self._latest_ns, stamp_ns)

    def _add_truth(self, truth: LabelledFrame, stamp_ns: int) -> None:
        assert self.body is not None
        joints = ros.encode_joints(self.body.joints, truth.joints_m, truth.visible, stamp_ns, FRAME_ID)
        self._add(ros.PARTS_TOPIC, stamp_ns, ros.encode_image(truth.parts, "mono8", stamp_ns, FRAME_ID))
        self._add(ros.PEOPLE_TOPIC, stamp_ns, ros.encode_image(truth.people, "mono8", stamp_ns, FRAME_ID))
        if truth.bodies is not None:
            bodies = ros.encode_bodies(self.body.joints, truth.bodies, stamp_ns, FRAME_ID)
            self._add(ros.BODIES_TOPIC, stamp_ns, bodies)
        self._add(ros.JOINTS_TOPIC, stamp_ns, joints)

    def _add_beside(self, depth: DepthFrame, stamp_ns: int) -> None:
        """Add up and colour, where the frame has them; most cameras have neither."""
        if depth.up is not None:
            self._add_to(ros.IMU_TOPIC, ros.IMU, stamp_ns, ros.encode_up(depth.up, stamp_ns, FRAME_ID))
        if depth.colour is not None:
            image = ros.encode_colour(depth.colour, stamp_ns, COLOUR_FRAME_ID)
            self._add_to(ros.COLOUR_TOPIC, ros.COMPRESSED_IMAGE, stamp_ns, image)

    def _add_to(self, topic: str, kind: str, stamp_ns: int, data: bytes) -> None:
        if topic not in self._channels:
            self._channels |= self._registered({topic: kind})
        self._add(topic, stamp_ns, data)

    def _add(self, topic: str, stamp_ns: int, data: bytes) -> None:
        # the sequence number separates frames of equal time
        self._mcap.add_message(self._channels[topic], stamp_ns, data, stamp_ns, sequence=self.frame_count)

    def _check(self, depth: DepthFrame, truth: LabelledFrame | None) -> None:
        if (self.body is None) != (truth is None):
            raise ValueError(
                f"{self.path}: wanted "
                + (
                    "a DepthFrame: no body was given"
                    if self.body is None
                    else "a LabelledFrame: the recording has a body"
                )
            )
        if depth.intrinsics != self.intrinsics or depth.depth_m.shape != self._shape:
            (height, width), (own_height, own_width) = depth.depth_m.shape, self._shape
            raise ValueError(
                f"{self.path}: frame {depth.index} is {width}x{height} with {depth.intrinsics}; this recording is "
                f"{own_width}x{own_height} with {self.intrinsics}: start another for another camera, or write an .npz"
                " pack, which keeps the lens of each frame"
            )
        if truth is not None:
            self._check_truth(truth)

    def _check_truth(self, truth: LabelledFrame) -> None:
        assert self.body is not None
        for name, image in (("parts", truth.parts), ("people", truth.people)):
            if image.dtype != np.uint8 or image.shape != self._shape:
                raise ValueError(f"{name}: wanted uint8 {self._shape}, got {image.dtype} {image.shape}")
        people, joints = len(truth.joints_m), len(self.body.joints)
        if truth.joints_m.shape != (people, joints, 3) or truth.visible.shape != (people, joints):
            raise ValueError(
                f"joints_m and visible: wanted (P, {joints}, 3) and (P, {joints}) for body {self.body.name!r}, "
                f"got {truth.joints_m.shape} and {truth.visible.shape}"
            )
        if truth.bodies is not None:
            _check_bodies(truth.bodies, people, joints)
        if people > 255 or (truth.people.size and truth.people.max() > people):
            raise ValueError(f"people: ids up to {truth.people.max()} but joints of {people} people (at most 255)")

    def close(self) -> None:
        """Write the index and close. A recording without this step can still be read; one without frames is no file."""
        if self._file.closed:
            return
        with delayed_interrupt(), disk_errors(self.path), closing(self._file):
            if self.frame_count and not self._file.failed:
                self._mcap.finish()
                self._file.flush()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._whole and error is not None:
            self._file.discard()
        else:
            self.close()


def _check_bodies(bodies: BodyTruth, people: int, joints: int) -> None:
    """Raise ValueError unless the arrays have the shapes of the frame."""
    wanted = {"rotations_xyzw": (people, joints, 4), "bone_lengths_m": (people, joints)}
    if bodies.angle_names or bodies.angles_deg is not None:
        wanted["angles_deg"] = (people, len(bodies.angle_names))
    for name, shape in wanted.items():
        if np.shape(getattr(bodies, name)) != shape:
            raise ValueError(f"bodies.{name}: wanted shape {shape}, got {np.shape(getattr(bodies, name))}")
