"""Where depth frames come from. A format is told from what a file or folder holds, never from failing to read it.

To add a format: one file with a class that fits `FrameSource`, one line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posepipe.dataset import MANIFEST_NAME
from posepipe.disk import disk_errors
from posepipe.errors import SourceError
from posepipe.sources.camera_file import CAMERA_FILE_NAME, CameraFile, find_camera
from posepipe.sources.dataset_folder import DatasetFolder
from posepipe.sources.frame_source import FrameSource
from posepipe.sources.npz_pack import NpzPack
from posepipe.sources.png_folder import PngFolder
from posepipe.sources.recording import RecordingSource
from posepipe.sources.tum_folder import LIST_NAME, TumFolder

__all__ = ["FORMATS", "FrameSource", "open_source"]


@dataclass(frozen=True)
class SourceFormat:
    """One line of the table of formats."""

    description: str
    matches: Callable[[Path], bool]
    open: Callable[..., FrameSource]  #: called with the path, the given `CameraFile` or None, and the topic
    has_topics: bool = False  #: a file may hold several depth streams


def _folder_with(*patterns: str) -> Callable[[Path], bool]:
    return lambda path: path.is_dir() and any(next(path.glob(pattern), None) is not None for pattern in patterns)


def _starts_with(*magics: bytes) -> Callable[[Path], bool]:
    return lambda path: path.is_file() and _first_bytes(path).startswith(magics)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(16)


FORMATS: tuple[SourceFormat, ...] = (
    SourceFormat(f"a dataset folder ({MANIFEST_NAME})", _folder_with(MANIFEST_NAME), DatasetFolder),
    SourceFormat(f"a TUM RGB-D folder ({LIST_NAME})", _folder_with(LIST_NAME), TumFolder),
    SourceFormat("a folder of 16-bit PNGs", _folder_with(CAMERA_FILE_NAME, "*.[pP][nN][gG]"), PngFolder),
    SourceFormat("an MCAP recording", _starts_with(b"\x89MCAP0\r\n"), RecordingSource, has_topics=True),
    SourceFormat("an NPZ pack", _starts_with(b"PK\x03\x04", b"PK\x05\x06"), NpzPack),
)
"""Tried from the top: a folder that holds several kinds is what stands first."""


def open_source(source: str | Path, camera: str | Path | None = None, topic: str | None = None) -> FrameSource:
    """Open a file or folder of depth frames.

    Parameters
    ----------
    camera : a preset's name or a ``camera.json``, to take instead of the source's own calibration
    topic : which depth stream, where a file holds several

    Raises
    ------
    SourceError
        When nothing is there, or nothing that can be read.
    FormatError
        When the format is known and the content is not what it promises.
    """
    path = Path(source)
    with disk_errors(path):
        if not path.exists():
            raise SourceError(source, "no such file or folder")
        found = next((kind for kind in FORMATS if kind.matches(path)), None)
    if found is None:
        what = _describe_unknown(path)
        raise SourceError(source, f"{what}; readable: {'; '.join(kind.description for kind in FORMATS)}")
    lens: CameraFile | None = None if camera is None else find_camera(camera)
    if found.has_topics:
        return found.open(path, lens, topic)
    if topic is not None:
        raise SourceError(source, f"{found.description} holds one stream and no topics; leave out topic {topic!r}")
    return found.open(path, lens)


def _describe_unknown(path: Path) -> str:
    with disk_errors(path):
        if path.is_dir():
            return "a folder without depth frames" if any(path.iterdir()) else "the folder is empty"
        return "the file is empty" if path.stat().st_size == 0 else "the file is of no known kind"
