"""Depth and people in one MCAP file for RViz, Foxglove and other ROS 2 tools.

Depth and calibration are written by `posepipe.recording.RecordingWriter`, so the file is also a source of frames.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from posepipe.body import BodyDefinition
from posepipe.io.files import check_writable, disk_errors
from posepipe.recording import POSE_TOPICS, RecordingWriter, encode_poses
from posepipe.results import FrameResult


class PoseRecordingSink:
    """Writes frames and their people; a `FrameSink`. Every frame is one chunk and is flushed.

    Parameters
    ----------
    path : the file to write; an older one is replaced at the first frame
    body : bones to draw
    metadata : free text about the origin of the frames, such as source and model
    start_time_ns : sensor time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Raises
    ------
    PosepipeError
        If the file cannot be written.
    ValueError
        If frames differ in size or camera: a recording has one camera.
    """

    def __init__(
        self, path: str | Path, body: BodyDefinition, metadata: dict[str, str] | None = None, start_time_ns: int = 0
    ) -> None:
        self.path = Path(path)
        self._body = body
        self._metadata = metadata
        self._start_time_ns = start_time_ns
        self._writer: RecordingWriter | None = None

    def write(self, result: FrameResult) -> None:
        """Append one frame and its people."""
        frame = result.frame
        if self._writer is None:
            with disk_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            height, width = frame.depth_m.shape
            self._writer = RecordingWriter(
                self.path,
                frame.intrinsics,
                height,
                width,
                metadata=self._metadata,
                start_time_ns=self._start_time_ns,
                further_topics=POSE_TOPICS,
            )
        stamp_ns = self._writer.stamp_ns(frame)
        poses = encode_poses(result.people, self._body, result.world, stamp_ns, self._writer.frame_id)
        self._writer.write(frame, poses)

    def close(self) -> None:
        """Write the index and close the file; without frames there is no file."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> PoseRecordingSink:
        check_writable(self.path)  # before other sinks replace older files
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
