"""Depth-connected components: pixels connected in space are one, those that only overlap in the image are not."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.room_geometry.connected_components import depth_jump_m, find_components, find_contacts


def components_of(*rows: str, far_m: float = 3.0) -> list[str]:
    """Components of an image of letters: a 2 m, b ``far_m``, space nothing; answered in digits."""
    depth_m = np.array([[{"a": 2.0, "b": far_m, " ": 0.0}[c] for c in row] for row in rows], np.float32)
    components, count = find_components(depth_m, depth_m > 0)
    assert count == components.max(initial=0)
    return ["".join(str(p) if p else " " for p in row) for row in components]


def test_gaps_in_the_image_or_in_depth_separate_components():
    assert components_of("aa   aa", "aa   aa") == ["11   22", "11   22"]
    assert components_of("aabb", "aabb") == ["1122", "1122"]


def test_a_gap_of_two_pixels_separates_and_one_of_one_does_not():
    assert components_of("aa aa") == ["11 11"]
    assert components_of("aa  aa") == ["11  22"]


def test_a_narrow_limb_before_a_body_does_not_cut_it():
    assert components_of("bba", "bba", "bba", "bbb")[0][:2] == "11"
    assert components_of("bbabb", "bbabb") == ["11211", "11211"]  # across one pixel, by reach


def test_a_slope_of_any_length_is_one_component():
    depth_m = np.linspace(1, 4, 60, dtype=np.float32)[None].repeat(5, axis=0)
    assert find_components(depth_m, depth_m > 0)[1] == 1


@pytest.mark.parametrize("side", [-1, 1])
def test_the_depth_jump_separates_neighbours(side):
    jump = float(depth_jump_m(np.float32(2.0)))
    one = components_of("bbaa", far_m=2.0 + side * (jump - 0.005))
    two = components_of("bbaa", far_m=2.0 + side * (jump + 0.005))
    assert (one, two) == (["1111"], ["1122"])


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 4)])
def test_an_image_without_readings_has_no_components(shape):
    components, count = find_components(np.zeros(shape, np.float32), np.zeros(shape, bool))
    assert count == 0
    assert not components.any()


# contacts


def contacts_of(*rows: str, reach_px: int = 2) -> dict[tuple[int, int], float]:
    """Contacts of an image of component numbers, space nothing; every reading is as many metres as its number."""
    components = np.array([[int(c) if c != " " else 0 for c in row] for row in rows], np.int32)
    pairs, gaps_m = find_contacts(components, components.astype(np.float32), reach_px)
    assert (pairs.dtype, gaps_m.dtype, pairs.shape) == (np.int32, np.float32, (len(gaps_m), 2))
    return dict(zip(map(tuple, pairs.tolist()), gaps_m.tolist(), strict=True))


def test_contacts_are_pairs_in_ascending_order_each_once():
    assert list(contacts_of("4411", "4422", "3322")) == [(1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
    assert contacts_of("4411") == {(1, 4): 3.0}


def test_components_touch_within_reach_and_not_through_another():
    assert contacts_of("1 2", "   ", "3  ") == {(1, 2): 1.0, (1, 3): 2.0}
    assert contacts_of("1  2") == {}
    assert contacts_of("132") == {(1, 3): 2.0, (2, 3): 1.0}


def test_the_gap_of_a_contact_is_the_smallest():
    components = np.array([[1, 2], [1, 2], [1, 2]], np.int32)
    depth_m = np.array([[2, 2.5], [2, 2.25], [2, 3]], np.float32)
    pairs, gaps_m = find_contacts(components, depth_m, 6)
    assert (pairs.tolist(), gaps_m.tolist()) == ([[1, 2]], [0.25])


@pytest.mark.parametrize("rows", [(" ",), ("1",), ("  ", "  "), ("11", "11")])
def test_one_component_or_none_has_no_contacts(rows):
    assert contacts_of(*rows) == {}
