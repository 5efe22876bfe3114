"""Known people: less evidence is enough where somebody was found in the last frame, for a while."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.results import BACKWARDS_S
from posepipe.segmentation.known_people import KnownPeople


def person_at(col: int, shape: tuple[int, int] = (60, 80)) -> np.ndarray:
    """A person 20 pixels wide."""
    mask = np.zeros(shape, bool)
    mask[10:50, col : col + 20] = True
    return mask


def after(*seconds: float, accepted: bool = False) -> KnownPeople:
    """The stage after a person was accepted at 0 s, and found at these times; they stood in one place."""
    known = KnownPeople(forget_after_s=2.0)
    known.update(0.0, [person_at(30)], [True])
    for second in seconds:
        known.update(second, [person_at(30)], [accepted])
    return known


@pytest.mark.parametrize(("probability", "found"), [(0.09, False), (0.1, True), (0.4, True)])
def test_a_known_person_needs_a_lower_probability(probability, found):
    assert after().accepts(0.1, person_at(30), probability) == found


@pytest.mark.parametrize(("col", "found"), [(24, True), (36, True), (37, False), (60, False)])
def test_they_may_have_moved_by_a_third_of_their_width(col, found):
    assert after().accepts(0.1, person_at(col), 0.4) == found


def test_nobody_is_known_at_first_nor_after_a_reset():
    assert not KnownPeople().accepts(0.0, person_at(30), 0.9)
    known = after()
    known.reset()
    assert not known.accepts(0.1, person_at(30), 0.9)


def test_who_was_not_found_in_the_last_frame_is_forgotten():
    known = after()
    known.update(0.1, [], [])
    assert not known.accepts(0.2, person_at(30), 0.4)


def test_rejected_frames_do_not_prolong_the_time():
    assert after(1.0, 1.9).accepts(2.0, person_at(30), 0.4)
    assert not after(1.0, 1.9).accepts(2.1, person_at(30), 0.4)
    assert after(1.0, 1.9, accepted=True).accepts(3.8, person_at(30), 0.4)


def test_who_lost_pixels_to_somebody_else_has_no_new_time():
    """Pieces of another person may take pixels of somebody who was found because they were known."""
    known, left = after(), person_at(30)
    left[:, 38:] = False  # two fifths of them
    known.update(1.0, [left], [False])
    assert known.accepts(1.9, left, 0.4)
    assert not known.accepts(2.1, left, 0.4)


def test_each_of_several_people_has_a_time_of_their_own():
    known = KnownPeople(forget_after_s=2.0)
    known.update(0.0, [person_at(0), person_at(40)], [True, True])
    known.update(1.5, [person_at(40), person_at(0)], [True, False])
    assert known.accepts(3.0, person_at(40), 0.4)
    assert not known.accepts(3.0, person_at(0), 0.4)


@pytest.mark.parametrize(("now_s", "found"), [(-BACKWARDS_S / 2, True), (-1.0, False)])
def test_a_source_that_starts_over_shows_nobody_known(now_s, found):
    assert after().accepts(now_s, person_at(30), 0.4) == found


def test_a_gap_without_frames_counts():
    assert not after().accepts(60.0, person_at(30), 0.4)


def test_images_of_another_size_show_nobody_known():
    assert not after().accepts(0.1, person_at(30, (120, 160)), 0.9)


def test_what_the_caller_does_to_masks_changes_nobody():
    known, mask = KnownPeople(), person_at(30)
    known.update(0.0, [mask], [True])
    mask[:] = False
    assert known.accepts(0.1, person_at(30), 0.4)
