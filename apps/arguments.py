"""Kinds of arguments; what does not fit is wrong usage, exit code 2. And arguments as text."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Sequence
from pathlib import Path


def positive(text: str) -> int:
    """A whole number from 1 up."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number from 0 up."""
    return _at_least(0, text)


def seconds(text: str) -> float:
    """A time of 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"wanted seconds from 0 up, got {text!r}")
    return number


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"wanted a whole number from {least} up, got {text!r}")
    return number


def model_file(text: str) -> Path:
    """A model file to write: it ends in .npz."""
    return _ending(".npz", text)


def video_file(text: str) -> Path:
    """A video to write: it ends in .mp4."""
    return _ending(".mp4", text)


def bvh_file(text: str) -> Path:
    """Motion capture to write: it ends in .bvh."""
    return _ending(".bvh", text)


def recording_file(text: str) -> Path:
    """A recording to write: it ends in .mcap."""
    return _ending(".mcap", text)


def picture_file(text: str) -> Path:
    """A picture to write: it ends in .png."""
    return _ending(".png", text)


def _ending(suffix: str, text: str) -> Path:
    if Path(text).suffix.lower() != suffix:
        raise argparse.ArgumentTypeError(f"wanted a name that ends in {suffix}, got {text!r}")
    return Path(text)


def as_typed(arguments: Sequence[str]) -> str:
    """The command line, ``posepipe`` and all, with every path reduced to its last name: it goes into shared files."""
    return shlex.join(["posepipe", *map(_last_name, arguments)])


def _last_name(argument: str) -> str:
    option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
    return option + equals + (Path(value).name or value)
