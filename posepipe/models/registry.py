"""Registry: names and paths of the shipped models."""

from __future__ import annotations

from pathlib import Path

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import is_absent, name_text, special_kind
from posepipe.models.header import answer_hash

SUFFIX = ".npz"


def models_dir() -> Path:
    """Folder of the shipped models: inside an installed package, or beside it in a checkout.

    Examples
    --------
    >>> from posepipe import models_dir
    >>> (models_dir() / "person.npz").is_file()
    True
    """
    package = Path(__file__).parents[1]
    installed = package / "_models"
    return installed if installed.is_dir() else package.parent / "models"


def model_names() -> tuple[str, ...]:
    """Names of the shipped models."""
    return tuple(sorted(path.stem for path in models_dir().glob(f"*{SUFFIX}")))


def model_path(model: str | Path) -> Path:
    """File of a model, from the name of a shipped one or from a path.

    Raises
    ------
    PosepipeError
        When there is neither; the message lists the shipped names.
    """
    shipped = models_dir() / f"{model}{SUFFIX}"
    if str(model) in model_names():
        return shipped
    path = Path(model)
    if not is_absent(path):
        if kind := special_kind(path):
            raise FormatError(path, f"wanted a regular file, got {kind}")
        return path
    raise PosepipeError(
        f"no model {str(model)!r}: give a model file (.npz) or one of the shipped models: {', '.join(model_names())}"
    )


def model_identity(path: Path) -> str:
    """Name and hash of a model, for the headers of results: ``person sha256:0123456789ab``.

    The hash covers what determines results (`answer_hash`); adding figures to the file does not change it.
    """
    return f"{name_text(path.stem)} sha256:{answer_hash(path)[:12]}"
