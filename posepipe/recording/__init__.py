"""Depth recordings: MCAP files for ROS tools and Foxglove, and files of other ROS recorders.

The writer closes a chunk at every frame: every complete frame survives a killed writer.
docs/reference/formats.md lists topics, encodings and the joints message.

ROS 1 bags and ROS 2 databases are read, too. A `MessageFile` finds the messages of a file, and a `DepthStream`
decodes their depth.
"""

from posepipe.errors import DamagedMessageError
from posepipe.recording.codecs.primesense_16z import decode_16z
from posepipe.recording.colour_stream import ColourStream
from posepipe.recording.containers.mcap_file import McapFile
from posepipe.recording.containers.message_file import JoinedFiles, MessageFile, Topic
from posepipe.recording.containers.ros1_file import Ros1File
from posepipe.recording.containers.sqlite_file import SqliteFile
from posepipe.recording.depth_stream import DepthStream
from posepipe.recording.live_depth import LiveDepth, live_camera_info
from posepipe.recording.reader import RecordingReader
from posepipe.recording.ros.depth_images import IMAGE_KINDS
from posepipe.recording.ros.mask_messages import MASK_TOPICS, encode_masks
from posepipe.recording.ros.pose_messages import POSE_TOPICS, encode_poses
from posepipe.recording.ros.skeleton_messages import SKELETON_TOPICS, encode_skeletons
from posepipe.recording.ros.topics import SeveralTopicsError, camera_info_topic
from posepipe.recording.writer import RecordingWriter

__all__ = [
    "IMAGE_KINDS",
    "MASK_TOPICS",
    "POSE_TOPICS",
    "SKELETON_TOPICS",
    "ColourStream",
    "DamagedMessageError",
    "DepthStream",
    "JoinedFiles",
    "LiveDepth",
    "McapFile",
    "MessageFile",
    "RecordingReader",
    "RecordingWriter",
    "Ros1File",
    "SeveralTopicsError",
    "SqliteFile",
    "Topic",
    "camera_info_topic",
    "decode_16z",
    "encode_masks",
    "encode_poses",
    "encode_skeletons",
    "live_camera_info",
]
