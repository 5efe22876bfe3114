"""Datasets: folders of labelled recordings with a manifest, ``dataset.json``.

One recording has one camera. Recordings of a dataset may differ in camera and image size.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import overload

import numpy as np
from mcap.writer import MCAP0_MAGIC

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.camera.extrinsics_file import KEY as EXTRINSICS_KEY
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError, counted
from posepipe.frames import LabelledFrame
from posepipe.io.files import disk_errors, open_regular, read_json_object, replace_file
from posepipe.recording import RecordingReader

MANIFEST_NAME = "dataset.json"
FORMAT = "posepipe-dataset"
VERSION = 1

_MAX_OPEN_RECORDINGS = 16  # random access keeps at most this many files open


@dataclass(frozen=True, slots=True)
class RecordingEntry:
    """One recording in the manifest of a dataset."""

    file: str  #: name inside the folder of the dataset
    frames: int  #: number of frames
    sha256: str | None = None
    scene: str | None = None  #: scene of a sequence, "" = unknown; None = single frames, not a sequence
    extrinsics: Extrinsics | None = None  #: pose of the camera, of scenes that several cameras see; None = unknown

    @classmethod
    def describe(
        cls, path: str | Path, scene: str | None = None, extrinsics: Extrinsics | None = None
    ) -> RecordingEntry:
        """Create the entry of a finished recording: counts its frames and hashes the file."""
        path = Path(path)
        with RecordingReader(path) as reader:
            return cls(path.name, reader.frame_count, _sha256(path), scene, extrinsics)

    def to_dict(self, first_frame: int) -> dict:
        """Convert to plain data, ready for JSON; `scene` only for a sequence, the camera's pose where it is known."""
        row = {"file": self.file, "first_frame": first_frame, "frames": self.frames, "sha256": self.sha256}
        if self.scene is not None:
            row["scene"] = self.scene
        return row if self.extrinsics is None else {**row, EXTRINSICS_KEY: self.extrinsics.matrix.tolist()}


def _sha256(path: Path) -> str:
    with open_regular(path) as stream, disk_errors(path):
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_manifest(
    folder: str | Path,
    body: BodyDefinition,
    recipe: dict,
    recordings: Sequence[RecordingEntry],
    source_revision: str = "",
) -> None:
    """Write ``dataset.json``, replacing an older one atomically.

    Parameters
    ----------
    folder : the dataset
    body : BodyDefinition of all frames
    recipe : plain data that reproduces the frames, including seed and sensor
    recordings : in frame order
    source_revision : revision of the program that made the frames
    """
    starts = [0, *accumulate(entry.frames for entry in recordings)]
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "body": body.to_dict(),
        "recipe": recipe,
        "source_revision": source_revision,
        "frames": starts[-1],
        "recordings": [entry.to_dict(first) for entry, first in zip(recordings, starts, strict=False)],
    }
    replace_file(Path(folder) / MANIFEST_NAME, json.dumps(manifest, indent=1).encode() + b"\n")


def recording_name(number: int) -> str:
    """File name of the ``number``-th recording of a dataset."""
    return f"frames-{number:05d}.mcap"


def is_recording(path: str | Path) -> bool:
    """Whether a file is an MCAP recording, by its first bytes."""
    path = Path(path)
    if not path.is_file():
        return False
    with open_regular(path) as file, disk_errors(path):
        return file.read(len(MCAP0_MAGIC)) == MCAP0_MAGIC


