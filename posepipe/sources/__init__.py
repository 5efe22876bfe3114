"""Where depth frames come from. A format is told from what a file or folder holds, never from failing to read it.

To add a format: one file with a class that fits `FrameSource`, one line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, find_camera
from posepipe.datasets.dataset import MANIFEST_NAME
from posepipe.errors import SourceError
from posepipe.io.files import disk_errors
from posepipe.sources.base.frame_source import FrameSource
from posepipe.sources.cameras import names_camera, open_camera
from posepipe.sources.formats.azure_mkv import EBML_MAGIC, AzureMkv
from posepipe.sources.formats.dataset_folder import DatasetFolder
from posepipe.sources.formats.depth_png import PNG_MAGIC
from posepipe.sources.formats.fakenect_dump import INDEX_NAME, FakenectDump
from posepipe.sources.formats.itop import HDF5_MAGIC, ItopDepthMap
from posepipe.sources.formats.npz_pack import NpzPack
from posepipe.sources.formats.png_folder import PngFolder
from posepipe.sources.formats.recording_file import RecordingSource
from posepipe.sources.formats.ros1_bag import Ros1Bag
from posepipe.sources.formats.ros2_bag import METADATA_NAME, Ros2Bag
from posepipe.sources.formats.tum_folder import LIST_NAME, TumFolder

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
    SourceFormat(f"a Kinect v1 dump of fakenect-record ({INDEX_NAME})", _folder_with(INDEX_NAME), FakenectDump),
    SourceFormat("a folder of 16-bit PNGs", _folder_with(CAMERA_FILE_NAME, "*.[pP][nN][gG]"), PngFolder),
    SourceFormat(
        f"a rosbag2 folder ({METADATA_NAME})",
        _folder_with(METADATA_NAME, "*.db3", "*.mcap"),
        Ros2Bag,
        has_topics=True,
    ),
    SourceFormat("an MCAP recording", _starts_with(b"\x89MCAP0\r\n"), RecordingSource, has_topics=True),
    SourceFormat("a ROS 1 bag", _starts_with(b"#ROSBAG V"), Ros1Bag, has_topics=True),
    SourceFormat("a ROS 2 database", _starts_with(b"SQLite format 3\0"), Ros2Bag, has_topics=True),
    SourceFormat("a recording of the Azure Kinect (.mkv)", _starts_with(EBML_MAGIC), AzureMkv),
    SourceFormat("a depth map of ITOP (HDF5)", _starts_with(HDF5_MAGIC), ItopDepthMap),
    SourceFormat("an NPZ pack", _starts_with(b"PK\x03\x04", b"PK\x05\x06"), NpzPack),
)
"""Tried from the top: a folder that holds several kinds is what stands first."""

COMMONEST = "folders of 16-bit PNGs, .mcap, .bag, .db3, .mkv, .npz and others (posepipe run --help)"
"""Of these formats, for messages that must fit into a line."""


def open_source(
    source: str | Path, camera: str | Path | None = None, topic: str | None = None, every_frame: bool = False
) -> FrameSource:
    """Open a file or folder of depth frames, or a camera: ``camera:NAME[:ARGUMENT]``.

    Parameters
    ----------
    camera : a preset's name or a ``camera.json``, to take instead of the source's own calibration
    topic : which depth stream, where a file holds several
    every_frame : a camera's frames wait rather than be dropped, for a recording; files are always played whole

    Raises
    ------
    SourceError
        When nothing is there, or nothing that can be read.
    FormatError
        When the format is known and the content is not what it promises.
    """
    if names_camera(str(source)):
        if topic is not None:
            raise SourceError(source, f"a camera has one depth stream and no topics; leave out topic {topic!r}")
        return open_camera(str(source), None if camera is None else find_camera(camera), every_frame)
    path = Path(source)
    with disk_errors(path):
        if not path.exists():
            raise SourceError(source, "no such file or folder")
        found = next((kind for kind in FORMATS if kind.matches(path)), None)
    if found is None:
        raise SourceError(source, _describe_unknown(path))
    lens: CameraFile | None = None if camera is None else find_camera(camera)
    if found.has_topics:
        return found.open(path, lens, topic)
    if topic is not None:
        raise SourceError(source, f"{found.description} holds one stream and no topics; leave out topic {topic!r}")
    return found.open(path, lens)


def _describe_unknown(path: Path) -> str:
    with disk_errors(path):
        if path.is_dir():
            what = "a folder without depth frames" if any(path.iterdir()) else "the folder is empty"
        elif path.stat().st_size == 0:
            what = "the file is empty"
        elif _first_bytes(path).startswith(PNG_MAGIC):
            return f"the file is one picture; give the folder that it lies in, with a {CAMERA_FILE_NAME}"
        elif _first_bytes(path).startswith(b'{"format": "pos'):
            return "the file holds results and no depth; `posepipe view` and `posepipe convert` take it"
        else:
            what = "the file is of no known kind"
    return f"{what}; readable: {COMMONEST}"
