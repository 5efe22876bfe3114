"""Frames of sources, each with the labels of its people."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.labelled.labelled_pack import pack_sequences
from posepipe.evaluation.people.person_labels import FrameLabels, read_person_labels
from posepipe.frames import DepthFrame
from posepipe.io.npz import read_npz
from posepipe.sources import FrameSource, open_source
from posepipe.sources.formats.dataset_folder import DatasetFolder
from posepipe.sources.formats.npz_pack import NpzPack


@dataclass(frozen=True, slots=True, eq=False)
class PeopleFrames:
    """Sources with the labels of some or all of their frames, in order."""

    sources: tuple[FrameSource, ...]
    labels: tuple[Mapping[int, FrameLabels], ...]  #: of each source, by the row of the frame
    sequences: tuple[tuple[range, ...], ...]  #: of each source, rows of frames that follow one another

    @classmethod
    def labelled(
        cls, paths: Sequence[str | Path], labels: str | Path, camera: str | None = None, topic: str | None = None
    ) -> PeopleFrames:
        """Open sources and the file with their labels.

        A line names its source by the file's or folder's name without suffix, and the frame by its row or by the array
        ``index`` of an NPZ pack. Sources are opened with ``camera`` and ``topic``, as by `open_source`.

        Raises
        ------
        FormatError
            When a source has no labels, or labels name frames that it does not have.
        """
        _check_names(paths)
        known = read_person_labels(labels)
        opened = []
        for path in map(Path, paths):
            own = known.get(_name(path))
            if own is None:
                raise FormatError(labels, f"has no labels of {_name(path)!r}; it has {', '.join(sorted(known))}")
            source = _open(path, camera, topic)
            rows = _rows(path, source)
            if absent := sorted(set(own) - set(rows)):
                raise FormatError(labels, f"labels frame {absent[0]} of {_name(path)!r}; {path} has no such frame")
            opened.append((source, {rows[index]: each for index, each in own.items()}, _sequences(path, source)))
        return cls(*zip(*opened, strict=True))

    @classmethod
    def without_people(
        cls, paths: Sequence[str | Path], camera: str | None = None, topic: str | None = None
    ) -> PeopleFrames:
        """Open sources that show nobody, as `labelled` does. Raises PosepipeError when two have the same name."""
        _check_names(paths)
        opened = []
        for path in map(Path, paths):
            source = _open(path, camera, topic)
            labels = dict.fromkeys(range(_count(source)), FrameLabels(place=_name(path)))
            opened.append((source, labels, _sequences(path, source)))
        return cls(*zip(*opened, strict=True))

    def __len__(self) -> int:
        """Number of labelled frames."""
        return sum(map(len, self.labels))

    def unplayable(self) -> str | None:
        """Name of the first source whose frames do not follow one another; None when all can be played."""
        return next((source.name for source, own in zip(self.sources, self.sequences, strict=True) if not own), None)

    def single_frames(self) -> Iterator[tuple[str, DepthFrame, FrameLabels]]:
        """Name of the source, frame and labels of every labelled frame."""
        for source, labels in zip(self.sources, self.labels, strict=True):
            for row in sorted(labels):
                yield _name(Path(source.name)), source[row], labels[row]

    def played(self) -> Iterator[tuple[str, Iterator[tuple[DepthFrame, FrameLabels | None]]]]:
        """Name of the source, and all frames up to the last labelled one, of every sequence; some have no labels."""
        for source, labels, sequences in zip(self.sources, self.labels, self.sequences, strict=True):
            for rows in sequences:
                own = [row for row in rows if row in labels]
                if own:
                    played = range(rows.start, own[-1] + 1)
                    yield _name(Path(source.name)), ((source[row], labels.get(row)) for row in played)

    @property
    def identity(self) -> str:
        """Identifies depth, cameras and labels: the first digits of a hash."""
        content = hashlib.sha256()
        for name, frame, labels in self.single_frames():
            millimetres = np.rint(frame.depth_m * 1000).astype("<u2")
            about = f"{name} {astuple(frame.intrinsics)} {astuple(labels)} {millimetres.shape}\n"
            content.update(about.encode("utf-8", "surrogatepass"))  # of names that are no UTF-8
            content.update(millimetres.tobytes())
        return content.hexdigest()[:16]


def _name(path: Path) -> str:
    """Name by which labels call a source."""
    return path.absolute().stem


def _check_names(paths: Sequence[str | Path]) -> None:
    names = [_name(Path(path)) for path in paths]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise PosepipeError(
            f"two sources are named {twice!r}; labels and figures tell sources apart by name: rename one"
        )


def _open(path: Path, camera: str | None, topic: str | None) -> FrameSource:
    source = open_source(path, camera, topic)
    if source.frame_count is None:
        raise PosepipeError(f"{path}: wanted a file or a folder of frames, got a camera")
    return source


def _count(source: FrameSource) -> int:
    return source.frame_count or 0


def _rows(path: Path, source: FrameSource) -> dict[int, int]:
    """Row of each frame by the number that labels give it: ``index`` of an NPZ pack, or else the row."""
    count = _count(source)
    arrays = read_npz(path, "an NPZ pack", ("index",)) if isinstance(source, NpzPack) else {}
    numbers = arrays.get("index", np.arange(count))
    if numbers.dtype.kind not in "iu" or numbers.shape != (count,) or len(np.unique(numbers)) < count:
        raise FormatError(path, f"index: wanted {count} different whole numbers, got {numbers.dtype} {numbers.shape}")
    return {number: row for row, number in enumerate(numbers.tolist())}


def _sequences(path: Path, source: FrameSource) -> tuple[range, ...]:
    """Rows of frames that follow one another; frames of datasets and of packs without names or times do not."""
    if isinstance(source, NpzPack):
        return tuple(each.rows for each in pack_sequences(path, _count(source)))
    return () if isinstance(source, DatasetFolder) else (range(_count(source)),)
