"""Read depth frames, with or without ground truth, from MCAP recordings of posepipe or of other ROS 2 programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.errors import FormatError
from posepipe.frames import BodyTruth, DepthFrame, LabelledFrame
from posepipe.recording.containers.mcap_file import McapFile
from posepipe.recording.depth_stream import DepthStream
from posepipe.recording.ros import messages as ros
from posepipe.recording.writer import BODY_ATTACHMENT, USER_METADATA

_TRUTH = (ros.PARTS_TOPIC, ros.PEOPLE_TOPIC, ros.JOINTS_TOPIC)


class RecordingReader:
    """Frames of one recording in order of time, by iteration or index; a context manager.

    A cut recording yields its complete frames; see `complete` and `missing`.

    Parameters
    ----------
    path : the MCAP file
    intrinsics : replaces the file's camera_info
    depth_topic : depth stream to read; None = the only one
    first_index : `DepthFrame.index` of the first frame

    Raises
    ------
    FormatError
        When the file is not a recording or has no complete frame; while reading, when a frame is damaged.
    """

    def __init__(
        self,
        path: str | Path,
        intrinsics: Intrinsics | None = None,
        depth_topic: str | None = None,
        first_index: int = 0,
    ) -> None:
        self.path = Path(path)
        self._first_index = first_index
        self._file = McapFile(path)
        try:
            self._depth = DepthStream(self._file, depth_topic, intrinsics)
            self.labelled = all(topic in self._file.topics for topic in _TRUTH)
            self.metadata = self._file.metadata.get(USER_METADATA, {})  #: given to the writer
            self.body = self._read_body()
            self.intrinsics, self.shape = self._depth.intrinsics, self._depth.shape
            self._rows = self._match_truth()
        except BaseException:
            self._file.close()
            raise
        given = self._file.start_time_ns
        self.start_time_ns = int(self._depth.times_ns[0]) if given is None else given  #: time of second 0
        times_ns = self._depth.times_ns[self._rows[:, 0]]
        self.timestamps_s = (times_ns - self.start_time_ns) / 1e9  #: float64 (N,), seconds since `start_time_ns`

    @property
    def complete(self) -> bool:
        """Whether the writer closed the file."""
        return self._file.complete

    @property
    def missing(self) -> str:
        """Description of what a cut recording lacks; "" for a complete one."""
        return self._file.missing(self.frame_count)

    @property
    def frame_count(self) -> int:
        """Number of complete frames."""
        return len(self._rows)

    def __len__(self) -> int:
        return self.frame_count

    def __iter__(self) -> Iterator[DepthFrame | LabelledFrame]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> DepthFrame | LabelledFrame:
        """Frame ``index``; negative ones count from the end."""
        count = self.frame_count
        if not -count <= index < count:
            raise IndexError(f"{self.path}: frame {index} of {count}")
        index %= count
        row, *truth = map(int, self._rows[index])
        time_s = float(self.timestamps_s[index])
        up = self._depth.up(row)
        depth = DepthFrame(self._depth[row], self.intrinsics, time_s, self._first_index + index, up)
        return self._with_truth(depth, truth) if self.labelled else depth

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> RecordingReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _with_truth(self, depth: DepthFrame, indices: list[int]) -> LabelledFrame:
        from rosbags.serde import SerdeError

        *indices, bodies_index = indices
        data = [self._file.message(topic, index) for topic, index in zip(_TRUTH, indices, strict=True)]
        with self._file.errors_of(ros.JOINTS_TOPIC, indices[-1]):
            parts, people = (ros.decode_image(image)[0] for image in data[:2])
            try:
                names, joints_m, visible = ros.decode_joints(data[2])
            except SerdeError as error:
                raise ValueError(str(error)) from error
            if self.body is None or names != self.body.joints or not parts.shape == people.shape == self.shape:
                raise ValueError("the truth does not fit the recording's body or the depth image")
        bodies = self._bodies(bodies_index, joints_m) if bodies_index >= 0 else None
        with self._file.errors_of(ros.JOINTS_TOPIC, indices[-1]):
            return LabelledFrame(depth, parts, people, joints_m, visible, bodies)

    def _bodies(self, index: int, joints_m: np.ndarray) -> BodyTruth:
        from rosbags.serde import SerdeError

        data = self._file.message(ros.BODIES_TOPIC, index)
        with self._file.errors_of(ros.BODIES_TOPIC, index):
            try:
                names, bodies = ros.decode_bodies(data)
            except SerdeError as error:
                raise ValueError(str(error)) from error
            if self.body is None or names != self.body.joints or len(bodies.rotations_xyzw) != len(joints_m):
                raise ValueError("the bodies do not fit the recording's body or the number of people")
        return bodies

    def _match_truth(self) -> np.ndarray:
        """Message indices of depth, parts, people, joints and bodies of every complete frame: int (N, 1 or 5).

        The messages of a frame have the same time. The order separates frames of equal time. -1 = no bodies: older
        recordings have none.
        """
        depth = list(_numbered(self._depth.times_ns))
        if not self.labelled:
            return np.arange(len(depth))[:, None]
        if self._depth.undistorted:
            raise FormatError(
                self.path, "a labelled recording with lens distortion; its labels do not fit the undistorted image"
            )
        topics = (*_TRUTH, ros.BODIES_TOPIC)
        times_ns = [self._file.times_ns(topic) if topic in self._file.topics else np.zeros(0, int) for topic in topics]
        truth = [{name: i for i, name in enumerate(_numbered(each))} for each in times_ns]
        rows = [(i, *(indices.get(name, -1) for indices in truth)) for i, name in enumerate(depth)]
        complete = [row for row in rows if min(row[:-1]) >= 0]
        if not complete:
            raise FormatError(self.path, "no complete labelled frame in the recording")
        return np.array(complete)

    def _read_body(self) -> BodyDefinition | None:
        content = self._file.attachments.get(BODY_ATTACHMENT)
        if content is None:
            if self.labelled:
                raise FormatError(self.path, f"a labelled recording without its attachment {BODY_ATTACHMENT}")
            return None
        try:
            return BodyDefinition.from_dict(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(self.path, f"attachment {BODY_ATTACHMENT} is no body definition ({error!r})") from error


def _numbered(times_ns: np.ndarray) -> Iterator[tuple[int, int]]:
    """Each time, with the number of equal times before it."""
    seen: Counter[int] = Counter()
    for time in times_ns.tolist():
        yield time, seen[time]
        seen[time] += 1
