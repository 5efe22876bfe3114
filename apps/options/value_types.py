"""Types of option values; a value that does not fit is wrong usage, exit code 2."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path

from posepipe.io.files import is_utf8, name_text

HIGHEST_PORT = 65535
MOTION_SUFFIXES = (".bvh", ".c3d", ".trc", ".glb")
"""Formats of motion: those of posepipe.sinks.motion, which takes longer to import."""
BYTES_OF = {"M": 10**6, "G": 10**9, "T": 10**12}


def positive(text: str) -> int:
    """Return a whole number from 1 up."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """Return a whole number from 0 up."""
    return _at_least(0, text)


def seconds(text: str) -> float:
    """Return a time of 0 seconds or more."""
    return _number(text, "seconds from 0 up", lambda number: 0 <= number < math.inf)


def seconds_within_an_hour(text: str) -> float:
    """Return a time from 0 to 3600 seconds: offsets of clocks beyond it are refused where they are read."""
    return _number(text, "seconds from 0 to 3600", lambda number: 0 <= number <= 3600)


def degrees(text: str) -> float:
    """Return an angle from -360 to 360 degrees."""
    return _number(text, "degrees from -360 to 360", lambda number: -360 <= number <= 360)


def bits(text: str) -> float:
    """Return an information of 0 bits or more."""
    return _number(text, "bits from 0 up", lambda number: 0 <= number < math.inf)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    return _number(text, "a number from 0 to 1", lambda number: 0 <= number <= 1)


def share_between(text: str) -> float:
    """Return a number between 0 and 1, neither of them."""
    return _number(text, "a number above 0 and below 1", lambda number: 0 < number < 1)


def counts(text: str) -> tuple[int, ...]:
    """Return whole numbers from 1 up, as in 10,100."""
    return tuple(positive(part) for part in text.split(","))


def length(text: str) -> float:
    """Return a length above 0 and up to 100 metres, more than a camera sees."""
    return _number(text, "metres above 0, up to 100", lambda number: 0 < number <= 100)


def lengths(text: str) -> tuple[float, ...]:
    """Return lengths above 0, metres, as in 0.1,0.4."""
    return tuple(length(part) for part in text.split(","))


def memory_size(text: str) -> int:
    """Return bytes from a size such as 8G or 500M; thousands, not 1024s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([MGT])B?", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * BYTES_OF[match[2].upper()]) if match else 0
    if size <= 0:
        raise argparse.ArgumentTypeError(f"wanted a size such as 8G or 500M, got {text!r}")
    return size


def port(text: str) -> int:
    """Return the number of a network port."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"wanted a port from 1 to {HIGHEST_PORT}, got {text!r}")
    return number


def model_file(text: str) -> Path:
    """Return the path of a model to write: .npz."""
    return _with_suffix(".npz", text)


def video_file(text: str) -> Path:
    """Return the path of a video to write: .mp4, and a name in UTF-8, which OpenCV needs."""
    if not is_utf8(text):
        raise argparse.ArgumentTypeError(f"wanted a name in UTF-8, got {name_text(text)!r}")
    return _with_suffix(".mp4", text)


def bvh_file(text: str) -> Path:
    """Return the path of motion capture to write: .bvh."""
    return _with_suffix(".bvh", text)


def motion_file(text: str) -> Path:
    """Return the path of a file of motion to write: one of `MOTION_SUFFIXES`."""
    if Path(text).suffix.lower() not in MOTION_SUFFIXES:
        raise argparse.ArgumentTypeError(f"wanted a name that ends in {' or '.join(MOTION_SUFFIXES)}, got {text!r}")
    return Path(text)


def masks_place(text: str) -> Path:
    """Return the path of label images to write: .mcap, or a folder, whose name has no suffix."""
    if Path(text).suffix.lower() not in ("", ".mcap"):
        raise argparse.ArgumentTypeError(f"wanted a folder or a name that ends in .mcap, got {text!r}")
    return Path(text)


def recording_file(text: str) -> Path:
    """Return the path of a recording to write: .mcap."""
    return _with_suffix(".mcap", text)


def png_file(text: str) -> Path:
    """Return the path of an image to write: .png."""
    return _with_suffix(".png", text)


def json_file(text: str) -> Path:
    """Return the path of figures to write: .json."""
    return _with_suffix(".json", text)


def svg_file(text: str) -> Path:
    """Return the path of a drawing to write: .svg."""
    return _with_suffix(".svg", text)


def _number(text: str, wanted: str, fits: Callable[[float], bool]) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not fits(number):
        raise argparse.ArgumentTypeError(f"wanted {wanted}, got {text!r}")
    return number


def _at_least(minimum: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = minimum - 1
    if number < minimum:
        raise argparse.ArgumentTypeError(f"wanted a whole number from {minimum} up, got {text!r}")
    return number


def _with_suffix(suffix: str, text: str) -> Path:
    if Path(text).suffix.lower() != suffix:
        raise argparse.ArgumentTypeError(f"wanted a name that ends in {suffix}, got {text!r}")
    return Path(text)
