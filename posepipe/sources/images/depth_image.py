"""One depth image as ``.npy``, ``.pgm`` or ``.tiff``: whole levels up to 65535, or floating point metres.

References
----------
netpbm: PGM, raw (P5). Adobe: TIFF Revision 6.0, 1992; pixels are read where they are not compressed.
"""

from __future__ import annotations

import io
import math
import re
import struct
import tokenize
from collections.abc import Callable
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import CameraFile, what_fits
from posepipe.errors import DamagedMessageError, FormatError
from posepipe.io.files import read_regular
from posepipe.io.limits import MAX_PIXELS
from posepipe.sources.base.depth_units import levels_to_depth

_MAX_FILE_BYTES = 8 * MAX_PIXELS + (1 << 20)
_PGM_HEADER = re.compile(rb"P5(?:\s|#[^\n]*\n)+(\d{1,6})(?:\s|#[^\n]*\n)+(\d{1,6})(?:\s|#[^\n]*\n)+(\d{1,6})\s")
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PLACES, _SAMPLES, _SIZES, _KIND = 256, 257, 258, 259, 273, 277, 279, 339
_SUBFILE, _REDUCED = 254, 1  #: what a directory holds; of a small copy of another image, such as a thumbnail
_TIFF_TYPES = {3: "H", 4: "I"}
_TIFF_FLOAT = 3
_MAX_LEVEL = 65_535
_MAX_ENTRIES = 1 << 16


class _OtherImageError(ValueError):
    """A whole image that is no depth image, or one that is not read."""


def read_depth_image(path: Path, camera: CameraFile) -> np.ndarray:
    """Read depth (H, W) of the size of a calibration: uint16 millimetres, or float32 metres.

    Raises
    ------
    DamagedMessageError
        For a file that is no such image, is cut or damaged: the other files of a folder may be readable.
    FormatError
        For another kind of image, another size, or pixels that are neither whole levels up to 65535, of 16 bits or
        more, nor floating point.
    """
    content = read_regular(path, _MAX_FILE_BYTES)
    try:
        pixels = READERS[path.suffix.lower()](content)
    except _OtherImageError as error:
        raise FormatError(path, str(error)) from error
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, struct.error, EOFError, RecursionError) as error:
        raise DamagedMessageError(path, str(error) or "damaged") from error
    if pixels.shape != (camera.height, camera.width):
        problem = f"an array {pixels.shape}, but {camera.name} is for {(camera.height, camera.width)}"
        advice = (
            what_fits(pixels.shape[0], pixels.shape[1], camera) if pixels.ndim == 2 else "save depth as one channel"
        )
        raise FormatError(path, f"{problem}; {advice}, or take images of another size out of the folder")
    if pixels.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return pixels.astype(np.float32)
    if pixels.dtype.kind not in "iu" or pixels.dtype.itemsize < 2:
        raise FormatError(path, f"wanted uint16 levels or floating point metres, got {pixels.dtype}")
    if not 0 <= pixels.min() <= pixels.max() <= _MAX_LEVEL:
        problem = f"got {pixels.dtype} from {pixels.min()} to {pixels.max()}; save metres as float32"
        raise FormatError(path, f"wanted levels from 0 to {_MAX_LEVEL}, {problem}")
    return levels_to_depth(pixels.astype(np.uint16), camera.depth_unit_m)


def _npy(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, dtype = read_header(stream)
    count = math.prod(shape)
    _check_size(count * dtype.itemsize, len(content) - stream.tell())
    pixels = np.frombuffer(content, dtype, count, stream.tell())
    return pixels.reshape(shape, order="F" if by_column else "C")


def _pgm(content: bytes) -> np.ndarray:
    head = _PGM_HEADER.match(content[:4096])
    if head is None:
        raise ValueError("wanted a raw PGM (P5)")
    width, height, largest = map(int, head.groups())
    if not 255 < largest <= _MAX_LEVEL:
        raise _OtherImageError(f"wanted a PGM of 16 bits, got one with levels to {largest}")
    _check_size(2 * width * height, len(content) - head.end())
    return np.frombuffer(content, ">u2", width * height, head.end()).reshape(height, width)


def _tiff(content: bytes) -> np.ndarray:
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(content[:4])
    if order is None:
        raise ValueError("wanted a TIFF")
    (place,) = struct.unpack_from(order + "I", content, 4)
    tags, following = _tiff_tags(content, order, place)
    if following and not _tiff_tags(content, order, following)[0].get(_SUBFILE, (0,))[0] & _REDUCED:
        raise _OtherImageError("a TIFF of several images; save each as a file of its own, in name order")
    (width,), (height,) = tags.get(_WIDTH, (0,)), tags.get(_HEIGHT, (0,))
    bits, kind = tags.get(_BITS, (1,)), tags.get(_KIND, (1,))
    if tags.get(_SAMPLES, (1,)) != (1,) or len(bits) != 1:
        raise _OtherImageError("wanted a TIFF of one channel")
    if tags.get(_COMPRESSION, (1,)) != (1,) or _PLACES not in tags:
        raise _OtherImageError("a compressed or tiled TIFF; save it without compression, in strips")
    dtype = {(16, 1): "u2", (32, _TIFF_FLOAT): "f4", (64, _TIFF_FLOAT): "f8"}.get((bits[0], kind[0]))
    if dtype is None:
        raise _OtherImageError(
            f"wanted a TIFF of 16-bit levels or floating point, got {bits[0]} bits of kind {kind[0]}"
        )
    strips = zip(tags[_PLACES], tags.get(_SIZES, ()), strict=True)
    data = b"".join(content[place : place + size] for place, size in strips)
    size = np.dtype(dtype).itemsize * width * height
    _check_size(size, len(data))
    return np.frombuffer(data[:size], order + dtype).reshape(height, width)


def _tiff_tags(content: bytes, order: str, at: int) -> tuple[dict[int, tuple[int, ...]], int]:
    """Whole numbers of the directory at a position, by tag, and the position of the next one; 0 = none."""
    (count,) = struct.unpack_from(order + "H", content, at)
    end = at + 2 + 12 * count
    following = int.from_bytes(content[end : end + 4], "little" if order == "<" else "big")
    tags = {}
    for entry in range(at + 2, end, 12):
        tag, kind, values = struct.unpack_from(order + "HHI", content, entry)
        if kind in _TIFF_TYPES and 0 < values <= _MAX_ENTRIES:
            form = f"{order}{values}{_TIFF_TYPES[kind]}"
            inside = struct.calcsize(form) <= 4
            place = entry + 8 if inside else struct.unpack_from(order + "I", content, entry + 8)[0]
            tags[tag] = struct.unpack_from(form, content, place)
    return tags, following if following < len(content) else 0


def _check_size(wanted: int, available: int) -> None:
    """Raise ValueError for an image without pixels, or with more than the file has."""
    if not 0 < wanted <= available:
        raise ValueError(f"an image of {wanted} bytes in {max(available, 0)}; is the file cut?")


NPY_MAGIC = b"\x93NUMPY"

READERS: dict[str, Callable[[bytes], np.ndarray]] = {".npy": _npy, ".pgm": _pgm, ".tif": _tiff, ".tiff": _tiff}
"""Suffix -> function that makes pixels (H, W) of the content of a file."""
