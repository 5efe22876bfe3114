"""Provenance: version and commit of the program that made a dataset or a model."""

from __future__ import annotations

from pathlib import Path

from posepipe import __version__


def source_revision() -> str:
    """Version, and commit if the program runs from a git checkout or worktree: ``0.1.0 8f3c2a1``."""
    git = _git_folder(Path(__file__).parents[2])
    head = git / "HEAD"
    if not head.is_file():
        return __version__
    name = head.read_text().strip()
    if name.startswith("ref: "):
        name = _resolve(git, name.removeprefix("ref: "))
    return f"{__version__} {name[:12]}" if name else __version__


def _git_folder(checkout: Path) -> Path:
    """Folder of git's files; in a worktree ``.git`` is a file that names it."""
    git = checkout / ".git"
    return checkout / git.read_text().removeprefix("gitdir: ").strip() if git.is_file() else git


def _resolve(git: Path, ref: str) -> str:
    """Commit of a branch, from its ref file or from the packed refs, both of which worktrees share."""
    common = git / "commondir"
    shared = git / common.read_text().strip() if common.is_file() else git
    if (shared / ref).is_file():
        return (shared / ref).read_text().strip()
    packed = shared / "packed-refs"
    lines = packed.read_text().splitlines() if packed.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {ref}")), "")
