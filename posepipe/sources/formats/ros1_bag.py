"""ROS 1 bags as sources: those of rosbag, and of the RealSense SDK up to 2.57."""

from __future__ import annotations

from pathlib import Path

from posepipe.camera.camera_file import CameraFile
from posepipe.recording import Ros1File
from posepipe.sources.formats.recording_file import MessageSource

BAG_MAGIC = b"#ROSBAG V"


class Ros1Bag(MessageSource):
    """Depth frames of a bag of version 2.0, complete or cut (``.bag.active``); parameters as for `MessageSource`."""

    def __init__(
        self,
        path: str | Path,
        camera: CameraFile | None = None,
        topic: str | None = None,
        colour: str | None = None,
    ) -> None:
        super().__init__(str(path), Ros1File(path), camera, topic, colour)
