"""A recording of depth and of who was found in it: one MCAP file for RViz, Foxglove and other ROS 2 tools.

Depth and calibration are as `posepipe.recording.RecordingWriter` writes them, so the file is a source as well.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from posepipe.body import BodyDefinition
from posepipe.io.files import disk_errors
from posepipe.recording import POSE_TOPICS, RecordingWriter, encode_poses
from posepipe.results import FrameResult


class PoseRecordingSink:
    """Writes frames and their people; a `FrameSink`. Every frame closes a chunk and is flushed.

    Parameters
    ----------
    path : the file to write; an older one is replaced when the first frame comes
    body : whose bones are drawn
    metadata : free text about where the frames come from, such as source and model
    start_time_ns : sensor time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Raises
    ------
    PosepipeError
        When the file cannot be written.
    ValueError
        For frames of different sizes or cameras: a recording is of one.
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
        """Append one frame, with who is in it."""
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
        """Write the index and close; without a frame there is no file."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> PoseRecordingSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
