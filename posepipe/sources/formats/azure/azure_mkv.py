"""Recordings of the Azure Kinect (``k4arecorder``, and the same program for Orbbec's Femto): Matroska; extra ``azure``.

Only the track DEPTH is read: 16-bit big-endian millimetres (``b16g``), not compressed. The intrinsics come from the
attached ``calibration.json``, and images are undistorted. Of the wide field of view (WFOV, 120 degrees) the inner 90
degrees remain: the undistorted image keeps its size and focal length.

References
----------
Azure-Kinect-Sensor-SDK, src/record/sdk/record.cpp and src/record/internal/matroska_read.cpp.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.camera.lens_distortion import Undistortion
from posepipe.errors import FormatError, SourceError, counted
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, open_regular
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.formats.azure.azure_calibration import CALIBRATION_NAME, read_azure_calibration

if TYPE_CHECKING:
    import av

TRACK_NAME = "DEPTH"
EBML_MAGIC = b"\x1a\x45\xdf\xa3"
_TRACK_TAG = "K4A_DEPTH_TRACK"
_SEGMENT_ID = b"\x18\x53\x80\x67"

_log = logging.getLogger(__name__)


class AzureMkv(IndexedSource):
    """Depth frames of a recording. A cut recording plays its complete frames, with one logged warning.

    Opening reads the whole file once, for the times of the frames.

    Parameters
    ----------
    path : the recording
    camera : replaces the recording's own calibration; images are then not undistorted

    Raises
    ------
    SourceError
        When the extra ``azure`` is not installed.
    FormatError
        When there is no depth track, no frame or no usable calibration.
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._closed = False
        self._container = _open_container(self.path)
        try:
            self._stream = _depth_stream(self.path, self._container)
            self.shape = (self._stream.height, self._stream.width)
            self._times, missing = self._index()
            self.intrinsics, self._undistortion = self._read_calibration(camera)
            self.intrinsics_from = f"{CALIBRATION_NAME} attached, undistorted" if camera is None else camera.name
        except BaseException:
            self.close()
            raise
        unit_s = float(self._stream.time_base)
        self.timestamps_s = (self._times - self._times[0]) * unit_s
        self.start_time_ns = _start_time_ns(self._container, float(self._times[0]) * unit_s)
        self._packets: Iterator[av.Packet] = iter(())
        self._next = -1  # index of the next frame of `_packets`
        if missing:
            whole = "1 frame that is whole is" if len(self) == 1 else f"{len(self)} frames that are whole are"
            _log.warning("%s: %s; the %s played", self.path, missing, whole)

    def _read_calibration(self, camera: CameraFile | None) -> tuple[Intrinsics, Undistortion | None]:
        if camera is not None:
            intrinsics = camera.intrinsics_for(*self.shape)
            _log.warning("%s: calibration from %s; images are not undistorted", self.path, camera.name)
            return intrinsics, None
        own = read_azure_calibration(self.path, _calibration(self.path, self._container), self.shape)
        return own.intrinsics, Undistortion(own.intrinsics, own.distortion, self.shape)

    def _index(self) -> tuple[np.ndarray, str]:
        """Time codes of all complete frames, int64 (N,), and what a cut recording lacks ("" = nothing)."""
        import av

        times, sizes = [], []
        missing = _describe_cut(self.path)
        try:
            for packet in self._container.demux(self._stream):
                if packet.pts is not None and packet.size:
                    times.append(packet.pts)
                    sizes.append(packet.size)
        except av.FFmpegError as error:
            missing = missing or f"damaged after {counted(len(times), 'frame')} ({error.strerror})"
        wanted = 2 * self.shape[0] * self.shape[1]
        if sizes and sizes[-1] < wanted and missing:
            del times[-1], sizes[-1]
        odd = next((size for size in sizes if size != wanted), wanted)
        if odd != wanted:
            raise FormatError(self.path, f"track {TRACK_NAME}: wanted frames of {wanted} bytes, got one of {odd}")
        if not times:
            raise FormatError(self.path, f"track {TRACK_NAME} holds no whole frame; record again")
        return np.unique(np.array(times, np.int64)), missing

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        self.refuse_closed(self._closed)
        packet = self._packet(index)
        depth_mm = np.frombuffer(bytes(packet), ">u2").reshape(self.shape).astype(np.uint16)
        if self._undistortion is not None:
            depth_mm = self._undistortion.undistort(depth_mm)
        return self.frame(index, depth_mm)

    def _packet(self, index: int) -> av.Packet:
        """Packet of a frame: the next one, or found by its time."""
        import av

        wanted = int(self._times[index])
        try:
            if index != self._next:
                self._seek(wanted)
            packet = next((found for found in self._packets if found.pts is not None and found.pts >= wanted), None)
        except av.FFmpegError as error:
            raise FormatError(self.path, f"frame {index} cannot be read ({error.strerror})") from error
        self._next = index + 1
        if packet is None or packet.pts != wanted or packet.size != 2 * self.shape[0] * self.shape[1]:
            self._next = -1
            raise FormatError(self.path, f"frame {index} is not where it was when the file was opened")
        return packet

    def _seek(self, time: int) -> None:
        """Seek to a time, or to the beginning where no frame is marked as a seek target."""
        import av

        try:
            self._container.seek(time, stream=self._stream)
        except av.FFmpegError:
            self._container.close()
            self._container = _open_container(self.path)
            self._stream = _depth_stream(self.path, self._container)
        self._packets = self._container.demux(self._stream)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._container.close()


