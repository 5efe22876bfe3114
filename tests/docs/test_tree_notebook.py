"""The notebook on trees: every cell runs and shows what is stored, and the page shows its drawings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.notebook_runner import IMAGES, code_cells, drawing_of, run_cells
from tests.support.paths import ROOT

NOTEBOOK = ROOT / "docs" / "notebooks" / "decision_trees.ipynb"
STORE_ANEW = "to store it anew: python -m tests.docs.notebook_runner docs/notebooks/decision_trees.ipynb"


def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def texts(outputs):
    """What a cell shows besides drawings."""
    return ["".join(output.get("text") or output["data"].get("text/plain", "")) for output in outputs]


def words(drawing):
    """Texts of a drawing, without the numbers of its ticks."""
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing) if not re.fullmatch(r"-?[\d.]+", text)]


def test_every_cell_shows_what_is_stored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = code_cells(notebook())
    for number, (cell, outputs) in enumerate(zip(cells, run_cells(notebook()), strict=True), start=1):
        assert texts(outputs) == texts(cell["outputs"]), f"cell {number}; {STORE_ANEW}"
        drawing, picture = drawing_of(outputs), drawing_of(cell["outputs"])
        assert (drawing is None) == (picture is None), f"cell {number}; {STORE_ANEW}"
        if drawing is not None:
            assert words(drawing) == words(picture), f"cell {number}; {STORE_ANEW}"


def test_pictures_of_the_page_are_those_of_the_notebook():
    page = (ROOT / "docs" / "guides" / "trees.md").read_text(encoding="utf-8")
    cells = [cell for cell in code_cells(notebook()) if "picture" in cell["metadata"]]
    named = {cell["metadata"]["picture"]: drawing_of(cell["outputs"]) for cell in cells}
    assert {path.name for path in (IMAGES / "trees").glob("*")} == {Path(picture).name for picture in named}
    for picture, drawing in named.items():
        assert drawing == (IMAGES / picture).read_text(encoding="utf-8"), STORE_ANEW
        assert f"../images/{picture}" in page
