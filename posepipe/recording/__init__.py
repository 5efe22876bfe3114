"""Depth recordings: MCAP files that ROS tools and Foxglove open, and that survive a killed writer.

A chunk closes at every frame, so that whatever was complete when the power went can be read back.
docs/formats.md lists topics, encodings and the joints message. Bags of ROS 1 and databases of ROS 2 are read alike:
a `MessageFile` knows where the messages of a format are, a `DepthStream` makes depth of them.
"""

from posepipe.recording.depth_stream import DepthStream
from posepipe.recording.mcap_file import McapFile
from posepipe.recording.message_file import JoinedFiles, MessageFile
from posepipe.recording.pose_messages import POSE_TOPICS, encode_poses
from posepipe.recording.reader import RecordingReader
from posepipe.recording.ros1_file import Ros1File
from posepipe.recording.sqlite_file import SqliteFile
from posepipe.recording.writer import RecordingWriter

__all__ = [
    "POSE_TOPICS",
    "DepthStream",
    "JoinedFiles",
    "McapFile",
    "MessageFile",
    "RecordingReader",
    "RecordingWriter",
    "Ros1File",
    "SqliteFile",
    "encode_poses",
]
