"""Curves: points where they belong, readable axes, and input that cannot be drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from posepipe.learn.tables.plotting.curve_drawing import draw_curves

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing):
    return [text.text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def line_of(drawing, k=0):
    paths = [path for path in ElementTree.fromstring(drawing).iter(f"{SVG}path") if path.get("fill") == "none"]
    return np.array([[float(n) for n in point.split()] for point in paths[k].get("d")[1:].split("L")])


def test_points_stand_where_their_numbers_say():
    line = line_of(draw_curves({"error": ([0, 1, 4], [0, 2, 1])}, "leaves", "error"))
    across, up = line.T
    assert (across[1] - across[0]) / (across[2] - across[0]) == pytest.approx(1 / 4, abs=1e-3)
    assert (up[2] - up[0]) / (up[1] - up[0]) == pytest.approx(1 / 2, abs=1e-3)
    assert up[1] < up[0]  # greater numbers stand higher


def test_powers_of_ten_are_as_far_apart_as_each_other():
    drawing = draw_curves({"error": ([1, 10, 100], [3, 2, 1])}, "trees", "error", log=True)
    across = line_of(drawing)[:, 0]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.11)
    assert {"1", "10", "100"} <= set(texts(drawing))


def test_drawings_of_one_range_have_one_vertical_axis():
    low, high = (line_of(draw_curves({"a": ([0, 1], up)}, "x", "y", up_range=(0, 8))) for up in ([0, 2], [4, 8]))
    assert (low[0, 1] - low[1, 1]) / (low[0, 1] - high[1, 1]) == pytest.approx(2 / 8, abs=1e-3)


def test_names_stand_in_the_legend_and_on_the_axes():
    drawing = draw_curves({"train": ([1, 2], [0, 1]), "test <new>": ([1, 2], [1, 0])}, "leaves", "error rate")
    assert {"train", "test <new>", "leaves", "error rate"} <= set(texts(drawing))
    assert drawing._repr_svg_() == drawing


def test_a_mark_stands_at_its_number():
    drawing = draw_curves({"error": ([0, 2], [0, 1])}, "leaves", "error", marked=2)
    mark = float(re.search(r'd="M([\d.]+) [\d.]+V[\d.]+"', drawing).group(1))
    assert mark == line_of(drawing)[1, 0]


def test_unknown_numbers_are_left_out():
    assert len(line_of(draw_curves({"error": ([0, 1, 2], [1, np.nan, 0])}, "leaves", "error"))) == 2


@pytest.mark.parametrize(
    ("curves", "log", "message"),
    [
        ({}, False, "at least one curve"),
        ({"error": ([1, 2], [1])}, False, "'error' has 2 and 1"),
        ({"error": ([0, 2], [1, 1])}, True, "numbers above 0, 'error' has 0"),
        ({"error": ([1], [np.nan])}, False, "'error' has none"),
    ],
)
def test_what_cannot_be_drawn_is_refused(curves, log, message):
    with pytest.raises(ValueError, match=message):
        draw_curves(curves, "leaves", "error", log=log)


@pytest.mark.parametrize("marked", [0, -1.0, np.nan])
def test_a_mark_of_a_logarithmic_axis_is_above_0(marked):
    with pytest.raises(ValueError, match="a logarithmic axis takes numbers above 0, marked is"):
        draw_curves({"a": ([1, 2], [1, 2])}, "x", "y", marked=marked, log=True)