class Dataset:
    """Labelled frames in order, by iteration or index. `Dataset.open` creates one."""

    def __init__(
        self,
        folder: Path,
        body: BodyDefinition,
        recipe: dict,
        recordings: tuple[RecordingEntry, ...],
        source_revision: str = "",
    ) -> None:
        self.folder = folder
        self.body = body
        self.recipe = recipe
        self.recordings = recordings
        self.source_revision = source_revision
        self._starts = np.array([0, *accumulate(entry.frames for entry in recordings)])
        self._readers: OrderedDict[int, RecordingReader] = OrderedDict()
        self._single_recording = False  #: opened by the path of a recording, without a manifest

    def __getstate__(self) -> dict[str, object]:
        """Leave out the open recordings: another process opens them again."""
        return {**self.__dict__, "_readers": OrderedDict()}

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Open the folder of a dataset, its ``dataset.json``, or a single labelled recording.

        Raises
        ------
        FormatError
            When nothing is there, the manifest is missing or wrong, or a listed recording is missing.
        """
        path = Path(path)
        if not path.exists():
            raise FormatError(path, "no such file or folder")
        if is_recording(path):
            return cls._of_recording(path)
        manifest_path = path if path.name == MANIFEST_NAME else path / MANIFEST_NAME
        if not manifest_path.is_file():
            raise FormatError(path, f"no {MANIFEST_NAME} there; wanted a folder made by `posepipe synth`")
        dataset = cls(manifest_path.parent, *_read_manifest(manifest_path))
        dataset._check_files(manifest_path)
        return dataset

    @classmethod
    def _of_recording(cls, path: Path) -> Dataset:
        with RecordingReader(path) as reader:
            if reader.body is None or not reader.labelled:
                raise FormatError(path, "a recording without truth; wanted a labelled one, as `posepipe synth` writes")
            dataset = cls(path.parent, reader.body, {}, (RecordingEntry.describe(path),))
        dataset._single_recording = True
        return dataset

    def _check_files(self, manifest_path: Path) -> None:
        missing = [entry.file for entry in self.recordings if not (self.folder / entry.file).is_file()]
        if missing:
            count = f"lacks {len(missing)} of {counted(len(self.recordings), 'recording')}"
            raise FormatError(manifest_path, f"{count}, {missing[0]} first; make them again")

    @property
    def name(self) -> str:
        """Path of the dataset, for messages."""
        return str(self.folder)

    @property
    def content(self) -> str:
        """Text that identifies the frames: file, number of frames and hash of every recording."""
        return "".join(f"{entry.file} {entry.frames} {entry.sha256}\n" for entry in self.recordings)

    @property
    def has_parts(self) -> bool:
        """Whether pixels are labelled with body parts: always, in a dataset."""
        return True

    @property
    def sequences(self) -> tuple[SequenceRows, ...]:
        """Recordings that are one sequence each. A recording outside any dataset is a sequence, too."""
        found = []
        for first, entry in zip(self._starts.tolist(), self.recordings, strict=False):
            scene = _listed_scene(self.folder / entry.file) if self._single_recording else entry.scene
            if scene is not None:
                found.append(
                    SequenceRows(
                        Path(entry.file).stem, range(first, first + entry.frames), scene, extrinsics=entry.extrinsics
                    )
                )
        return tuple(found)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __iter__(self) -> Iterator[LabelledFrame]:
        return self.frames()

    @property
    def timestamps_s(self) -> np.ndarray:
        """Time of every frame, float64 (N,), seconds since the first frame of its recording."""
        return np.concatenate([self._reader(recording).timestamps_s for recording in range(len(self.recordings))])

    def frames(self, start: int = 0, stop: int | None = None, step: int = 1) -> Iterator[LabelledFrame]:
        """Iterate over frames ``start:stop:step``, with the meaning of a slice."""
        for index in range(*slice(start, stop, step).indices(len(self))):
            yield self[index]

    @overload
    def __getitem__(self, index: int) -> LabelledFrame: ...
    @overload
    def __getitem__(self, index: slice) -> FrameSequence: ...
    def __getitem__(self, index: int | slice) -> LabelledFrame | FrameSequence:
        """Frame ``index``, whose `DepthFrame.index` is that number, or a view of the frames of a slice."""
        if isinstance(index, slice):
            return FrameSequence([self], range(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.folder}: frame {index} of {len(self)}")
        index %= len(self)
        recording = int(np.searchsorted(self._starts, index, side="right")) - 1
        frame = self._reader(recording)[index - int(self._starts[recording])]
        assert isinstance(frame, LabelledFrame)
        return frame

    def _reader(self, recording: int) -> RecordingReader:
        if recording in self._readers:
            self._readers.move_to_end(recording)
            return self._readers[recording]
        reader = self._open_reader(recording)
        self._readers[recording] = reader
        if len(self._readers) > _MAX_OPEN_RECORDINGS:
            self._readers.popitem(last=False)[1].close()
        return reader

    def _open_reader(self, recording: int) -> RecordingReader:
        entry = self.recordings[recording]
        reader = RecordingReader(self.folder / entry.file, first_index=int(self._starts[recording]))
        if reader.body == self.body and reader.labelled and reader.frame_count == entry.frames:
            return reader
        reader.close()
        raise FormatError(
            reader.path,
            f"wanted {counted(entry.frames, 'labelled frame')} of body {self.body.name!r}, got "
            f"{counted(len(reader), 'labelled frame' if reader.labelled else 'unlabelled frame')}"
            + (f" of body {reader.body.name!r}" if reader.body else ""),
        )

    def close(self) -> None:
        """Close all recordings. The dataset opens them again on demand."""
        while self._readers:
            self._readers.popitem()[1].close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_datasets(paths: Sequence[str | Path]) -> FrameSequence:
    """Open datasets as one sequence of frames.

    Raises
    ------
    FormatError
        When a dataset is missing, damaged or empty.
    ValueError
        When the bodies differ.

    Warns
    -----
    UserWarning
        When a dataset has fewer frames than its recipe asks for.
    """
    datasets = [Dataset.open(path) for path in paths]
    frames = FrameSequence(datasets)
    if len(frames) == 0:
        raise FormatError(paths[0], "the dataset has no frames yet; let `posepipe synth` finish")
    for dataset in datasets:
        wanted = dataset.recipe.get("frames")
        if isinstance(wanted, int) and len(dataset) < wanted:
            warnings.warn(
                f"{dataset.name}: has {len(dataset)} of the {wanted} frames of its recipe, and these are used; let"
                " `posepipe synth` finish for all",
                stacklevel=2,
            )
    return frames


def _read_manifest(path: Path) -> tuple[BodyDefinition, dict, tuple[RecordingEntry, ...], str]:
    manifest = read_json_object(path)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise FormatError(
            path,
            f"wanted format {FORMAT!r} version {VERSION}, "
            f"got {manifest.get('format')!r} version {manifest.get('version')!r}",
        )
    try:
        return _manifest_fields(manifest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(path, f"damaged manifest ({error!r})") from error


def _listed_scene(path: Path) -> str | None:
    """Scene of a recording in the manifest beside it; "" where no manifest lists the recording."""
    manifest_path = path.with_name(MANIFEST_NAME)
    if not manifest_path.is_file():
        return ""
    _, _, recordings, _ = _read_manifest(manifest_path)
    return {entry.file: entry.scene for entry in recordings}.get(path.name, "")


def _manifest_fields(manifest: dict) -> tuple[BodyDefinition, dict, tuple[RecordingEntry, ...], str]:
    recordings = tuple(_entry(row) for row in manifest["recordings"])
    total = sum(entry.frames for entry in recordings)
    if total != manifest["frames"]:
        raise ValueError(f"frames: {manifest['frames']}, but the recordings have {total}")
    body = BodyDefinition.from_dict(manifest["body"])
    return body, dict(manifest["recipe"]), recordings, str(manifest.get("source_revision", ""))


def _entry(row: dict) -> RecordingEntry:
    file, frames = row["file"], row["frames"]
    if not isinstance(file, str) or Path(file).name != file:
        raise ValueError(f"recording {file!r}: wanted a file name inside the dataset's folder")
    if not isinstance(frames, int) or frames < 1:
        raise ValueError(f"recording {file!r}: frames must be a positive number, got {frames!r}")
    scene = row.get("scene")
    if not (scene is None or isinstance(scene, str)):
        raise ValueError(f"recording {file!r}: scene must be a name, got {scene!r}")
    matrix = row.get(EXTRINSICS_KEY)
    pose = None if matrix is None else Extrinsics.of_matrix(matrix)
    return RecordingEntry(file, frames, row.get("sha256"), scene, pose)
