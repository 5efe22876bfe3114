"""Drawings are complete and well formed for any names, and no two texts overlap."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.plotting.region_drawing import draw_regions
from posepipe.learn.tables.plotting.svg import class_colour, shortened, text_width, wrapped
from posepipe.learn.tables.plotting.tree_drawing import draw_tree
from tests.learn.tables.plotting.test_tree_text import chain

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<&\"'> \x00\x1b\ud800"
"""Characters with a meaning in XML, and characters that XML does not allow."""


def drawn(name: str, learner) -> str:
    example = load_example(name)
    return draw_tree(learner.fit(example.rows, example.target), example.columns)


def texts(drawing: str) -> list[tuple[str, float, float, float, float]]:
    """Every line of text and its box: left, top, right, bottom."""
    found = []

    def walk(element, dx: float, dy: float) -> None:
        move = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if move:
            dx, dy = dx + float(move[1]), dy + float(move[2])
        if element.tag == SVG + "text":
            size, x, y = (float(element.get(key)) for key in ("font-size", "x", "y"))
            wide = text_width(element.text, size)
            left = x + dx - wide * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor")]
            found.append((element.text, left, y + dy - 0.8 * size, left + wide, y + dy + 0.2 * size))
        for child in element:
            walk(child, dx, dy)

    walk(ElementTree.fromstring(drawing), 0.0, 0.0)
    return found


def words(drawing: str) -> list[str]:
    return [text for text, *_ in texts(drawing)]


TEACHING_TREES = [
    ("weather", Id3Classifier()),
    ("weather", C45Classifier(min_samples_leaf=1)),
    ("weather", CartClassifier()),
    ("loans", Id3Classifier()),
    ("restaurant", Id3Classifier()),
    ("restaurant", CartClassifier()),
    ("defaulted_loans", CartClassifier()),
    ("peas", Id3Classifier()),
    ("steps", CartRegressor()),
]


@pytest.mark.parametrize(("name", "learner"), TEACHING_TREES)
def test_no_two_texts_overlap_and_none_leaves_the_drawing(name, learner):
    drawing = drawn(name, learner)
    root = ElementTree.fromstring(drawing)
    boxes = texts(drawing)
    for k, (text, left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert top >= 0
        assert right <= float(root.get("width")), text
        assert bottom <= float(root.get("height"))
        for other, other_left, other_top, other_right, other_bottom in boxes[k + 1 :]:
            apart = left >= other_right or other_left >= right or top >= other_bottom or other_top >= bottom
            assert apart, (text, other)


def test_the_weather_drawing_holds_columns_branches_and_counts():
    said = words(drawn("weather", Id3Classifier()))
    assert sorted(said) == sorted(
        ["outlook", "wind", "humidity", "overcast", "rain", "sunny", "strong", "weak", "high", "normal"]
        + ["yes", "4", "no", "2", "yes", "3", "no", "3", "yes", "2"]
        + ["no", "yes"]  # the legend
    )


def test_a_parent_stands_midway_between_its_children():
    middle = {text: (left + right) / 2 for text, left, _, right, _ in texts(drawn("weather", Id3Classifier()))}
    assert middle["outlook"] == pytest.approx((middle["overcast"] + middle["sunny"]) / 2, abs=0.2)
    assert middle["wind"] == pytest.approx((middle["strong"] + middle["weak"]) / 2, abs=0.2)
    assert middle["humidity"] == pytest.approx((middle["high"] + middle["normal"]) / 2, abs=0.2)


def test_the_drawing_shows_ties_and_leaves_without_rows():
    said = words(drawn("restaurant", Id3Classifier()))
    assert "as good: Price, Res, Type, Est" in said
    assert "no rows" in said


def test_a_tree_of_numbers_shows_means_and_rows():
    said = words(drawn("steps", CartRegressor(max_depth=2, min_samples_leaf=3)))
    assert {"\u2264 6.5", "> 6.5", "6.75", "8.9125", "3 rows", "4 rows"} <= set(said)


def test_names_are_escaped_wherever_they_stand():
    rows = np.array([[NASTY, 1.0], [NASTY + "b", 1.0], [NASTY + "c", 1.0]], object)
    tree = Id3Classifier().fit(rows, np.array([NASTY, "other", "third"]))
    drawing = draw_tree(tree, [NASTY, "second"])
    assert words(drawing).count("<&\"'> \ufffd\ufffd\ufffd") == 4  # question, answer, leaf, legend


def test_long_names_are_broken_or_shortened():
    rows = np.array([["a" * 90], ["b"]], object)
    tree = CartClassifier().fit(rows, np.array(["c" * 90, "d"]))
    drawing = draw_tree(tree, ["many short words " * 20])
    assert float(ElementTree.fromstring(drawing).get("width")) < 600
    assert any(word.startswith("ccc") and word.endswith("\u2026") for word in words(drawing))
    assert "c" * 90 in drawing  # in the tip


def test_a_single_leaf_is_drawn():
    assert words(draw_tree(CartClassifier().fit([[1.0], [2.0]], ["yes", "yes"]))) == ["yes", "2", "yes"]
    assert words(draw_tree(CartRegressor().fit([[1.0]], [7.0]))) == ["7", "1 row"]


def test_many_levels_are_drawn():
    ElementTree.fromstring(draw_tree(chain(1500)))


def test_a_leaf_of_many_classes_shows_the_largest():
    tree = CartClassifier().fit(np.zeros((30, 1)), np.repeat(np.arange(10), 3))
    drawing = draw_tree(tree)
    assert "and 4 more" in words(drawing)
    assert class_colour(8) == class_colour(0)


def test_text_is_shortened_to_fit():
    assert shortened("outlook", 200, 13) == "outlook"
    short = shortened("outlook" * 9, 100, 13)
    assert short.endswith("\u2026")
    assert text_width(short, 13) <= 100
    assert wrapped("one two three", text_width("one two", 10), 10, 3) == ["one two", "three"]
    assert wrapped("one two three", 40, 10, 1)[0].endswith("\u2026")


# Regions


def quarters() -> tuple[np.ndarray, np.ndarray]:
    """Points whose class is the side of x = 0.5 on which they lie; a third column does not matter."""
    rng = np.random.default_rng(0)
    points = rng.random((40, 3))
    points[:2, 0] = 0.49, 0.51
    return points, np.where(points[:, 0] <= 0.5, "left", "right")


def covered(path: str) -> int:
    """Squares in a region's path."""
    return sum(int(w) * int(h) for w, h in re.findall(r"h(\d+)v(\d+)h", path))


