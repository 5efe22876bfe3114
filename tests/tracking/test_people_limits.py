"""Limits of the people in a result: those of highest confidence, who do not take turns where it is about equal."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.results import Pose, Track
from posepipe.tracking.people_limits import within_limits


def tracks(**confidences: float) -> list[Track]:
    """People of these confidences, by id: ``_1=0.8``."""
    return [Track(int(id[1:]), Pose(("head",), np.zeros((1, 3)), np.array([sure]))) for id, sure in confidences.items()]


def ids(people: list[Track], max_people: int | None = None, min_confidence: float = 0.0) -> set[int]:
    kept = within_limits(people, max_people, min_confidence)
    return {track.id for track, is_kept in zip(people, kept, strict=True) if is_kept}


def test_without_limits_everybody_is_kept():
    assert ids(tracks(_3=0.1, _1=0.9, _2=0.0)) == {1, 2, 3}
    assert ids([]) == set()


@pytest.mark.parametrize(("older", "newer", "kept"), [(0.8, 0.85, 1), (0.85, 0.8, 1), (0.5, 0.9, 2), (0.9, 0.5, 1)])
def test_of_two_about_equal_the_one_who_came_first_is_kept(older, newer, kept):
    for order in (tracks(_1=older, _2=newer), tracks(_2=newer, _1=older)):
        assert ids(order, 1) == {kept}


def test_two_people_found_equally_well_take_no_turns():
    rng = np.random.default_rng(0)
    kept = [ids(tracks(_4=0.85 + wobble, _9=0.85 - wobble), 1) for wobble in rng.uniform(-0.04, 0.04, 50)]
    assert kept == [{4}] * 50


def test_the_highest_confidences_are_kept_down_to_a_minimum():
    people = tracks(_1=0.3, _2=0.9, _3=0.6, _4=0.7)
    assert ids(people, 2) == {2, 3}
    assert ids(people, 3) == {2, 3, 4}
    assert ids(people, 3, min_confidence=0.65) == {2, 4}


def test_numbers_that_mean_nothing_are_refused():
    for wrong in (0, -1, 1.5):
        with pytest.raises(ValueError, match="max_people: wanted a whole number from 1 up, or None for all"):
            within_limits([], wrong, 0.0)
    with pytest.raises(ValueError, match="min_confidence: wanted a number from 0 to 1, got 80"):
        within_limits([], None, 80)
