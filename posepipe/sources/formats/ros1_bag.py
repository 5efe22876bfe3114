"""ROS 1 bags as sources: those of rosbag, and of the RealSense SDK up to 2.57."""

from __future__ import annotations

from pathlib import Path

from posepipe.recording import MessageFile, Ros1File
from posepipe.sources.formats.recording_file import MessageSource

BAG_MAGIC = b"#ROSBAG V"


class Ros1Bag(MessageSource):
    """Depth frames of a bag of version 2.0, complete or cut (``.bag.active``)."""

    def _open(self, path: Path) -> MessageFile:
        return Ros1File(path)