def test_regions_fill_the_frame_and_meet_at_the_threshold():
    points, sides = quarters()
    drawing = ElementTree.fromstring(draw_regions(CartClassifier().fit(points, sides), points, sides))
    regions = [e.get("d") for e in drawing.iter(SVG + "path") if e.get("shape-rendering") == "crispEdges"]
    assert len(regions) == 2
    first, second = (re.fullmatch(r"M(\d+) 0h(\d+)v(\d+)h-\d+z", region) for region in regions)
    assert int(first[1]) == 0
    assert int(second[1]) == int(first[2])
    assert first[3] == second[3]
    low, high = points[:, 0].min(), points[:, 0].max()
    room = 0.05 * (high - low)
    share = (0.5 - low + room) / (high - low + 2 * room)
    assert int(first[2]) / (int(first[2]) + int(second[2])) == pytest.approx(share, abs=0.005)


def test_rows_are_dots_and_the_fixed_columns_are_named():
    points, sides = quarters()
    points[5, 2] = np.nan
    tree = CartClassifier().fit(points, sides)
    drawing = draw_regions(tree, points, sides, ("a", "c"), names=["a", "b", "c"])
    dots = [e for e in ElementTree.fromstring(drawing).iter(SVG + "g") if len(e) > 1]
    assert [len(e) for e in dots] == [np.sum((sides == side) & ~np.isnan(points[:, 2])) for side in ("left", "right")]
    said = words(drawing)
    assert {"a", "c", "left", "right", f"Regions at b {np.median(points[:, 1]):.6g}"} <= set(said)


def test_categories_are_held_at_the_commonest():
    loans = load_example("defaulted_loans")
    rows = np.column_stack([loans.rows, np.arange(10.0)]).astype(object)
    tree = CartClassifier().fit(rows, loans.target)
    drawing = draw_regions(tree, rows, loans.target, (2, 3), names=[*loans.columns, "age"])
    assert "Regions at house no, marital married" in words(drawing)


def test_a_table_of_named_columns_stays_one():
    points, sides = quarters()

    class Frame(dict):
        """As much of a DataFrame as is needed."""

        columns = property(lambda self: list(self))

        def __array__(self, dtype=None, copy=None):
            return np.column_stack(list(self.values()))

    class Named:
        """A classifier that wants its columns by name."""

        classes_ = np.array(["left", "right"])

        def predict(self, table):
            return np.where(table["a"] <= 0.5, "left", "right")

    frame = Frame(zip("abc", points.T, strict=True))
    assert {"a", "b"} <= set(words(draw_regions(Named(), frame, sides)))


def test_names_in_regions_are_escaped():
    points, sides = quarters()
    names = np.where(sides == "left", NASTY, "right")
    drawing = draw_regions(CartClassifier().fit(points, names), points, names, names=[NASTY, "b", "c"])
    assert words(drawing).count("<&\"'> \ufffd\ufffd\ufffd") == 2


@pytest.mark.parametrize("scale", [1e-9, 1, 1e12])
def test_ticks_lie_inside_the_frame_and_are_few(scale):
    points, sides = quarters()
    points *= scale
    drawing = draw_regions(CartClassifier().fit(points, sides), points, sides, names=["a", "b", "c"])
    numbers = [word for word in words(drawing) if re.fullmatch(r"-?[\d.e+-]+", word)]
    assert 4 <= len(numbers) <= 20
    assert len(set(numbers)) >= 4


def test_a_constant_column_has_a_range_too():
    points, sides = quarters()
    points[:, 1] = 3.0
    draw_regions(CartClassifier().fit(points, sides), points, sides)


def test_more_classes_than_lines_are_counted():
    points = np.random.default_rng(0).random((200, 2))
    classes = np.arange(200) % 40
    drawing = draw_regions(CartClassifier(max_depth=2).fit(points, classes), points, classes, size=(400, 300))
    assert sum(word.startswith("and ") for word in words(drawing)) == 1


def test_regions_want_two_columns_of_numbers():
    loans = load_example("defaulted_loans")
    tree = CartClassifier().fit(loans.rows, loans.target)
    with pytest.raises(ValueError, match="'house' holds none"):
        draw_regions(tree, loans.rows, loans.target, (0, 2), names=loans.columns)
    with pytest.raises(ValueError, match="columns must be two of house, marital, income, got 'age'"):
        draw_regions(tree, loans.rows, loans.target, ("age", 2), names=loans.columns)
    points, sides = quarters()
    with pytest.raises(ValueError, match="size must leave room"):
        draw_regions(CartClassifier().fit(points, sides), points, sides, size=(150, 100))


def test_regions_want_a_class_for_each_row():
    X = np.random.default_rng(0).normal(size=(20, 2))
    tree = CartClassifier(max_depth=1).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 5\]"):
        draw_regions(tree, X, np.zeros(5, bool))
