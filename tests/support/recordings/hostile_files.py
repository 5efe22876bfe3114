"""Files of a few MB, or less, that unpack to gigabytes or say so."""

from __future__ import annotations

import bz2
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import lz4.frame
import numpy as np
import zstandard

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from tests.support.recordings import ros_writers as ros

GIGABYTE = 1 << 30
_MEGABYTE = bytes(1 << 20)


def _npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def npz_that_unpacks_to_a_gigabyte(path: Path) -> Path:
    """A pack of 1 GB of zeros: all of its sizes are true."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("K.npy", _npy_header("<f8", (4,)) + np.array([500.0, 500.0, 255.5, 255.5]).tobytes())
        with archive.open("depth_mm.npy", "w", force_zip64=True) as member:
            member.write(_npy_header("<u2", (2048, 512, 512)))
            for _ in range(1024):
                member.write(_MEGABYTE)
    return path


def npz_with_a_lying_header(path: Path) -> Path:
    """A pack of a few bytes, with an array header that claims 1 TB."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("K.npy", _npy_header("<f8", (4,)) + bytes(32))
        archive.writestr("depth_mm.npy", _npy_header("<u2", (2**21, 512, 512)) + bytes(100))
    return path


def _mcap_of(path: Path, compression: str, packed: bytes, size: int) -> Path:
    """An MCAP file with one chunk, whose index is missing."""
    name = compression.encode()
    body = struct.pack("<QQQII", 0, 0, size, 0, len(name)) + name + struct.pack("<Q", len(packed)) + packed
    path.write_bytes(b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(body)) + body)
    return path


