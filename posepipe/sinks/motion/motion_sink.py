"""The sink of all files of motion: one file per person, written when the run ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

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
    frames: int
    frame_s: float
    axes: str  #: "world" or "camera"
    left_out: int = 0  #: frames with the person whose times are not after those before

    def __str__(self) -> str:
        start = f", from frame {self.first_frame} on" if self.first_frame else ""
        start += told_left_out(self.left_out)
        frames = counted(self.frames, "frame")
        return f"person {self.person}: {frames} of {self.frame_s * 1000:.1f} ms{start}, {self.axes} axes -> {self.path}"


class MotionSink:
    """Writes one file of motion per person; a `FrameSink`.

    Frames are even in time and people complete only at the end of the run. Until then joints are kept in memory and
    no file is written. After a kill ``posepipe convert`` makes the same files from the run's results file.

    Parameters
    ----------
    path : the file for a single person; several people get ``NAME-ID.SUFFIX`` each
    body : joints and parents
    encode : makes the content of one person's file; raises ValueError where the format cannot hold it
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
        encode: Callable[[PersonMotion], bytes],
        whole: bool = False,
    ) -> None:
        self.path = Path(path)
        self.written: tuple[WrittenMotion, ...] = ()  #: filled when the sink is closed
        self.has_people = False  #: whether any person was found
        self._encode = encode
        self._whole = whole
        self._collector = MotionCollector(body)
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
        motion = self._collector.motion(person)
        replace_file(path, self._encode(motion))
        about = motion.first_frame, len(motion.joints_m), motion.frame_s, motion.axes, motion.left_out
        self.written += (WrittenMotion(path, person, *about),)

    def __enter__(self) -> MotionSink:
        self._reserved.enter_context(reserved(self.path))  # an error at the end of a long run would lose its results
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._reserved:
            if error is None or not self._whole:
                self.close()
