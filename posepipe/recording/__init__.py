"""Depth recordings: MCAP files that ROS tools and Foxglove open, and that survive a killed writer.

A chunk closes at every frame, so that whatever was complete when the power went can be read back.
docs/formats.md lists topics, encodings and the joints message.
"""

from posepipe.recording.reader import RecordingReader
from posepipe.recording.writer import RecordingWriter

__all__ = ["RecordingReader", "RecordingWriter"]
