"""Labels of people: lines that are read, and lines that are refused by number."""

from __future__ import annotations

import json

import pytest

from posepipe.errors import FormatError
from posepipe.evaluation.people.person_labels import FrameLabels, PersonLabel, read_person_labels

PERSON = {"box": [1, 2, 30, 40], "torso": [15, 20]}
FRAME = {"pack": "office", "index": 3, "people": [PERSON]}


def written(tmp_path, *rows):
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_labels_are_read_by_pack_and_index(tmp_path):
    full = PERSON | {"state": "sit", "visible": "upper", "ignore": True, "head": None}
    path = written(
        tmp_path, FRAME, {"pack": "office", "index": 0, "people": [], "place": "hall"}, FRAME | {"pack": "b"}
    )
    assert read_person_labels(path) == {
        "office": {
            3: FrameLabels((PersonLabel((1, 2, 30, 40), (15, 20)),), "office", empty=False),
            0: FrameLabels((), "hall", empty=True),
        },
        "b": {3: FrameLabels((PersonLabel((1, 2, 30, 40), (15, 20)),), "b", empty=False)},
    }
    (person,) = read_person_labels(written(tmp_path, FRAME | {"people": [full]}))["office"][3].people
    assert (person.state, person.visible, person.ignore) == ("sit", "upper", True)


def test_blank_lines_are_passed_over(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text("\n" + json.dumps(FRAME) + "\n\n")
    assert list(read_person_labels(path)) == ["office"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pack": 1}, "line 2: pack: wanted the name of a source"),
        ({"pack": ""}, "line 2: pack: wanted"),
        ({"index": -1}, "line 2: index: wanted a whole number from 0 up, got -1"),
        ({"index": True}, "line 2: index"),
        ({"index": 3}, "line 2: frame 3 of 'office' is labelled before"),
        ({"people": None}, "line 2: people: wanted a list"),
        ({"people": [1]}, "line 2: people: wanted objects"),
        ({"people": [{"torso": [1, 2]}]}, "line 2: box: wanted 4 numbers, pixels, got None"),
        ({"people": [PERSON | {"box": [9, 0, 5, 5]}]}, "line 2: box: wanted left, top, right, bottom"),
        ({"people": [PERSON | {"torso": [1, float("nan")]}]}, "line 2: torso: wanted 2 numbers"),
        ({"people": [PERSON | {"torso": [1, 1e300]}]}, "line 2: torso: wanted 2 numbers"),
        ({"people": [PERSON | {"state": 3}]}, "line 2: state: wanted a word"),
        ({"people": [PERSON | {"visible": ""}]}, "line 2: visible: wanted a word"),
        ({"people": [PERSON | {"ignore": 1}]}, "line 2: ignore: wanted true or false"),
        ({"empty": True}, "line 2: empty: wanted true for a frame without people"),
        ({"place": 3}, "line 2: place: wanted a name"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, change, message):
    path = written(tmp_path, FRAME, FRAME | {"index": 4} | change)
    with pytest.raises(FormatError, match=message):
        read_person_labels(path)


@pytest.mark.parametrize("content", [b"", b"[]\n", b"{\n", b"\xff\xfe", b"[" * 100_000])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    path = tmp_path / "people.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        read_person_labels(path)
