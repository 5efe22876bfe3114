"""Where trained forests lie."""

from __future__ import annotations

from pathlib import Path

from posepipe.errors import PosepipeError
from posepipe.models.header import answer_hash

SUFFIX = ".npz"


def models_dir() -> Path:
    """Folder of the shipped models: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_models"
    return installed if installed.is_dir() else package.parent / "models"


def model_names() -> tuple[str, ...]:
    """Names of the shipped models."""
    return tuple(sorted(path.stem for path in models_dir().glob(f"*{SUFFIX}")))


def model_path(model: str | Path) -> Path:
    """The file of a shipped model's name, or of a path.

    Raises
    ------
    PosepipeError
        When it is neither; the message lists the shipped names.
    """
    shipped = models_dir() / f"{model}{SUFFIX}"
    if str(model) in model_names():
        return shipped
    path = Path(model)
    if path.is_file():
        return path
    raise PosepipeError(
        f"no model {str(model)!r}: give a model file (.npz) or one of the shipped models: {', '.join(model_names())}"
    )


def model_identity(path: Path) -> str:
    """Name and hash of a model, for the headers of results: ``person sha256:0123456789ab``.

    The hash is of what decides the answers: figures that are added to the file leave it as it is.
    """
    return f"{path.stem} sha256:{answer_hash(path)[:12]}"
