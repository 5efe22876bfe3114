"""Read depth frames, with or without truth, from an MCAP recording: ours, a cut one, or another ROS 2 program's."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import TracebackType

import numpy as np
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.records import Channel, Chunk, Message, Schema
from mcap.stream_reader import breakup_chunk
from zstandard import ZstdError

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.disk import disk_errors
from posepipe.errors import FormatError
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import messages as ros
from posepipe.recording.layout import ChunkPlace, read_layout
from posepipe.recording.topics import TopicChoice, choose_topics
from posepipe.recording.writer import BODY_ATTACHMENT, HEADER_METADATA, USER_METADATA

_RECORD_HEADER_BYTES = 9
_MAX_CHUNK_BYTES = 1 << 31  # a damaged size must not ask for all the memory there is


class RecordingReader:
    """The frames of one recording, in file order; iterate, index, or both; a context manager.

    A recording whose writer was killed yields every frame that was complete: see `complete` and `missing`.

    Parameters
    ----------
    path : the MCAP file
    intrinsics : take these instead of the file's camera_info
    depth_topic : which depth stream, where another program's recording holds several
    first_index : `DepthFrame.index` of the first frame

    Raises
    ------
    FormatError
        For a file that is no recording, holds no complete frame or is damaged inside.
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
        with disk_errors(self.path):
            self._stream = self.path.open("rb")
        try:
            self._layout = read_layout(self._stream, self.path)
            self._topics = self._choose_topics(depth_topic)
            self.labelled = self._topics.truth is not None
            self.metadata = self._layout.metadata.get(USER_METADATA, {})  #: as given to the writer
            self.body = self._read_body()
            self.intrinsics, self.shape, self.start_time_ns = self._read_head(intrinsics)
        except BaseException:
            self._stream.close()
            raise

    @property
    def complete(self) -> bool:
        """Whether the writer closed the file."""
        return self._layout.complete

    @property
    def missing(self) -> str:
        """What a cut recording lacks, in words; empty for a complete one."""
        if self.complete:
            return ""
        lost = self._layout.size - self._layout.readable_bytes
        return (
            f"{self.path}: the recording was not closed: {self.frame_count} complete frames were read, "
            f"{lost} bytes after byte {self._layout.readable_bytes} were not"
        )

    @property
    def frame_count(self) -> int:
        """Complete frames in the file."""
        return sum(self._frames_per_chunk)

    @cached_property
    def timestamps_s(self) -> np.ndarray:
        """float64 (N,), seconds since `start_time_ns`, of every frame."""
        times_ns = [time for place in self._layout.chunks for time in self._times_ns(place, self._topics.depth)]
        return (np.array(times_ns, np.int64) - self.start_time_ns) / 1e9

    @property
    def seekable(self) -> bool:
        """Whether any frame is found at once, as in our own recordings."""
        return self._places_of_frames is not None

    def __len__(self) -> int:
        return self.frame_count

    def __iter__(self) -> Iterator[DepthFrame | LabelledFrame]:
        index = self._first_index
        waiting: dict[tuple[int, int], dict[int, bytes]] = {}
        for place in self._layout.chunks:
            with self._format_errors(place.offset):
                for frame in self._frames_in(place, waiting, index):
                    yield frame
                    index += 1

    def __getitem__(self, index: int) -> DepthFrame | LabelledFrame:
        """Frame ``index``; at once in our own recordings, by reading up to it in others."""
        count = self.frame_count
        if not -count <= index < count:
            raise IndexError(f"{self.path}: frame {index} of {count}")
        index %= count
        if self._places_of_frames is None:
            return next(islice(iter(self), index, None))
        place = self._places_of_frames[index]
        with self._format_errors(place.offset):
            for frame in self._frames_in(place, {}, self._first_index + index):
                return frame
        raise FormatError(self.path, f"frame {index} lacks its truth", place.offset)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> RecordingReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _frames_in(
        self, place: ChunkPlace, waiting: dict[tuple[int, int], dict[int, bytes]], index: int
    ) -> Iterator[DepthFrame | LabelledFrame]:
        # a frame is whole when depth and truth of one time and sequence number are there; `waiting` holds
        # the others from chunk to chunk, because other programs cut chunks where they like
        for message in self._messages(place):
            if message.channel_id not in self._topics.wanted:
                continue
            key = (message.log_time, message.sequence)
            parts = waiting.setdefault(key, {})
            parts[message.channel_id] = message.data
            if len(parts) == len(self._topics.wanted):
                yield self._decode(waiting.pop(key), message.log_time, index)
                index += 1

    def _decode(self, data: dict[int, bytes], log_time: int, index: int) -> DepthFrame | LabelledFrame:
        pixels, encoding = ros.decode_image(data[self._topics.depth])
        if encoding not in ros.DEPTH_ENCODINGS or pixels.shape != self.shape:
            raise ValueError(f"wanted a depth image {self.shape}, got {encoding} {pixels.shape}")
        depth = DepthFrame(pixels, self.intrinsics, (log_time - self.start_time_ns) / 1e9, index)
        if self._topics.truth is None:
            return depth
        truth = self._topics.truth
        parts, people = (ros.decode_image(data[channel])[0] for channel in (truth.parts, truth.people))
        names, joints_m, visible = ros.decode_joints(data[truth.joints])
        if self.body is None or names != self.body.joints or not parts.shape == people.shape == self.shape:
            raise ValueError("the truth does not fit the recording's body or the depth image")
        return LabelledFrame(depth, parts, people, joints_m, visible)

    def _messages(self, place: ChunkPlace) -> list[Message]:
        return [record for record in self._records(place) if isinstance(record, Message)]

    def _records(self, place: ChunkPlace) -> list:
        self._stream.seek(place.offset + _RECORD_HEADER_BYTES)
        chunk = Chunk.read(ReadDataStream(self._stream))
        if chunk.uncompressed_size > _MAX_CHUNK_BYTES:
            raise ValueError(f"a chunk of {chunk.uncompressed_size} bytes")
        return breakup_chunk(chunk, validate_crc=True)

    @contextmanager
    def _format_errors(self, offset: int) -> Iterator[None]:
        from rosbags.serde import SerdeError

        damage = (McapError, SerdeError, ZstdError, ValueError, IndexError, struct.error, MemoryError, OverflowError)
        try:
            yield
        except damage as error:
            raise FormatError(self.path, f"damaged recording ({error or type(error).__name__})", offset) from error

    @cached_property
    def _frames_per_chunk(self) -> list[int]:
        return [self._count(place, self._topics.depth) for place in self._layout.chunks]

    @cached_property
    def _places_of_frames(self) -> list[ChunkPlace] | None:
        """The chunk of each frame, None where chunks hold several."""
        if max(self._frames_per_chunk) > 1:
            return None
        return [place for place, n in zip(self._layout.chunks, self._frames_per_chunk, strict=True) if n == 1]

    def _count(self, place: ChunkPlace, channel: int) -> int:
        return len(self._times_ns(place, channel))

    def _times_ns(self, place: ChunkPlace, channel: int) -> list[int]:
        if not place.times_ns:
            with self._format_errors(place.offset):
                for message in self._messages(place):
                    place.times_ns.setdefault(message.channel_id, []).append(message.log_time)
        return place.times_ns.get(channel, [])

    def _first(self, channel: int) -> tuple[Message, int] | None:
        """First message of a channel and the offset of its chunk."""
        for place in self._layout.chunks:
            if self._count(place, channel):
                with self._format_errors(place.offset):
                    return next(m for m in self._messages(place) if m.channel_id == channel), place.offset
        return None

    def _choose_topics(self, depth_topic: str | None) -> TopicChoice:
        # the index at the end of a file repeats all channels; a cut file has them in its chunks alone
        layout = self._layout
        if not layout.chunks:
            raise FormatError(self.path, "no complete frame in the recording")
        if not layout.complete or not layout.channels:
            for place in layout.chunks:
                with self._format_errors(place.offset):
                    self._learn_channels(place)
        return choose_topics(self.path, layout.channels, layout.schemas, depth_topic)

    def _learn_channels(self, place: ChunkPlace) -> None:
        if place.times_ns and place.times_ns.keys() <= self._layout.channels.keys():
            return
        for record in self._records(place):
            if isinstance(record, Channel):
                self._layout.channels[record.id] = record
            elif isinstance(record, Schema):
                self._layout.schemas[record.id] = record

    def _read_body(self) -> BodyDefinition | None:
        content = self._layout.attachments.get(BODY_ATTACHMENT)
        if content is None:
            if self.labelled:
                raise FormatError(self.path, f"a labelled recording without its attachment {BODY_ATTACHMENT}")
            return None
        try:
            return BodyDefinition.from_dict(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(self.path, f"attachment {BODY_ATTACHMENT} is no body definition ({error!r})") from error

    def _read_head(self, intrinsics: Intrinsics | None) -> tuple[Intrinsics, tuple[int, int], int]:
        """Intrinsics, image shape, and the sensor time that is second 0."""
        found = self._first(self._topics.depth)
        if found is None:
            raise FormatError(self.path, "no complete depth frame in the recording")
        message, offset = found
        with self._format_errors(offset):
            shape = ros.decode_image(message.data)[0].shape
            header = self._layout.metadata.get(HEADER_METADATA, {})
            start_time_ns = int(header.get("start_time_ns", message.log_time))
        return intrinsics or self._read_intrinsics(shape), (shape[0], shape[1]), start_time_ns

    def _read_intrinsics(self, shape: tuple[int, ...]) -> Intrinsics:
        found = None if self._topics.camera_info is None else self._first(self._topics.camera_info)
        if found is None:
            raise FormatError(self.path, "no camera_info beside the depth images; give the camera's calibration")
        message, offset = found
        with self._format_errors(offset):
            intrinsics, calibrated_shape = ros.decode_camera_info(message.data)
            if calibrated_shape != shape:
                raise ValueError(f"camera_info is for images {calibrated_shape}, the depth images are {shape}")
        return intrinsics
