"""Sources of depth frames: files and folders in many formats, and live cameras.

`FORMATS` is the table of file formats. To add a format:

1. Write ``formats/my_format.py`` with a class `MyFormat`, a subclass of `IndexedSource`.
2. Import it here and add a `SourceFormat` to `FORMATS`. Its ``matches`` recognises the format by content: first
   bytes of a file, or names inside a folder. Never recognise a format by a failed attempt to read it.

CONTRIBUTING.md shows a complete format. Cameras have a table of their own, `posepipe.sources.cameras.CAMERAS`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, find_camera
from posepipe.datasets.dataset import MANIFEST_NAME
from posepipe.errors import SourceError
from posepipe.io.files import disk_errors, open_regular, special_kind
from posepipe.sources.base.frame_source import FrameSource
from posepipe.sources.cameras import is_camera_name, open_camera
from posepipe.sources.formats.azure.azure_mkv import EBML_MAGIC, AzureMkv
from posepipe.sources.formats.dataset_folder import DatasetFolder
from posepipe.sources.formats.fakenect_dump import INDEX_NAME, FakenectDump
from posepipe.sources.formats.image_folder import PATTERNS, ImageFolder
from posepipe.sources.formats.itop.itop import HDF5_MAGIC, ItopDepthMap
from posepipe.sources.formats.npz_pack import ZIP_MAGICS, NpzPack
from posepipe.sources.formats.openni_file import ONI_MAGIC, OpenniFile
from posepipe.sources.formats.png_folder import PngFolder, list_pngs
from posepipe.sources.formats.recording_file import MCAP_MAGIC, RecordingSource
from posepipe.sources.formats.ros1_bag import BAG_MAGIC, Ros1Bag
from posepipe.sources.formats.ros2_bag import METADATA_NAME, SQLITE_MAGIC, Ros2Bag
from posepipe.sources.formats.tum_folder import COLOUR_LIST_NAME, LIST_NAME, TumFolder
from posepipe.sources.images.depth_image import NPY_MAGIC
from posepipe.sources.images.depth_png import PNG_BITS, PNG_MAGIC

_log = logging.getLogger(__name__)

__all__ = ["FORMATS", "RESULTS_HOLD_NO_DEPTH", "FrameSource", "SourceFormat", "open_source", "recordings_in"]


@dataclass(frozen=True)
class SourceFormat:
    """One format of `FORMATS`."""

    description: str  #: for messages, with its article
    matches: Callable[[Path], bool]  #: whether an existing file or folder has this format
    #: open(path, camera), then colour with `has_colour`, before it topic with `has_topics`
    open: Callable[..., FrameSource]
    has_topics: bool = False  #: whether a file can hold several depth streams, selected by topic, and of colour
    has_colour: bool = False  #: whether it can hold colour beside depth


def folder_with(*patterns: str) -> Callable[[Path], bool]:
    """Match folders that contain a file with one of these names or glob patterns; hidden files do not count."""
    return lambda path: (
        path.is_dir() and any(not found.name.startswith(".") for pattern in patterns for found in path.glob(pattern))
    )


def _rosbag2_folder(path: Path) -> bool:
    """Match folders of ros2 bag record, whatever lies beside the recording, such as a picture of the scene."""
    return folder_with(METADATA_NAME)(path) and folder_with("*.db3", "*.mcap")(path)


def file_starting_with(*magics: bytes) -> Callable[[Path], bool]:
    """Match files whose first bytes, at most 16, are one of these."""
    return lambda path: path.is_file() and _first_bytes(path).startswith(magics)


def _first_bytes(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(32)


def _first_line(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.readline(1 << 16)


FORMATS: tuple[SourceFormat, ...] = (
    # folders, the most specific first: a folder can match several of them
    SourceFormat(f"a dataset folder ({MANIFEST_NAME})", folder_with(MANIFEST_NAME), DatasetFolder),
    SourceFormat(f"a rosbag2 folder ({METADATA_NAME})", _rosbag2_folder, Ros2Bag, has_topics=True),
    SourceFormat(f"a TUM RGB-D folder ({LIST_NAME})", folder_with(LIST_NAME), TumFolder, has_colour=True),
    SourceFormat(f"a Kinect v1 dump of fakenect-record ({INDEX_NAME})", folder_with(INDEX_NAME), FakenectDump),
    SourceFormat("a folder of 16-bit PNGs", folder_with("*.[pP][nN][gG]"), PngFolder),
    SourceFormat("a folder of .npy, .pgm or .tiff images", folder_with(*PATTERNS), ImageFolder),
    SourceFormat("a folder of 16-bit PNGs", folder_with(CAMERA_FILE_NAME), PngFolder),  # it says what is missing
    SourceFormat(
        f"a rosbag2 folder ({METADATA_NAME})", folder_with(METADATA_NAME, "*.db3", "*.mcap"), Ros2Bag, has_topics=True
    ),
    # files
    SourceFormat("an MCAP recording", file_starting_with(MCAP_MAGIC), RecordingSource, has_topics=True),
    SourceFormat("a ROS 1 bag", file_starting_with(BAG_MAGIC), Ros1Bag, has_topics=True),
    SourceFormat("a ROS 2 database", file_starting_with(SQLITE_MAGIC), Ros2Bag, has_topics=True),
    SourceFormat("a recording of the Azure Kinect (.mkv)", file_starting_with(EBML_MAGIC), AzureMkv),
    SourceFormat("a recording of OpenNI (.oni)", file_starting_with(ONI_MAGIC), OpenniFile),
    SourceFormat("a depth map of ITOP (HDF5)", file_starting_with(HDF5_MAGIC), ItopDepthMap),
    SourceFormat("an NPZ pack", file_starting_with(*ZIP_MAGICS), NpzPack),
)
"""All file formats. The first match opens the source."""

_OF_FOLDERS = (CAMERA_FILE_NAME, MANIFEST_NAME, METADATA_NAME, LIST_NAME, COLOUR_LIST_NAME, INDEX_NAME)
"""Names of files that stand in a folder of frames, and hold none."""
MASK_NAMES = "parts.json"
"""In a folder of label images, the file that names the parts of the body."""

RESULTS_HOLD_NO_DEPTH = (
    "the file holds results of a run and no depth; give the recording that they are of, or the results to"
    " `posepipe view` or `posepipe convert`"
)
"""What is wrong with results as a source, for messages."""
_RESULTS_MARK = b'"posepipe-results"'
"""What the first line of results holds."""

COMMON_FORMATS = "folders of 16-bit PNGs, .mcap, .bag, .db3, .mkv, .npz and others (posepipe run --help)"
"""Summary of `FORMATS` for messages of one line."""


def open_source(
    source: str | Path,
    camera: str | Path | None = None,
    topic: str | None = None,
    every_frame: bool = False,
    colour: str | None = None,
) -> FrameSource:
    """Open a file or folder of depth frames, or a camera: ``camera:NAME[:ARGUMENT]``.

    Parameters
    ----------
    source : path, or name of a camera
    camera : name of a preset or path of a ``camera.json``, replaces the calibration of the source
    topic : depth stream to play, for files with several
    every_frame : queue the frames of a camera instead of dropping them, for recordings; files always play whole
    colour : colour stream of a ROS recording or TUM folder that frames carry, "auto" = the only one; None = none

    Raises
    ------
    SourceError
        When the source does not exist, or its format is unknown.
    FormatError
        When the content violates the format.
    """
    if is_camera_name(str(source)):
        if colour is not None:
            raise SourceError(source, "colour is read from recordings alone; leave it out")
        if topic is not None:
            raise SourceError(source, f"a camera has one depth stream and no topics; leave out topic {topic!r}")
        return open_camera(str(source), None if camera is None else find_camera(camera), every_frame)
    path = Path(source)
    with disk_errors(path):
        if not path.exists():
            raise SourceError(source, "no such file or folder")
        if kind := special_kind(path):
            raise SourceError(source, f"wanted a file or a folder, got {kind}; camera:pipe:PATH reads a stream")
        found = next((each for each in FORMATS if each.matches(path)), None)
    if found is None:
        raise SourceError(source, _describe_unknown(path))
    calibration: CameraFile | None = None if camera is None else find_camera(camera)
    if found.has_topics:
        return found.open(path, calibration, topic, colour)
    if colour is not None and not found.has_colour:
        raise SourceError(source, f"of {found.description} no colour is read; leave it out")
    if topic is not None:
        raise SourceError(source, f"{found.description} holds one stream and no topics; leave out topic {topic!r}")
    return found.open(path, calibration, colour) if found.has_colour else found.open(path, calibration)


def recordings_in(folder: str | Path) -> list[Path]:
    """List the files and folders in a folder that `open_source` reads, in the order of their names.

    One line of the log names what else the folder holds, but for hidden files.

    Raises
    ------
    SourceError
        When it is no folder, or holds no recording.
    """
    folder = Path(folder)
    with disk_errors(folder):
        if not folder.is_dir():
            raise SourceError(folder, "wanted a folder of recordings")
        found = _readable_in(folder)
        others = sorted(path.name for path in folder.iterdir() if path not in found and not path.name.startswith("."))
    if not found:
        raise SourceError(folder, f"wanted a folder of recordings, found none in it; readable: {COMMON_FORMATS}")
    if others:
        named = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        _log.warning("%s: left out, of no known kind or damaged: %s", folder, named)
    return found


def _readable_in(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if not special_kind(path) and any(each.matches(path) for each in FORMATS) and not _holds_pictures(path)
    ]


def _holds_pictures(path: Path) -> bool:
    """Whether it is a folder of PNGs of 8 bits, which are no depth."""
    pngs = list_pngs(path) if path.is_dir() else []
    return bool(pngs) and _first_bytes(pngs[0])[PNG_BITS : PNG_BITS + 1] == b"\x08"


def _describe_unknown(path: Path) -> str:
    with disk_errors(path):
        if path.is_dir():
            if (path / MASK_NAMES).is_file():
                return "the folder holds label images and no depth; `posepipe info` describes them"
            if recordings := _readable_in(path):
                return (
                    f"a folder of recordings; give one of them, such as {recordings[0]}, or all to"
                    " `posepipe run --cluster local`"
                )
            what = "a folder without depth frames" if any(path.iterdir()) else "the folder is empty"
        elif path.name in _OF_FOLDERS:
            return f"the file describes a folder of frames; give the folder, {path.parent}"
        elif path.stat().st_size == 0:
            what = "the file is empty"
        elif _first_bytes(path).startswith(PNG_MAGIC):
            return f"the file is one picture; give the folder that it lies in, with a {CAMERA_FILE_NAME}"
        elif _first_bytes(path).startswith(NPY_MAGIC):
            return (
                f"the file is one array; give the folder of its images, with a {CAMERA_FILE_NAME}, or put all into a"
                " pack: np.savez_compressed('FILE.npz', depth_mm=depth_mm, K=[fx, fy, cx, cy], fps=30)"
            )
        elif _RESULTS_MARK in _first_line(path):
            return RESULTS_HOLD_NO_DEPTH
        else:
            what = "the file is of no known kind"
    return f"{what}; readable: {COMMON_FORMATS}"
