"""Errors are one line, whatever the names in them."""

from __future__ import annotations

import pickle

import pytest

from posepipe.errors import FormatError, PosepipeError, SourceError, counted


@pytest.mark.parametrize(
    "make", [PosepipeError, lambda name: FormatError(name, "no"), lambda name: SourceError(name, "no")]
)
def test_controls_in_names_are_written_out(make):
    text = str(make("a\nb\x1b[2Jc\x85d\ttab é"))
    assert text.startswith(r"a\nb\x1b[2Jc\x85d\ttab é")
    assert text.isprintable()


def test_an_error_stays_the_same_in_another_process():
    error = FormatError("a\nb", "no")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (FormatError, str(error))


def test_one_of_a_kind_is_told_in_the_singular():
    assert [counted(number, "frame") for number in (0, 1, 2)] == ["0 frames", "1 frame", "2 frames"]
    assert [counted(number, "person", "people") for number in (1, 3)] == ["1 person", "3 people"]
