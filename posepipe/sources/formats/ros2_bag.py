"""ROS 2 recordings as sources: a database, or a rosbag2 folder of databases or MCAP files."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from posepipe.errors import FormatError
from posepipe.io.files import disk_errors
from posepipe.recording import JoinedFiles, McapFile, MessageFile, SqliteFile
from posepipe.sources.formats.recording_file import MessageSource

METADATA_NAME = "metadata.yaml"
SQLITE_MAGIC = b"SQLite format 3\0"
_KINDS = {".db3": SqliteFile, ".mcap": McapFile}
_OTHER_RECORDINGS = (".bag", ".mkv", ".oni", ".npz", ".h5")
"""Suffixes of recordings that ros2 bag record never writes."""

_log = logging.getLogger(__name__)


class Ros2Bag(MessageSource):
    """Depth frames of a ``.db3``, or of a folder of ``ros2 bag record``.

    The metadata.yaml of a folder is not needed: it is missing after a killed recorder. Without it, several files are
    played as one recording with one logged warning: they may be two.
    """

    def _open(self, path: Path) -> MessageFile:
        return _open_folder(path) if path.is_dir() else SqliteFile(path)


def _open_folder(folder: Path) -> MessageFile:
    """Open all files of one recording as one."""
    files = _files_of(folder)
    opened: list[MessageFile] = []
    try:
        for file in files:
            opened.append(_KINDS[file.suffix](file))
        if len(files) > 1 and any(each.start_time_ns is not None for each in opened):
            raise _several(folder, files)  # posepipe splits none of its own: walk_1 and walk_2 are two
        if len(files) > 1 and not (folder / METADATA_NAME).is_file():
            _log.warning(
                "%s: no %s there; %d files, %s first, are played as parts of one recording; if they are not, give one",
                *(folder, METADATA_NAME, len(files), files[0].name),
            )
    except BaseException:
        for each in opened:
            each.close()
        raise
    return JoinedFiles(folder, opened)


def _files_of(folder: Path) -> list[Path]:
    """Files of the one recording in a folder: bag_0.db3, bag_1.db3 ..."""
    with disk_errors(folder):
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    found = [folder / name for name in names if Path(name).suffix in _KINDS]
    if not found:
        packed = [name for name in names if name.endswith(".zstd")]
        problem = f"unpack {packed[0]} first: zstd -d --rm" if packed else "no .db3 and no .mcap beside metadata.yaml"
        raise FormatError(folder, problem)
    recordings = {(re.sub(r"_\d+$", "", path.stem), path.suffix) for path in found}
    others = [folder / name for name in names if name.lower().endswith(_OTHER_RECORDINGS)]
    if len(recordings) > 1 or (others and METADATA_NAME not in names):
        raise _several(folder, sorted(found + others))
    return found


def _several(folder: Path, files: list[Path]) -> FormatError:
    listed = ", ".join(path.name for path in files)
    all_of_them = "or all to `posepipe run --cluster local`"
    return FormatError(folder, f"several recordings in one folder, give one of them: {listed}; {all_of_them}")
