"""Text from files, made safe for a terminal."""

from __future__ import annotations

import sys
import unicodedata
from typing import TextIO

from tqdm import tqdm

_KEPT = "\n\t"
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that a terminal obeys, hides or cannot encode: controls, directions, lone surrogates."""


def plain(text: str) -> str:
    """Return text without terminal escapes and other hidden characters; lines and tabs stay.

    Names of topics and files are chosen by whoever made them. An escape could overwrite what the terminal shows.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(each for each in text if each in _KEPT or unicodedata.category(each) not in _HIDDEN)


def plain_line(text: str) -> str:
    """Return `plain` text as one line."""
    return " ".join(plain(text).split())


def show(text: object = "", file: TextIO | None = None, flush: bool = False) -> None:
    """Print `plain` text, on standard output by default. Commands print with nothing else."""
    print(plain(str(text)), file=file, flush=flush)


def show_beside_bars(text: str) -> None:
    """Print `plain` text as one line on standard error, without disturbing a progress bar."""
    tqdm.write(plain_line(text), sys.stderr)


def shows_bar() -> bool:
    """Return whether a progress bar is open; the cursor then stands behind it."""
    return bool(getattr(tqdm, "_instances", None))
