"""Limits on what a file may unpack to: memory follows the size of the file and of its frames, not its claims.

Sizes that a file declares are checked before anything is read, and counted again while it is unpacked.
"""

from __future__ import annotations

MAX_PIXELS = 1 << 24
"""Maximum size of an image: three times that of any depth camera."""
MAX_BLOCK_BYTES = 256 << 20
"""Maximum size of one chunk or message: four float images of MAX_PIXELS. Recorders write chunks of a few MB."""
FREE_BYTES = 512 << 20
"""Every file may unpack to this size."""
MAX_RATIO = 100
"""A larger file may unpack to this multiple of its size. Depth of cameras has 3 to 10, of renderers up to 60."""
FREE_SEARCH_BYTES = 4 * MAX_BLOCK_BYTES
"""To find the first messages of its topics, every file may unpack to this size."""
MAX_SEARCH_RATIO = 20
"""A larger file may unpack to this multiple of its size for them. Recorders put them into the first chunks."""
MAX_PLAY_RATIO = 64
"""Reading on through a file may in addition unpack this multiple of the messages that are read: chunks hold other
streams, and depth of a covered camera packs better than MAX_RATIO."""
FREE_MODEL_BYTES = 64 << 20
"""Every model may unpack to this size; in use, its arrays take several times as much."""
MAX_MODEL_RATIO = 20
"""A larger model may unpack to this multiple of its size. Trained ones have 4."""
FREE_TEXT_BYTES = 32 << 20
"""The text of every archive may unpack to this size, and one text at most; lines and numbers take ten times as much."""
MAX_TEXT_RATIO = 20
"""The text of a larger archive may unpack to this multiple of its size."""
MAX_CHUNKS_OF_ROW = 1024
"""Maximum number of chunks that hold one row of an array, such as a frame: each is looked up by itself."""
FREE_RECORDS = 500_000
"""Every file may have this number of records outside chunks, and as many in chunks without an index."""
MIN_PLAIN_RECORD_BYTES = 32
"""A larger file may have one record, outside chunks, for this number of its bytes."""
MIN_RECORD_BYTES = 10
"""A larger file may have one record for this number of its bytes. Compressed messages of recorders take 50 or more."""


def check_pixels(width: int, height: int) -> None:
    """Raise ValueError for an image without pixels, or with more than MAX_PIXELS."""
    if not 0 < width * height <= MAX_PIXELS:
        raise ValueError(f"the image says that it has {width}x{height} pixels; readable are 1 to {MAX_PIXELS} pixels")


def check_block(size: int) -> None:
    """Raise ValueError for a chunk or message that declares more than MAX_BLOCK_BYTES."""
    if size > MAX_BLOCK_BYTES:
        raise ValueError(f"a chunk or message of {size} bytes; at most {MAX_BLOCK_BYTES} are unpacked")


def max_unpacked_bytes(file_bytes: int) -> int:
    """Maximum size of everything that a file of ``file_bytes`` may unpack to."""
    return max(FREE_BYTES, MAX_RATIO * file_bytes)


def max_searched_bytes(file_bytes: int) -> int:
    """Maximum size that a file of ``file_bytes`` may unpack to in the search of the first messages of its topics."""
    return max(FREE_SEARCH_BYTES, MAX_SEARCH_RATIO * file_bytes)


def max_played_bytes(file_bytes: int, message_bytes: int) -> int:
    """Maximum size that a file of ``file_bytes`` may unpack to while ``message_bytes`` of it are read in order."""
    return max_unpacked_bytes(file_bytes) + MAX_PLAY_RATIO * message_bytes


def max_records(file_bytes: int) -> int:
    """Maximum number of records that are walked in a file of ``file_bytes`` to make up for a missing index."""
    return FREE_RECORDS + file_bytes // MIN_RECORD_BYTES


def max_plain_records(file_bytes: int) -> int:
    """Maximum number of records, outside chunks, of a file of ``file_bytes``."""
    return FREE_RECORDS + file_bytes // MIN_PLAIN_RECORD_BYTES


def max_model_bytes(file_bytes: int) -> int:
    """Maximum size of all arrays of a model file of ``file_bytes``."""
    return max(FREE_MODEL_BYTES, MAX_MODEL_RATIO * file_bytes)


def max_text_bytes(file_bytes: int) -> int:
    """Maximum size of all text that is read from an archive of ``file_bytes``."""
    return max(FREE_TEXT_BYTES, MAX_TEXT_RATIO * file_bytes)
