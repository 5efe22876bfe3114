"""Rows of an HDF5 array, with its compressed chunks checked first.

HDF5 unpacks a chunk as far as its deflate stream goes, whatever size the file declares for it.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from posepipe.io.limits import MAX_CHUNKS_OF_ROW, MAX_RATIO, check_block, max_unpacked_bytes

_DEFLATE, _SHUFFLE, _CHECKSUM, _LZF = 1, 2, 3, 32000
_SAFE = (_SHUFFLE, _CHECKSUM)  #: filters that do not enlarge data
_CHECKSUM_BYTES = 4


class Hdf5Rows:
    """One array of an HDF5 file, read by row or whole.

    Parameters
    ----------
    array : h5py.Dataset, neither virtual nor external

    Raises
    ------
    ValueError
        When it is larger than the file justifies, as HDF5 stores none of what was never written; when its chunks are
        too large, too many, or compressed by an unsupported filter; while reading, when a chunk unpacks to more than
        its size.
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        self._chunk: tuple[int, ...] = array.chunks or ()
        self._chunk_bytes = math.prod(self._chunk) * array.dtype.itemsize
        self._checked: set[tuple[int, ...]] = set()
        check_block(self._chunk_bytes)  # one row unpacks a whole chunk
        limit = max_unpacked_bytes(array.file.id.get_filesize())
        if (size := array.size * array.dtype.itemsize) > limit:
            raise ValueError(f"an array of {size >> 20} MB, allowed are {limit >> 20} MB for a file of its size")
        self._steps = [range(0, own, step) for own, step in zip(array.shape, self._chunk, strict=False)]
        if math.prod(map(len, self._steps[1:])) > MAX_CHUNKS_OF_ROW:
            raise ValueError(f"chunks {self._chunk} of an array {array.shape}; store a row in fewer, larger ones")
        settings = array.id.get_create_plist()
        self._filters = [settings.get_filter(k)[0] for k in range(settings.get_nfilters())]
        packing = [each for each in self._filters if each not in _SAFE]
        if packing not in ([], [_DEFLATE], [_LZF]):
            raise ValueError(f"HDF5 filters {self._filters}; readable are gzip, lzf, shuffle and fletcher32")

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, row: int) -> np.ndarray:
        """Read one row: (...)."""
        if self._chunk:
            first = row // self._chunk[0] * self._chunk[0]
            self._check(itertools.product((first,), *self._steps[1:]))
        return self._array[row]

    def read(self) -> np.ndarray:
        """Read the array whole: (N, ...)."""
        if self._chunk:
            own = self._array.id
            self._check(own.get_chunk_info(k).chunk_offset for k in range(own.get_num_chunks()))
        return self._array[...]

    def _check(self, offsets: Iterable[tuple[int, ...]]) -> None:
        for offset in offsets:
            if self._filters and offset not in self._checked:
                self._check_chunk(offset)
                self._checked.add(offset)

    def _check_chunk(self, offset: tuple[int, ...]) -> None:
        stored = self._array.id.get_chunk_info_by_coord(offset)
        if stored.byte_offset is None:  # never written: it reads as the fill value
            return
        if stored.byte_offset + stored.size > self._array.file.id.get_filesize():
            raise ValueError("a chunk beyond the end of the file")
        skipped, data = self._array.id.read_direct_chunk(offset)
        filters = [each for k, each in enumerate(self._filters) if not skipped >> k & 1]
        if _LZF in filters:
            check_block(MAX_RATIO * len(data))
        if _DEFLATE in filters:
            limit = self._chunk_bytes + _CHECKSUM_BYTES  # a checksum may be inside
            try:
                unpacked = zlib.decompressobj().decompress(data, limit + 1)
            except zlib.error as error:
                raise ValueError(str(error)) from error
            if len(unpacked) > limit:
                raise ValueError(f"a chunk of {self._chunk_bytes} bytes unpacks to more")
