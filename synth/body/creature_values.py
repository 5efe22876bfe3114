"""Checks of single values of a creature. A message names the bone or joint, the field, what is wanted and what came."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any


def check_text(what: str, name: str, value: object) -> None:
    """Raise ValueError unless a value is text with at least one character."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what}: {name} wants text, got {value!r:.60}")


def as_numbers(what: str, name: str, value: object, length: int, highest: float) -> tuple[float, ...]:
    """Return ``length`` numbers as floats. Raises ValueError for others, and for sizes above ``highest``."""
    numbers = value if isinstance(value, tuple | list) else ()
    if len(numbers) != length or not all(_is_number(each) and abs(each) <= highest for each in numbers):
        count = "a number" if length == 1 else f"{length} numbers"
        got = value[0] if isinstance(value, tuple) and length == 1 else value
        raise ValueError(f"{what}: {name} wants {count}, none beyond {highest:g}, got {got!r:.60}")
    return tuple(map(float, numbers))


def as_table(what: str, value: object) -> Mapping[str, Any]:
    """Return a table of TOML. Raises ValueError for another value."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} wants a table, got {value!r:.60}")
    return value


def check_known(what: str, row: Mapping[str, Any], kind: type, given: Collection[str] = ()) -> None:
    """Raise ValueError for fields that a dataclass does not have, or that are missing.

    Parameters
    ----------
    what : str
        The bone, joint or creature, for the message.
    row : mapping
        Fields in the file.
    kind : type
        A dataclass.
    given : names
        Fields that are read apart.
    """
    names = [each.name for each in fields(kind)]
    if unknown := sorted(set(row) - set(names)):
        raise ValueError(f"{what}: no field {', '.join(unknown)}; it has {', '.join(names)}")
    needed = [each.name for each in fields(kind) if each.default is MISSING and each.name not in given]
    if missing := [name for name in needed if name not in row]:
        raise ValueError(f"{what}: {', '.join(missing)} missing")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
