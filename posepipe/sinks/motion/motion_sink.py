"""The sink of all files of motion: one file per person, written when the run ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from posepipe.body import BodyDefinition
from posepipe.errors import counted
from posepipe.io.files import replace_file, reserved
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.files.person_files import told_left_out, write_each
from posepipe.sinks.motion.person_motion import MotionCollector, PersonMotion


@dataclass(frozen=True, slots=True)
class WrittenMotion:
    """Summary of one file; ``str`` gives it as a line of text."""

    path: Path
    person: int
    first_frame: int  #: frames from the start of the run to the start of the file
    first_s: float  #: time of the first frame with the person, as in the results
    frames: int
    frame_s: float
    axes: str  #: "world" or "camera"
    left_out: int = 0  #: frames with the person whose times are not after those before
    rigid_error_m: float | None = None  #: mean distance of rigid bones from the joints found; None = joints as found

    def __str__(self) -> str:
        start = f", from {self.first_s:.3f} s on" if self.first_frame else ""
        start += told_left_out(self.left_out)
        bones = "" if self.rigid_error_m is None else _told_error(self.rigid_error_m)
        frames = f"{counted(self.frames, 'frame')} of {self.frame_s * 1000:.1f} ms"
        return f"person {self.person}: {frames}{start}, {self.axes} axes{bones} -> {self.path}"


def _told_error(error_m: float) -> str:
    return f", rigid bones on average {error_m * 100:.1f} cm from the joints found"


class MotionFormat(NamedTuple):
    """What makes a file of motion."""

    encode: Callable[[PersonMotion], bytes]  #: content of one person's file; ValueError where the format cannot hold it
    rigid_bones: bool  #: instead of joints as found


class MotionSink:
    """Writes one file of motion per person; a `FrameSink`.

    Frames are even in time, bones of constant length, and people complete only at the end of the run. Until then joints
    are kept in memory and no file is written. After a kill ``posepipe convert`` makes the same files from the run's
    results file.

    Parameters
    ----------
    path : the file for a single person; several people get ``NAME-ID.SUFFIX`` each
    body : joints and parents
    format : MotionFormat
    whole : write nothing when the context ends with an error, instead of what came before it

    Raises
    ------
    PosepipeError
        If the file cannot be written, or another program writes it; checked when the sink is opened.
    """

    def __init__(
        self,
        path: str | Path,
        body: BodyDefinition,
        format: MotionFormat,
        whole: bool = False,
    ) -> None:
        self.path = Path(path)
        self.written: tuple[WrittenMotion, ...] = ()  #: filled when the sink is closed
        self.has_people = False  #: whether any person was found
        self._format = format
        self._whole = whole
        self._collector = MotionCollector(body, format.rigid_bones)
        self._closed = False
        self._reserved = ExitStack()

    def write(self, result: FrameResult) -> None:
        """Keep the joints of one frame."""
        self.write_row(ResultRow.of(result))

    def write_row(self, row: ResultRow) -> None:
        """Keep the joints of a frame read from a file. Raises ValueError for a joint that the body does not have."""
        self._collector.add(row)
        self.has_people = self.has_people or any(track.pose.joints for track in row.people)

    def close(self) -> None:
        """Write the files. Each replaces an older file when it is complete; without people there is no file."""
        if not self._closed:
            self._closed = True
            write_each(self.path, self._collector.people(), self._write_person)

    def _write_person(self, person: int, path: Path) -> None:
        motion = self._collector.motion(person, path.name)
        replace_file(path, self._format.encode(motion))
        self.written += (
            WrittenMotion(
                path=path,
                person=person,
                first_frame=motion.first_frame,
                first_s=motion.first_s,
                frames=len(motion.joints_m),
                frame_s=motion.frame_s,
                axes=motion.axes,
                left_out=motion.left_out,
                rigid_error_m=motion.rigid_error_m if self._format.rigid_bones else None,
            ),
        )

    def __enter__(self) -> MotionSink:
        self._reserved.enter_context(reserved(self.path))  # an error at the end of a long run would lose its results
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._reserved:
            if error is None or not self._whole:
                self.close()
