"""Mutations of the arrays of an HDF5 file, of how they are stored, and of the links to them."""

from __future__ import annotations

from io import BytesIO
from random import Random
from typing import Any

import numpy as np

from tests.robustness.containers.npz import mutate_array
from tests.robustness.mutations import mutate

MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_BYTES = 16_000_000
"""Larger arrays are declared by an earlier mutation, and were never written: reading them would fill the memory."""
_FILTERS: tuple[dict[str, Any], ...] = (
    *({}, {"compression": "gzip"}, {"compression": "lzf"}, {"compression": "gzip", "shuffle": True}),
    *({"fletcher32": True}, {"scaleoffset": 3}, {"compression": "gzip", "fletcher32": True}),
)


def mutate_hdf5(rng: Random, content: bytes) -> bytes:
    """Mutate one array, its chunks, its filters or its name."""
    import h5py

    packed = BytesIO(content)
    change = rng.choice((_other_array, _other_array, _other_storage, _damaged_chunk, _other_link))
    try:
        with h5py.File(packed, "r+") as file:
            names = [name for name in file if isinstance(file.get(name), h5py.Dataset)]
            name = rng.choice(names)
            if file[name].nbytes > MAX_BYTES:
                return mutate(rng, content)
            change(rng, file, name)
    except Exception:  # an array that HDF5 does not store, or a file that an earlier mutation broke
        return mutate(rng, content)
    return packed.getvalue()


def _other_array(rng: Random, file: Any, name: str) -> None:
    array = mutate_array(rng, file[name][...])
    if array.dtype.kind in "UM":  # HDF5 has no such types
        array = array.astype("S3")
    if array.size == 0 and max(array.shape, default=0) > 1 << 32:
        array = array.reshape(-1)
    del file[name]
    file.create_dataset(name, data=array)


def _other_storage(rng: Random, file: Any, name: str) -> None:
    """Write an array again in other chunks and filters, or none of it."""
    array = file[name][...]
    chunks = tuple(rng.randint(1, max(1, size)) for size in array.shape) or None
    options = {"chunks": chunks, **rng.choice(_FILTERS)} if chunks else {}
    del file[name]
    if rng.random() < 0.3:
        shape = (rng.choice((1, 1 << 10, 1 << 20, 1 << 33)), *array.shape[1:])
        options |= {"chunks": (1, *chunks[1:])} if chunks else {}
        file.create_dataset(name, shape, array.dtype, fillvalue=rng.choice((None, 1)), **options)
    else:
        file.create_dataset(name, data=array, **options)


def _damaged_chunk(rng: Random, file: Any, name: str) -> None:
    """Mutate the packed bytes of one chunk."""
    own = file[name].id
    if file[name].chunks is None or not own.get_num_chunks():
        return _other_storage(rng, file, name)
    offset = own.get_chunk_info(rng.randrange(own.get_num_chunks())).chunk_offset
    skipped, data = own.read_direct_chunk(offset)
    own.write_direct_chunk(offset, mutate(rng, data) or b"\0", filter_mask=rng.choice((skipped, 0, 1, 3)))
    return None


def _other_link(rng: Random, file: Any, name: str) -> None:
    """Put a link, a group, an array elsewhere or a joined array in the place of an array."""
    import h5py

    shape = file[name].shape
    kind = rng.randrange(5)
    del file[name]
    if kind == 0:
        file[name] = h5py.SoftLink(f"/{name}")
    elif kind == 1:
        file[name] = h5py.ExternalLink("/dev/zero", "/data")
    elif kind == 2:
        file.create_group(name)
    elif kind == 3:
        external = [("/dev/zero", 0, h5py.h5f.UNLIMITED)]
        file.create_dataset(name, shape, np.uint8, external=external)
    else:
        layout = h5py.VirtualLayout(shape, np.float16)
        if shape:
            layout[...] = h5py.VirtualSource("other.h5", "data", shape)
        file.create_virtual_dataset(name, layout)
