"""The notebook on trees: every cell runs and shows what is stored, and the page shows its drawings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.tree_notebook import IMAGES, code_cells, run_cell, stored
from tests.support.paths import ROOT

NOTEBOOK = ROOT / "docs" / "notebooks" / "decision_trees.ipynb"
STORE_ANEW = "to store it anew: python -m tests.docs.tree_notebook docs/notebooks/decision_trees.ipynb"


def cells():
    return code_cells(json.loads(NOTEBOOK.read_text(encoding="utf-8")))


def words(drawing):
    """Texts of a drawing, without the numbers of its ticks."""
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing) if not re.fullmatch(r"-?[\d.]+", text)]


def test_every_cell_shows_what_is_stored():
    names = {}
    for number, cell in enumerate(cells(), start=1):
        text, drawing = run_cell("".join(cell["source"]), names)
        expected, picture = stored(cell)
        assert text == expected, f"cell {number}; {STORE_ANEW}"
        assert (drawing is None) == (picture is None), f"cell {number}; {STORE_ANEW}"
        if drawing is not None:
            assert words(drawing) == words(picture), f"cell {number}; {STORE_ANEW}"


def test_pictures_of_the_page_are_those_of_the_notebook():
    page = (ROOT / "docs" / "guides" / "trees.md").read_text(encoding="utf-8")
    named = {cell["metadata"]["picture"]: stored(cell)[1] for cell in cells() if "picture" in cell["metadata"]}
    assert {path.name for path in (IMAGES / "trees").glob("*")} == {Path(picture).name for picture in named}
    for picture, drawing in named.items():
        assert drawing == (IMAGES / picture).read_text(encoding="utf-8"), STORE_ANEW
        assert f"../images/{picture}" in page
