"""Provenance: version and commit of the program that made a dataset or a model."""

from __future__ import annotations

from pathlib import Path

from posepipe import __version__


def source_revision() -> str:
    """Version, and commit if the program runs from a git checkout: ``0.1.0 8f3c2a1``."""
    git = Path(__file__).parents[2] / ".git"
    head = git / "HEAD"
    if not head.is_file():
        return __version__
    name = head.read_text().strip()
    if name.startswith("ref: "):
        name = _resolve(git, name.removeprefix("ref: "))
    return f"{__version__} {name[:12]}" if name else __version__


def _resolve(git: Path, ref: str) -> str:
    """Commit of a branch, from its ref file or from the packed refs."""
    if (git / ref).is_file():
        return (git / ref).read_text().strip()
    packed = git / "packed-refs"
    lines = packed.read_text().splitlines() if packed.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {ref}")), "")
