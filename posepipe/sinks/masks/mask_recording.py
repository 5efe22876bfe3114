"""Labels of every pixel beside the depth, in one MCAP file for ROS 2 tools and Foxglove."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from posepipe.body import BodyDefinition
from posepipe.io.files import check_writable
from posepipe.recording import MASK_TOPICS, RecordingWriter, encode_masks
from posepipe.results import FrameResult


class MaskRecording:
    """Writes frames and their labels; a `FrameSink`. Every frame is one chunk and is flushed.

    Parameters
    ----------
    path : the file to write; an older one is replaced at the first frame
    body : names of the parts, for the file's metadata
    metadata : further text about the origin of the frames
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
        self._metadata = {**(metadata or {}), "parts": " ".join(body.parts)}
        self._start_time_ns = start_time_ns
        self._writer: RecordingWriter | None = None

    def write(self, result: FrameResult) -> None:
        """Append one frame and its labels."""
        frame = result.frame
        if self._writer is None:
            height, width = frame.depth_m.shape
            self._writer = RecordingWriter(
                self.path,
                frame.intrinsics,
                height,
                width,
                metadata=self._metadata,
                start_time_ns=self._start_time_ns,
                further_topics=MASK_TOPICS,
            )
        stamp_ns = self._writer.stamp_ns(frame)
        self._writer.write(frame, encode_masks(result.person_ids(), result.parts, stamp_ns, self._writer.frame_id))

    def close(self) -> None:
        """Write the index and close the file; without frames there is no file."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        check_writable(self.path)  # before other sinks replace older files
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
