"""Coefficients of lens distortion, told by the names that programs of calibration give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

MAX_COEFFICIENTS = 14
"""Most that a lens has, as of OpenCV; a longer row of numbers is something else."""
_NAMES = re.compile(r"dist(ortion|[_ ]?coef).*|dist|d|coeffs?|[kp][1-6]", re.IGNORECASE)


def names_distortion(name: str) -> bool:
    """Whether a value of this name may be coefficients of lens distortion."""
    return _NAMES.fullmatch(name) is not None


def distortion_key(values: Mapping[str, object]) -> str | None:
    """Name of the first value that is lens distortion: coefficients that are not all 0; None = there is none.

    Parameters
    ----------
    values : of JSON, or arrays; the coefficients of one frame lie along the last axis
    """
    for key, value in values.items():
        if names_distortion(key) and any(number != 0 for number in _numbers_in(value)):
            return key
    return None


def _numbers_in(value: object) -> Iterator[float]:
    """Numbers of a value, of a list of lists, of a matrix of OpenCV or ROS with ``data``, or of named coefficients."""
    waiting = [value]  # no recursion: a stranger's JSON may be deep
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [value["data"]] if "data" in value else value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, np.ndarray):
            if value.dtype.kind in "fiu" and value.shape[-1:] <= (MAX_COEFFICIENTS,):
                yield from value.flat
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield value
