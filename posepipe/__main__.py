"""Launcher of the command ``posepipe``: it starts the commands that were installed beside this library.

Ctrl-C and SIGTERM end the process with one line from the first moment to the last. While a command runs, it closes its
files first.

The packages ``apps`` and ``synth`` have common names. A folder on PYTHONPATH, or the current folder, may hold others
of the same name. The launcher therefore moves such folders behind its own in ``sys.path``; worker processes inherit
the order. It is the only module of the library that imports ``apps``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

OWN_FOLDER = Path(__file__).resolve().parents[1]
"""Folder of the packages ``posepipe``, ``synth`` and ``apps``."""
SHARED_NAMES = ("apps", "synth")


def main() -> int:
    """Run the command line of this process, and return the exit code."""
    sys.path[:] = path_with_own_packages_first(sys.path, OWN_FOLDER)
    from apps.terminal.interrupts import INTERRUPTED, leave, leave_at_signals

    leave_at_signals()
    from apps.cli import main as run_command

    status = run_command()
    if status == INTERRUPTED:
        leave()
    return status


def path_with_own_packages_first(path: Sequence[str], own_folder: Path) -> list[str]:
    """Return a module search path on which ``apps`` and ``synth`` are found in one folder.

    Parameters
    ----------
    path : folders in the order in which they are searched, as in ``sys.path``
    own_folder : the folder that has to win

    Returns
    -------
    list of str
        The same folders. Those before ``own_folder`` that hold a package of a shared name come right after it.
    """
    is_own = [bool(entry) and Path(entry).resolve() == own_folder for entry in path]
    place = is_own.index(True) if True in is_own else len(path)
    hiding = [entry for entry in path[:place] if _holds_shared_name(Path(entry))]
    kept = [entry for entry in path[:place] if entry not in hiding]
    return [*kept, str(own_folder), *hiding, *path[place + 1 :]]


def _holds_shared_name(folder: Path) -> bool:
    return any((folder / name).exists() or (folder / f"{name}.py").exists() for name in SHARED_NAMES)


if __name__ == "__main__":
    sys.exit(main())