def _open_container(path: Path) -> Any:
    try:
        import av
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise SourceError(
            path, f"recordings of the Azure Kinect need PyAV; pip install 'posepipe[azure]' ({reason})"
        ) from error
    with open_regular(path):
        pass  # PyAV's messages do not name a missing file or permission
    try:
        return av.open(str(path.absolute()), format="matroska", **_lenient(av.__version__))
    except av.FFmpegError as error:
        raise FormatError(path, f"not a Matroska recording, or a damaged one ({error.strerror})") from error


def _lenient(version: str) -> dict[str, Any]:
    """Options of PyAV by which texts that are no UTF-8 raise nothing; from version 19 on they never do."""
    return {"metadata_errors": "replace"} if int(version.partition(".")[0]) < 19 else {}


def _depth_stream(path: Path, container: Any) -> Any:
    videos = container.streams.video
    named = [each for each in videos if each.metadata.get("title") == TRACK_NAME]
    tagged = [each for each in videos if _TRACK_TAG in each.metadata]
    if not tagged + named:
        names = ", ".join(repr(each.metadata.get("title", each.type)) for each in container.streams) or "none"
        raise FormatError(
            path, f"wanted a recording of the Azure Kinect with a track {TRACK_NAME}, got tracks: {names}"
        )
    stream = (tagged + named)[0]
    codec = stream.codec_context
    if codec is None or (codec.name, codec.pix_fmt) != ("rawvideo", "gray16be"):
        kind = "an unknown codec" if codec is None else f"{codec.name} {codec.pix_fmt}"
        raise FormatError(
            path, f"track {TRACK_NAME}: wanted raw 16-bit grey, b16g, got {kind}; take the file that the recorder wrote"
        )
    return stream


def _calibration(path: Path, container: Any) -> bytes:
    for stream in container.streams:
        if stream.type == "attachment" and stream.metadata.get("filename") == CALIBRATION_NAME:
            return bytes(stream.data)
    raise FormatError(path, f"no {CALIBRATION_NAME} is attached, so the intrinsics are not known; give --camera")


def _start_time_ns(container: Any, first_s: float) -> int:
    """Time of the first frame by the recorder's clock, in whole seconds, as nanoseconds; 0 = unknown."""
    try:
        made = datetime.fromisoformat(container.metadata.get("creation_time", ""))
    except ValueError:
        return 0
    since_1970 = made.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return max(0, since_1970 // timedelta(microseconds=1) * 1000 + round(first_s * 1e9))


def _describe_cut(path: Path) -> str:
    """Describe the missing end of a Matroska file, "" = none. Its head contains the size, which is written last.

    References
    ----------
    RFC 8794, sections 4 to 6: the leading zero bits of a number give its length in bytes; all ones = unknown.
    """
    with open_regular(path) as stream, disk_errors(path):
        size = path.stat().st_size
        head = stream.read(4096)
    place = head.find(_SEGMENT_ID)
    if place < 0 or place + 12 > len(head) or not head[place + 4]:
        return ""
    length = 9 - head[place + 4].bit_length()
    digits = (1 << 7 * length) - 1
    content = int.from_bytes(head[place + 4 : place + 4 + length], "big") & digits
    if content == digits:
        return "was not closed by its recorder"
    lacking = place + 4 + length + content - size
    return f"is cut, {lacking} bytes are missing" if lacking > 0 else ""
