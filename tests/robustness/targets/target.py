"""A fuzz target: a small good file of one kind, and how its reader is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.robustness.structured import mutate_file

Files = Mapping[str, bytes]
"""Path inside a folder -> content."""


@dataclass(frozen=True)
class Target:
    """One kind of file that users may give, with the reader under test."""

    name: str  #: also a folder of `cases`
    write: Callable[[Path], None]  #: writes a good file, or a folder of files, into an empty folder
    read: Callable[[Path], object]  #: reads all of it; the folder has what ``write`` wrote, one file of it mutated
    covers: tuple[str, ...]  #: modules whose reading this target tries
    extras: tuple[str, ...] = ()  #: packages of optional dependencies; without them the target is skipped

    def good_files(self, folder: Path) -> dict[str, bytes]:
        """Write the good files into an empty folder and return them."""
        self.write(folder)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    def mutant(self, good: Files, seed: int) -> dict[str, bytes]:
        """Return the one file that a seed mutates, as it is then."""
        rng = Random(f"{self.name} {seed}")
        name = rng.choice(list(good))
        return {name: mutate_file(rng, good[name])}


def write_files(folder: Path, files: Files) -> None:
    """Write files by their paths inside a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
