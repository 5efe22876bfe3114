"""Labels of people: a box, a pixel of the torso, what they do and how much of them shows. JSON lines, one a frame."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.io.files import read_regular

MAX_PIXEL = 1 << 20
"""Maximum absolute value of a coordinate in a label."""
MAX_WORD = 40
"""Maximum length of a state, and of how much shows, characters: they head rows of tables."""


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """One labelled person. Pixels are (column, row), boxes (left, top, right, bottom)."""

    box: tuple[float, float, float, float]
    torso: tuple[int, int]  #: a pixel of the torso, with a reading
    state: str = "other"  #: "stand", "sit", "lie", "bend", or another word
    visible: str = "full"  #: "full", "upper", "part", or another word
    ignore: bool = False  #: need not be found, and is not false when found


@dataclass(frozen=True, slots=True)
class FrameLabels:
    """All people of one frame."""

    people: tuple[PersonLabel, ...] = ()
    place: str = ""  #: name of the place, for figures by place
    empty: bool = True  #: counts among frames in which nobody is; people without a label are false in any frame


def read_person_labels(path: str | Path) -> dict[str, dict[int, FrameLabels]]:
    """Read a file of labels: frames by the name of their pack and their index in it.

    Raises
    ------
    FormatError
        When a line is no JSON object, a field is missing or wrong, or a frame is labelled twice. Names the line.
    PosepipeError
        When the file is missing or cannot be read.
    """
    packs: dict[str, dict[int, FrameLabels]] = {}
    try:
        lines = read_regular(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(path, f"wanted JSON lines in UTF-8, cannot read them: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pack, index, labels = _frame(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"line {number}: {error}") from None
        if index in packs.setdefault(pack, {}):
            raise FormatError(
                path, f"line {number}: frame {index} of {pack!r} is labelled before; keep one of the lines"
            )
        packs[pack][index] = labels
    if not packs:
        raise FormatError(path, 'no labels; wanted lines such as {"pack": "office", "index": 0, "people": []}')
    return packs


def _frame(row: Any) -> tuple[str, int, FrameLabels]:
    """Name of the pack, index and labels of a line. Raises ValueError."""
    if not isinstance(row, dict):
        raise ValueError(f"wanted an object {{...}}, got {type(row).__name__}")
    pack, index, people = row.get("pack"), row.get("index"), row.get("people")
    if not isinstance(pack, str) or not pack:
        raise ValueError(f"pack: wanted the name of a source, without folder and suffix, got {pack!r}")
    if type(index) is not int or index < 0:
        raise ValueError(f"index: wanted a whole number from 0 up, got {index!r}")
    if not isinstance(people, list):
        raise ValueError(f"people: wanted a list, empty for an empty frame, got {people!r:.80}")
    labels = tuple(_person(each) for each in people)
    empty, place = row.get("empty", not labels), row.get("place", pack)
    if type(empty) is not bool or (empty and labels):
        raise ValueError(f"empty: wanted true for a frame without people, else false, got {empty!r} and {len(labels)}")
    if not isinstance(place, str):
        raise ValueError(f"place: wanted a name, got {place!r:.80}")
    return pack, index, FrameLabels(labels, place, empty)


def _person(row: Any) -> PersonLabel:
    """Read one person. Raises ValueError."""
    if not isinstance(row, dict):
        raise ValueError(f"people: wanted objects {{...}}, got {row!r:.80}")
    left, top, right, bottom = box = _numbers(row, "box", 4)
    if left > right or top > bottom:
        raise ValueError(f"box: wanted left, top, right, bottom in pixels, got {list(box)}")
    column, line = _numbers(row, "torso", 2)
    ignore = row.get("ignore", False)
    if type(ignore) is not bool:
        raise ValueError(f"ignore: wanted true or false, got {ignore!r:.80}")
    return PersonLabel(
        (left, top, right, bottom),
        (math.floor(column), math.floor(line)),
        _word(row, "state", "other"),
        _word(row, "visible", "full"),
        ignore,
    )


def _numbers(row: Mapping[str, Any], key: str, count: int) -> tuple[float, ...]:
    values = row.get(key)
    if not isinstance(values, list) or len(values) != count or not all(map(_is_pixel, values)):
        raise ValueError(f"{key}: wanted {count} numbers, pixels, got {values!r:.80}")
    return tuple(values)


def _is_pixel(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= MAX_PIXEL


def _word(row: Mapping[str, Any], key: str, default: str) -> str:
    word = row.get(key, default)
    if not isinstance(word, str) or not 0 < len(word) <= MAX_WORD:
        raise ValueError(f"{key}: wanted a word of at most {MAX_WORD} characters, got {word!r:.80}")
    return word
