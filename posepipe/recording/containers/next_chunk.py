"""Search for the next chunk of a damaged file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO

_BLOCK_BYTES = 1 << 20
_MAX_HEADER_BYTES = 128


def next_chunk(
    stream: IO[bytes], start: int, end: int, header: re.Pattern[bytes], is_whole: Callable[[int], bool]
) -> int | None:
    """Find the first chunk that starts in a range of a file.

    Parameters
    ----------
    stream : the file
    start, end : range of positions, bytes
    header : pattern of the start of a chunk, at most 128 bytes
    is_whole : whether a complete chunk starts at a position

    Returns
    -------
    position of the chunk; None = no chunk
    """
    for block in range(start, end, _BLOCK_BYTES):
        stream.seek(block)
        content = stream.read(_BLOCK_BYTES + _MAX_HEADER_BYTES)
        for match in header.finditer(content):
            if match.start() < _BLOCK_BYTES and is_whole(block + match.start()):
                return block + match.start()
    return None
