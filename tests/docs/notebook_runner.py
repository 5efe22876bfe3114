"""Runs notebooks without Jupyter; ``python -m tests.docs.notebook_runner NOTEBOOK...`` stores their outputs anew.

A cell prints, and its last expression is shown as Jupyter shows it: by ``_repr_svg_``, ``_repr_png_`` or ``repr``. A
drawing is also stored as the file of docs/images that the cell's metadata names under "picture", for pages to show.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

IMAGES = ROOT / "docs" / "images"
SVG = "image/svg+xml"


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def drawing_of(outputs: list[dict[str, Any]]) -> str | None:
    """The SVG drawing among the outputs of a cell; None where it draws nothing."""
    drawings = ["".join(output["data"][SVG]) for output in outputs if SVG in output.get("data", {})]
    return drawings[0] if drawings else None


def run_cells(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Outputs of every code cell, run in order in the current folder, as a notebook stores them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run("".join(cell["source"]), names) for cell in code_cells(notebook)]


def _run(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed, shown = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        shown = eval(compile(last, "cell", "eval"), names) if last is not None else None
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if shown is not None:
        outputs.append({"data": _data(shown), "metadata": {}, "output_type": "display_data"})
    return outputs


def _data(shown: Any) -> dict[str, Any]:
    if hasattr(shown, "_repr_svg_"):
        return {SVG: shown._repr_svg_().splitlines(keepends=True)}
    if hasattr(shown, "_repr_png_"):
        return {"image/png": base64.b64encode(shown._repr_png_()).decode(), "text/plain": repr(shown)}
    return {"text/plain": repr(shown)}


def store_outputs(path: Path) -> None:
    """Run a notebook in an empty folder, and write its outputs into it."""
    path = path.resolve()
    notebook = json.loads(path.read_text("utf-8"))
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            outputs = run_cells(notebook)
        finally:
            os.chdir(before)
    for number, (cell, fresh) in enumerate(zip(code_cells(notebook), outputs, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = fresh, number
        if picture := cell["metadata"].get("picture"):
            drawing = drawing_of(fresh)
            assert drawing is not None, f"cell {number} draws nothing for {picture}"
            (IMAGES / picture).parent.mkdir(exist_ok=True)
            (IMAGES / picture).write_text(drawing, "utf-8")
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store_outputs(Path(name))
