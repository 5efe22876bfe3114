"""Mutations of the arrays of an .npz file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from random import Random

import numpy as np

from tests.robustness.mutations import FLOATS, WHOLE, mutate

MAGIC = b"PK\x03\x04"
_DTYPES = ("<u1", "<i1", ">u2", "<i4", "<i8", "<f2", "<f4", ">f4", "<f8", "<c8", "?", "U3", "S3", "M8[s]")


def mutate_npz(rng: Random, content: bytes) -> bytes:
    """Mutate the arrays of an .npz, or the bytes of its members, and write the archive again."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(members))
        if rng.random() < 0.1:
            members[rng.choice(list(members))] = members.pop(name)
        else:
            members[name] = _mutate_member(rng, members[name])
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()


def _mutate_member(rng: Random, content: bytes) -> bytes:
    """Mutate one array, or its bytes and header."""
    if rng.random() < 0.25:
        return mutate(rng, content)
    try:
        return _npy(mutate_array(rng, np.load(BytesIO(content), allow_pickle=False)))
    except Exception:  # an earlier mutation damaged its header; NumPy parses it as Python
        return mutate(rng, content)


def _npy(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def mutate_array(rng: Random, array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint8 and array.ndim == 1 and array[:1].tobytes() == b"{" and rng.random() < 0.9:
        return np.frombuffer(_mutate_json(rng, array.tobytes()), np.uint8)
    return rng.choice((_set_elements, _set_elements, _other_dtype, _other_shape, _other_order))(rng, array)


def _mutate_json(rng: Random, content: bytes) -> bytes:
    """Mutate one value of a JSON object, at any depth, or its text."""
    if rng.random() < 0.5:
        return mutate(rng, content)
    data = json.loads(content)
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.3:
            break
        place = place[key]
    place[key] = rng.choice((None, True, -1, 0, 2**31, 2**64, 10**400, 1e308, float("nan"), "", "x", [], {}, [[1]]))
    return json.dumps(data).encode()


def _set_elements(rng: Random, array: np.ndarray) -> np.ndarray:
    array = np.array(array)
    for _ in range(min(array.size, rng.choice((1, 1, 3, 100)))):
        value = rng.choice((*WHOLE, *FLOATS, -1, -2))
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                array.flat[rng.randrange(array.size)] = np.float64(value).astype(array.dtype)
        elif array.dtype.kind in "iu":
            bits = 8 * array.dtype.itemsize
            whole = int(value) % (1 << bits) if np.isfinite(value) else 0
            low = 1 << (bits - 1) if array.dtype.kind == "i" else 1 << bits
            array.flat[rng.randrange(array.size)] = whole if whole < low else whole - (1 << bits)
        elif array.dtype.kind == "U":
            array.flat[rng.randrange(array.size)] = rng.choice(("", "x", "\x1b[2J", "\ud800"))
    return array


def _other_dtype(rng: Random, array: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_DTYPES))
    except (TypeError, ValueError):
        return np.zeros(array.shape, rng.choice(_DTYPES))


def _other_shape(rng: Random, array: np.ndarray) -> np.ndarray:
    changes: tuple[Callable[[], np.ndarray], ...] = (
        array.ravel,
        lambda: array[None],
        lambda: array[..., None],
        lambda: array[: len(array) // 2] if array.ndim else array,
        lambda: array[:0] if array.ndim else array,
        lambda: array[..., :-1] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: np.zeros(array.shape + (0,), array.dtype),
        lambda: array.ravel()[0] if array.size else array,
        lambda: np.zeros((0, 1 << 40), array.dtype),
    )
    return np.asarray(rng.choice(changes)())


def _other_order(rng: Random, array: np.ndarray) -> np.ndarray:
    """Column-major, or another byte order."""
    if rng.random() < 0.5:
        return np.asfortranarray(array)
    return array.astype(array.dtype.newbyteorder())