def deflated_zeros(size: int) -> bytes:
    """A zlib stream of zeros, put together from equal blocks."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(_MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.compress(bytes(size % len(_MEGABYTE))) + packer.flush()
    checksum = (size % 65521) << 16 | 1  # Adler-32 of zeros
    return b"\x78\x9c" + block * (size // len(_MEGABYTE)) + end + struct.pack(">I", checksum)


def packed_zeros(compression: str, megabytes: int) -> bytes:
    """One frame of zeros without its content size, as a stream writes it."""
    if compression == "bz2":
        packer = bz2.BZ2Compressor()
        return b"".join(packer.compress(_MEGABYTE) for _ in range(megabytes)) + packer.flush()
    if compression == "zstd":
        stream = zstandard.ZstdCompressor().compressobj()
        return b"".join(stream.compress(_MEGABYTE) for _ in range(megabytes)) + stream.flush()
    packer = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX4MB)
    return packer.begin() + b"".join(packer.compress(_MEGABYTE) for _ in range(megabytes)) + packer.flush()


def mcap_that_unpacks_to_more_than_it_says(path: Path, compression: str) -> Path:
    """A chunk of 1 GB that claims 1 MB."""
    return _mcap_of(path, compression, packed_zeros(compression, 1024), 1 << 20)


def mcap_that_claims_gigabytes(path: Path, compression: str) -> Path:
    """A chunk of 1 GB that says so."""
    return _mcap_of(path, compression, packed_zeros(compression, 1024), GIGABYTE)


def mcap_of_many_chunks(path: Path, record: bytes) -> Path:
    """A file of 100 chunks of 200 MB with equal records of an unknown opcode, without an index."""
    packed = zstandard.compress((200 << 20) // len(record) * record)
    size = (200 << 20) // len(record) * len(record)
    body = struct.pack("<QQQII", 0, 0, size, 0, 4) + b"zstd" + struct.pack("<Q", len(packed)) + packed
    path.write_bytes(b"\x89MCAP0\r\n" + 100 * (struct.pack("<BQ", 6, len(body)) + body))
    return path


def bag_that_unpacks_to_more_than_it_says(
    path: Path, compression: str, claim: int = 1 << 20, megabytes: int = 1024
) -> Path:
    """A ROS 1 bag with one chunk, without an index."""
    packed = packed_zeros(compression, megabytes)

    def header(**fields: bytes) -> bytes:
        pairs = [f"{name}=".encode() + value for name, value in fields.items()]
        content = b"".join(struct.pack("<I", len(pair)) + pair for pair in pairs)
        return struct.pack("<I", len(content)) + content

    chunk = header(op=b"\x05", compression=compression.encode(), size=struct.pack("<I", claim))
    path.write_bytes(b"#ROSBAG V2.0\n" + chunk + struct.pack("<I", len(packed)) + packed)
    return path


def _png(width: int, height: int, rows: int) -> bytes:
    data = deflated_zeros((1 + 2 * width) * rows)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def huge_png(folder: Path, side: int = 30000, camera_side: int | None = None) -> Path:
    """A folder with a PNG of 1.8 GB, beside a calibration of another size, or of the same."""
    folder.mkdir()
    size = camera_side or side
    write_camera_file(
        folder / "camera.json", CameraFile(size, size, Intrinsics(size, size, size / 2, size / 2), 0.001, 30.0)
    )
    (folder / "0.png").write_bytes(_png(side, side, side))
    return folder


def mcap_with_a_huge_png(path: Path) -> Path:
    """A message with compressed depth of 1.8 GB."""
    payload = ros.compressed_depth(_png(30000, 30000, 30000))
    return ros.write_mcap(path, [ros.camera_info(), ros.compressed_image(payload)])


def hdf5_with_a_huge_chunk(path: Path) -> Path:
    """Depth of 100,000 frames in one chunk of 2 GB and more."""
    import h5py

    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "data", (14_000, 240, 320), np.float16, chunks=(14_000, 240, 320), compression="gzip"
        )
        data.id.write_direct_chunk((0, 0, 0), deflated_zeros(14_000 * 240 * 320 * 2))
    return path


def hdf5_that_unpacks_to_more_than_its_chunk(path: Path) -> Path:
    """Depth in chunks of one frame, of which the first unpacks to 1 GB."""
    import h5py

    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", (2, 240, 320), np.float16, chunks=(1, 240, 320), compression="gzip")
        data.id.write_direct_chunk((0, 0, 0), deflated_zeros(GIGABYTE))
    return path


def mcap_of_many_damaged_chunks(path: Path, indexed: bool) -> Path:
    """A file of 1,000 chunks of 200 MB with a wrong checksum; or with indexes that point at no message."""
    megabytes = 200
    packed = zstandard.compress(megabytes * _MEGABYTE)
    checksum = 0 if indexed else 1
    body = struct.pack("<QQQII", 0, 0, megabytes << 20, checksum, 4) + b"zstd" + struct.pack("<Q", len(packed)) + packed
    index = struct.pack("<HIQQ", 1, 16, ros.START_NS, 0) if indexed else b""

    def record(opcode: int, content: bytes) -> bytes:
        return struct.pack("<BQ", opcode, len(content)) + content

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode()

    schema = struct.pack("<H", 1) + text("sensor_msgs/msg/Image") + text("ros2msg") + text("")
    channel = struct.pack("<HH", 1, 1) + text(ros.DEPTH) + text("cdr") + text("")
    chunk = record(6, body) + (record(7, index) if indexed else b"")
    path.write_bytes(b"\x89MCAP0\r\n" + record(3, schema) + record(4, channel) + 1000 * chunk)
    return path


def database_of_computed_messages(path: Path) -> Path:
    """A ROS 2 database whose messages are zeros that SQLite makes while it reads."""
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, offered TEXT)"
    )
    database.execute(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
        "data BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)"
    )
    database.execute("INSERT INTO topics VALUES (1, '/camera/depth/image_raw', 'sensor_msgs/msg/Image', 'cdr', '')")
    database.executemany("INSERT INTO messages VALUES (?, 1, ?)", [(i, ros.START_NS + i) for i in range(3)])
    database.commit()
    database.close()
    return path


def pgm_that_claims_gigabytes(folder: Path) -> Path:
    """A Kinect dump with an image of 99999x99999 pixels, in words."""
    folder.mkdir()
    name = "d-1300000000.0-1.pgm"
    (folder / "INDEX.txt").write_text(f"{name}\n")
    (folder / name).write_bytes(b"P5 99999 99999 65535\n" + bytes(100))
    return folder


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "pack.npz": (npz_that_unpacks_to_a_gigabyte, "unpacks to 1024 MB, allowed are 512 MB"),
    "lying.npz": (npz_with_a_lying_header, r"an array uint16 \(2097152, 512, 512\) in 100 bytes"),
    "lz4.mcap": (lambda path: mcap_that_unpacks_to_more_than_it_says(path, "lz4"), "no depth topic was found"),
    "zstd.mcap": (lambda path: mcap_that_unpacks_to_more_than_it_says(path, "zstd"), "no depth topic was found"),
    "lz4-claims.mcap": (lambda path: mcap_that_claims_gigabytes(path, "lz4"), "no depth topic was found"),
    "zstd-claims.mcap": (lambda path: mcap_that_claims_gigabytes(path, "zstd"), "no depth topic was found"),
    "large.mcap": (
        lambda path: mcap_of_many_chunks(path, struct.pack("<BQ", 0x90, 1 << 20) + _MEGABYTE),
        "no index, and unpacks to more than 512 MB",
    ),
    "many.mcap": (
        lambda path: mcap_of_many_chunks(path, struct.pack("<BQ", 0x90, 0)),
        "no index, and too many records for its size",
    ),
    "bz2.bag": (
        lambda path: bag_that_unpacks_to_more_than_it_says(path, "bz2", megabytes=50),
        "no depth topic was found",
    ),
    "lz4.bag": (lambda path: bag_that_unpacks_to_more_than_it_says(path, "lz4"), "no depth topic was found"),
    "lz4-claims.bag": (
        lambda path: bag_that_unpacks_to_more_than_it_says(path, "lz4", GIGABYTE),
        "no depth topic was found",
    ),
    "png": (lambda path: huge_png(path, camera_side=640), "30000x30000 pixels, but .*camera.json is for 640x640"),
    "png-claims": (huge_png, "30000x30000 pixels; readable are 1 to"),
    "png.mcap": (mcap_with_a_huge_png, "30000x30000 pixels; readable are 1 to"),
    "depth_map.h5": (hdf5_with_a_huge_chunk, "a chunk or message of 2150400000 bytes"),
    "chunk.h5": (hdf5_that_unpacks_to_more_than_its_chunk, "a chunk of 153600 bytes unpacks to more"),
    "damaged.mcap": (
        lambda path: mcap_of_many_damaged_chunks(path, indexed=False),
        r"no index, and unpacks to more than \d+ MB",
    ),
    "searched.mcap": (
        lambda path: mcap_of_many_damaged_chunks(path, indexed=True),
        r"no message in the first \d+ MB that were unpacked",
    ),
    "zeros.db3": (database_of_computed_messages, "messages.data is computed"),
    "dump": (pgm_that_claims_gigabytes, "99999x99999 pixels; readable are 1 to"),
}
"""Name of a file -> what writes it, and what the error says."""
