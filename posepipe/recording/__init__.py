"""Depth recordings: MCAP files that ROS tools and Foxglove open, and that survive a killed writer.

A chunk closes at every frame, so that whatever was complete when the power went can be read back.
docs/reference/formats.md lists topics, encodings and the joints message. Bags of ROS 1 and databases of ROS 2
are read alike: a `MessageFile` knows where the messages of a format are, a `DepthStream` makes depth of them.
"""

from posepipe.recording.containers.mcap_file import McapFile
from posepipe.recording.containers.message_file import DamagedMessageError, JoinedFiles, MessageFile, Topic
from posepipe.recording.containers.ros1_file import Ros1File
from posepipe.recording.containers.sqlite_file import SqliteFile
from posepipe.recording.depth_stream import DepthStream
from posepipe.recording.reader import RecordingReader
from posepipe.recording.ros.depth_images import IMAGE_KINDS
from posepipe.recording.ros.pose_messages import POSE_TOPICS, encode_poses
from posepipe.recording.ros.topics import SeveralTopicsError, camera_info_topic
from posepipe.recording.writer import RecordingWriter

__all__ = [
    "IMAGE_KINDS",
    "POSE_TOPICS",
    "DamagedMessageError",
    "DepthStream",
    "JoinedFiles",
    "McapFile",
    "MessageFile",
    "RecordingReader",
    "RecordingWriter",
    "Ros1File",
    "SeveralTopicsError",
    "SqliteFile",
    "Topic",
    "camera_info_topic",
    "encode_poses",
]
