"""The notebook on trees: run cell by cell, and stored with what it shows.

    python -m tests.docs.tree_notebook docs/notebooks/decision_trees.ipynb

A cell shows what it prints and the value of its last line. A drawing is stored as SVG, also as the file of docs/images
that the cell's metadata names under "picture", for the pages that show it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

IMAGES = ROOT / "docs" / "images"


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Cells with code, in their order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_cell(source: str, names: dict[str, Any]) -> tuple[str, str | None]:
    """Run one cell in a namespace; returns what it shows as text, and its drawing."""
    lines = ast.parse(source)
    last = lines.body.pop() if lines.body and isinstance(lines.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(lines, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None
    if hasattr(value, "_repr_svg_"):
        return printed.getvalue(), value._repr_svg_()
    shown = "" if value is None else f"{value!r}\n"
    return printed.getvalue() + shown, None


def as_outputs(text: str, drawing: str | None) -> list[dict[str, Any]]:
    """Write what a cell shows as notebooks store it."""
    outputs: list[dict[str, Any]] = []
    if text:
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if drawing is not None:
        data = {"image/svg+xml": drawing.splitlines(keepends=True)}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def stored(cell: dict[str, Any]) -> tuple[str, str | None]:
    """What a cell shows, as it is stored."""
    text = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")
    drawings = ["".join(output["data"]["image/svg+xml"]) for output in cell["outputs"] if "data" in output]
    return text, drawings[0] if drawings else None


def store(path: Path) -> None:
    """Run a notebook and store it with what it shows."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for number, cell in enumerate(code_cells(notebook), start=1):
        text, drawing = run_cell("".join(cell["source"]), names)
        cell["execution_count"], cell["outputs"] = number, as_outputs(text, drawing)
        if picture := cell["metadata"].get("picture"):
            assert drawing is not None, f"cell {number} draws nothing for {picture}"
            (IMAGES / picture).parent.mkdir(exist_ok=True)
            (IMAGES / picture).write_text(drawing, encoding="utf-8")
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for given in sys.argv[1:]:
        store(Path(given))
