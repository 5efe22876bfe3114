"""Figures of evaluations as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

from posepipe.io.files import name_text, replace_file


class Figures(Protocol):
    """Report of poses, of tracks or of several views."""

    def to_dict(self) -> dict:
        """Every figure, ready for JSON."""


def write_figures(path: str | Path, title: str, reports: Mapping[str, Figures]) -> None:
    """Write every figure as JSON.

    Parameters
    ----------
    path : replaced in one step
    title : name of the frames that were scored
    reports : by name of the model
    """
    models = {name_text(name): report.to_dict() for name, report in reports.items()}
    figures = {"frames": name_text(title), "models": models}
    replace_file(path, json.dumps(figures, indent=1).encode() + b"\n")


def without_nan(value: Any) -> Any:
    """Replace NaN and infinity, where there is nothing to measure, by None: plain data of dictionaries and numbers."""
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value
