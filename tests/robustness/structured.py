"""Mutations that keep a container whole: inside its compression and its checksums."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.robustness.containers import hdf5, matroska, mcap, npz, png, ros1_bag, sqlite
from tests.robustness.mutations import mutate

CONTAINERS: dict[bytes, Callable[[Random, bytes], bytes]] = {
    png.MAGIC: png.mutate_png,
    mcap.MAGIC: mcap.mutate_mcap,
    npz.MAGIC: npz.mutate_npz,
    sqlite.MAGIC: sqlite.mutate_database,
    ros1_bag.MAGIC: ros1_bag.mutate_bag,
    matroska.MAGIC: matroska.mutate_matroska,
    hdf5.MAGIC: hdf5.mutate_hdf5,
}
"""First bytes of a file -> mutation inside its container."""


def mutate_file(rng: Random, content: bytes) -> bytes:
    """Mutate a file: inside its container two times of three, its bytes otherwise."""
    inside = next((change for magic, change in CONTAINERS.items() if content.startswith(magic)), None)
    return mutate(rng, content) if inside is None or rng.random() < 0.34 else inside(rng, content)
