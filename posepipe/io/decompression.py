"""Decompression of one block, piece by piece: it ends when more comes than the block declares."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from typing import Any

import lz4.frame
import zstandard

from posepipe.io.limits import MAX_BLOCK_BYTES, check_block

_PIECE_BYTES = 16 << 20  #: allocated at once; blocks of common recorders fit into one piece


def decompress(compression: str, data: bytes, size: int | None = None) -> bytes:
    """Decompress one block.

    Parameters
    ----------
    compression : a key of `COMPRESSIONS`
    data : one whole frame of that compression
    size : declared size of the content, bytes; None = unknown, and limited by MAX_BLOCK_BYTES

    Raises
    ------
    ValueError
        For another compression, damaged data, or content of another size than declared or allowed.
    """
    if compression not in COMPRESSIONS:
        raise ValueError(f"a chunk compressed with {compression!r}; readable are {', '.join(COMPRESSIONS)} and none")
    check_block(size or 0)
    limit = MAX_BLOCK_BYTES if size is None else size
    try:
        content, ended = COMPRESSIONS[compression](data, limit)
    except (OSError, RuntimeError, EOFError, zstandard.ZstdError) as error:  # damage, for bz2, lz4 and zstd
        raise ValueError(str(error) or type(error).__name__) from error
    if size is None and not ended:
        raise ValueError(f"compressed data {'are cut' if len(content) <= limit else f'unpack to over {limit} bytes'}")
    if not ended or len(content) != (len(content) if size is None else size):
        raise ValueError(f"a chunk or message of {limit} bytes unpacks to {len(content)} or more, or is cut")
    return content


def _unzstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    pieces, total = [], 0
    with zstandard.ZstdDecompressor().stream_reader(data) as reader:
        while total <= limit and (piece := reader.read(min(_PIECE_BYTES, limit + 1 - total))):
            pieces.append(piece)
            total += len(piece)
    return b"".join(pieces), total <= limit


def _incremental(make: Callable[[], Any]) -> Callable[[bytes, int], tuple[bytes, bool]]:
    """Decompress by an object with the interface of `bz2.BZ2Decompressor`."""

    def unpack(data: bytes, limit: int) -> tuple[bytes, bool]:
        unpacker, pieces, total = make(), [], 0
        while not unpacker.eof and total <= limit:
            piece = unpacker.decompress(data, min(_PIECE_BYTES, limit + 1 - total))
            data = b""
            if not piece and unpacker.needs_input:  # cut; the end has a checksum
                break
            pieces.append(piece)
            total += len(piece)
        return b"".join(pieces), unpacker.eof and total <= limit

    return unpack


COMPRESSIONS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "zstd": _unzstd,
    "lz4": _incremental(lz4.frame.LZ4FrameDecompressor),
    "bz2": _incremental(bz2.BZ2Decompressor),
}
"""Compression -> function of data and limit: at most one byte more than the limit, and whether it ended within."""
