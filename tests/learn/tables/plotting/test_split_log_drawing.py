"""The growth of a tree step by step: a bar for each candidate, as long as its gain."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from posepipe.learn import C45Classifier, Id3Classifier, load_example
from posepipe.learn.tables.plotting.split_log_drawing import BAR, draw_split_log

SVG = "{http://www.w3.org/2000/svg}"


def test_every_candidate_of_every_split_has_a_bar():
    loans = load_example("loans")
    tree = Id3Classifier().fit(loans.rows, loans.target, log=True)
    drawing = draw_split_log(tree, loans.columns)
    root = ElementTree.fromstring(drawing)
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert [text for text in said if text.startswith("split")] == ["split 1: all rows", "split 2, node 1"]
    assert said.count("cannot separate") == 1
    assert "0.324, ratio 0.352" in said
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("height") == "12"]
    lengths = [float(bar.get("width")) for bar in bars]
    assert len(bars) == 7
    assert lengths[5] == BAR
    assert lengths[1] / lengths[5] == pytest.approx(0.324 / 0.918, abs=0.001)
    chosen = max(bar.get("fill") for bar in bars), min(bar.get("fill") for bar in bars)
    assert [bar.get("fill") == min(chosen) for bar in bars].count(True) == 2
    assert drawing._repr_svg_() == drawing


def test_columns_below_the_average_gain_are_marked():
    weather = load_example("weather")
    tree = C45Classifier(min_samples_leaf=1).fit(weather.rows, weather.target, log=True)
    root = ElementTree.fromstring(draw_split_log(tree, weather.columns))
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert "0.029, ratio 0.019, below the average gain" in said  # the average of the four columns is 0.119
    assert "0.247, ratio 0.156" in said


def test_a_tree_without_a_log_is_refused():
    tree = Id3Classifier().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match="fit the tree with log=True"):
        draw_split_log(tree)
