"""Where reading goes on in a damaged file: at the next chunk, known by a header that holds together."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO

_BLOCK_BYTES = 1 << 20
_LONGEST_HEADER_BYTES = 128


def next_chunk(
    stream: IO[bytes], start: int, end: int, header: re.Pattern[bytes], holds: Callable[[int], bool]
) -> int | None:
    """Find the first chunk that begins in a part of a file.

    Parameters
    ----------
    start, end : bytes of the file
    header : what a chunk begins with, at most 128 bytes
    holds : whether the chunk that seems to begin at a byte of the file is all there

    Returns
    -------
    the byte where it begins, None where there is none
    """
    for block in range(start, end, _BLOCK_BYTES):
        stream.seek(block)
        content = stream.read(_BLOCK_BYTES + _LONGEST_HEADER_BYTES)
        for match in header.finditer(content):
            if match.start() < _BLOCK_BYTES and holds(block + match.start()):
                return block + match.start()
    return None
