"""Read TOML of users: one place for its errors and limits."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.io.files import read_regular

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
"""Maximum nesting of tables and arrays, and maximum number of names in a dotted key."""
_MAX_INTEGER = (1 << 63) - 1  # of TOML; larger ones fit neither arrays nor floats
_NAME = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:{_NAME}[ \t]*+\.[ \t]*+){{{MAX_DEPTH},}}+", re.ASCII)  # tomllib needs cubic time for it


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    FormatError
        When the file is no regular file, no TOML in UTF-8, too large, nested too deeply, or has an integer beyond 64
        bits. Names the line or the field.
    PosepipeError
        When the file is missing or cannot be read.
    """
    content = read_regular(path, MAX_BYTES)
    try:
        text = content.decode()
        if _LONG_KEY.search(text):
            raise ValueError(f"a key of more than {MAX_DEPTH} names")
        data = tomllib.loads(text)
    except RecursionError:
        raise FormatError(path, f"wanted TOML, nested at most {MAX_DEPTH} deep") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, an integer of more digits than Python converts
        raise FormatError(path, f"wanted TOML, cannot read it: {error}") from None
    for field, depth, value in _values(data):
        if depth > MAX_DEPTH:
            raise FormatError(path, f"{field}: wanted TOML, nested at most {MAX_DEPTH} deep")
        if isinstance(value, int) and abs(value) > _MAX_INTEGER:
            raise FormatError(
                path, f"{field}: wanted an integer of at most 64 bits, got one of {len(str(value))} digits"
            )
    return data


def _values(data: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """Every value with the name of its top-level field and its depth, without recursion."""
    waiting = [(name, 1, value) for name, value in data.items()]
    while waiting:
        field, depth, value = waiting.pop()
        yield field, depth, value
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(field, depth + 1, each) for each in inside]
