"""Notebooks run from the first cell to the last, and print what they say they print."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.docs.notebook_runner import code_cells, run_cells
from tests.support.paths import ROOT

OF_PICTURES = "decision_trees"
"""This one has a test of its own: test_tree_notebook.py."""
NOTEBOOKS = [path for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")) if path.stem != OF_PICTURES]


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
STORE_ANEW = "to store them anew: python -m tests.docs.notebook_runner docs/notebooks/first_recording.ipynb"


def texts(outputs):
    return ["".join(output.get("text") or output["data"]["text/plain"]) for output in outputs]


def words(cells):
    """What cells print, without numbers, and the width that numbers take."""
    return [[NUMBER.sub("#", text).split() for text in texts(outputs)] for outputs in cells]


def numbers(cells):
    return [float(number) for outputs in cells for text in texts(outputs) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_and_prints_what_it_holds(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text("utf-8"))
    fresh = run_cells(notebook)
    held = [cell["outputs"] for cell in code_cells(notebook)]
    assert words(fresh) == words(held), STORE_ANEW
    # another processor rounds differently, and another model moves joints a little
    np.testing.assert_allclose(numbers(fresh), numbers(held), rtol=0.1, atol=0.1, err_msg=STORE_ANEW)
    assert sum(map(len, fresh)) > 3


def test_the_first_notebook_takes_another_recording(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lens = Intrinsics(285.6, 285.6, 159.5, 119.5)
    write_npz_pack("own.npz", [DepthFrame(np.full((240, 320), 3000, np.uint16), lens, i / 30, i) for i in range(3)])
    notebook = json.loads((ROOT / "docs" / "notebooks" / "first_recording.ipynb").read_text("utf-8"))
    cell = code_cells(notebook)[0]
    cell["source"] = re.sub(r"recording = .*", 'recording = "own.npz"', "".join(cell["source"]))
    assert "found in 0 of 3 frames" in str(run_cells(notebook))


def test_a_cell_shows_its_last_expression_and_what_it_prints():
    cells = ["x = 2\nprint('two')", "print(x)\nx + 1", "None"]
    notebook = {"cells": [{"cell_type": "code", "source": [source]} for source in cells]}
    assert [texts(outputs) for outputs in run_cells(notebook)] == [["two\n"], ["2\n", "3"], []]
