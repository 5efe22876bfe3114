"""Files that a command reads, and outputs that would replace one of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

_READ = {
    "source": "source",
    "further": "source",
    "background": "background",
    "camera": "calibration",
    "extrinsics": "extrinsics",
    "thresholds": "thresholds",
    "model": "model",
    "forest": "model",
    "body_model": "body model",
    "labels": "labels",
    "datasets": "dataset",
    "joints": "dataset",
    "votes": "dataset",
    "prune_by": "dataset",
    "empty": "source",
    "rooms": "source",
    "pack": "pack",
    "mocap": "motion capture",
    "motions": "motion capture",
}
"""Arguments of all commands that name what is read, and what it is."""
_BESIDE = ("dataset.json", "calibration.json")
"""Files that belong to the recordings beside them."""
_IN_FOLDERS = (*_BESIDE, "camera.json", "device.json")
"""JSON files that a folder of frames may hold; others in it are not read."""
_NEVER_A_SOURCE = (".jsonl", ".csv", ".bvh", ".c3d", ".trc", ".glb", ".svg", ".html")


def files_read(args: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Yield what each file or folder is that the arguments name to be read, and its path."""
    from posepipe.models.registry import model_names, model_path
    from posepipe.sources.cameras import file_of_camera

    for_sources = getattr(args, "given_for_sources", {})
    for dest, what in _READ.items():
        for name in [*_listed(getattr(args, dest, None)), *for_sources.get(dest, ())]:
            path = file_of_camera(str(name)) or Path(name)
            yield what, path
            if path.is_file() and path.name in _BESIDE:  # names its folder
                yield what, path.parent
            elif path.is_file():
                yield from ((f"{each} of the {what}", path.with_name(each)) for each in _BESIDE)
            if str(name) in model_names():
                yield what, model_path(name)


def refuse_to_replace(args: argparse.Namespace, outputs: Iterable[tuple[str, Path]], but: str = "") -> None:
    """Refuse outputs that would replace a file that the arguments name to be read, or each other.

    Parameters
    ----------
    args : of any command
    outputs : option and path of each file that it writes
    but : what may be replaced, such as "model"

    Raises
    ------
    PosepipeError
        If one of them is such a file, may be a file of such a folder, or is the file of another output.
    """
    from posepipe.errors import PosepipeError

    read = [(what, path) for what, path in files_read(args) if what != but]
    taken: dict[Path, str] = {}
    for option, output in outputs:
        if (place := output.resolve()) in taken:
            raise PosepipeError(f"{option} {output} is the file of {taken[place]}; give another name")
        taken[place] = option
        for what, path in read:
            if output.resolve() == path.resolve():
                verb = "are" if what.endswith("s") else "is"
                lost = "a file of the source" if what == "source" else f"the {what} that {verb} read"
            elif path.is_dir() and path.resolve() in output.resolve().parents and _may_be_read(output):
                lost = f"a file of the {what}"
            else:
                continue
            raise PosepipeError(f"{option} {output} would replace {lost}; give another name".lstrip())


def _listed(value: object) -> Iterable[str | Path]:
    if isinstance(value, str | Path):
        return [value]
    return value if isinstance(value, list | tuple) else []


def _may_be_read(path: Path) -> bool:
    """Whether an output is a file already that a source may hold."""
    named = path.name in _IN_FOLDERS if path.suffix == ".json" else path.suffix not in _NEVER_A_SOURCE
    return named and path.exists()
