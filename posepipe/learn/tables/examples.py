"""Small tables from textbooks on tree learning, for examples and tests.

================  ====  ===========================================================================
name              rows  source
================  ====  ===========================================================================
defaulted_loans   10    Tan, Steinbach and Kumar, Introduction to Data Mining, 2006; income in
                        thousands
loans             15    Li, Statistical Learning Methods, 2012, table 5.1
peas              9     made for this package: every combination of water, size and shape, one of
                        them twice; the counts are those of a common exercise
restaurant        12    Russell and Norvig, Artificial Intelligence: A Modern Approach, 3rd edition,
                        figure 18.3, with the book's names and words
steps             10    Li 2012, example 5.2: a number to predict
weather           14    Quinlan, Induction of Decision Trees, Machine Learning 1, 1986, table 1
================  ====  ===========================================================================

Each is a CSV file in ``data/`` with the target in the last column.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA_DIR = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A table of N rows and F columns, with its target."""

    rows: np.ndarray  #: object (N, F): str for a category, float for a number
    columns: tuple[str, ...]  #: names of the F columns
    target: np.ndarray  #: (N,), str for classes, float64 for numbers
    target_name: str
    categorical: tuple[bool, ...]  #: whether each of the F columns holds categories


def example_names() -> tuple[str, ...]:
    """Return the names that `load_example` accepts, in alphabetical order."""
    return tuple(sorted(path.stem for path in DATA_DIR.glob("*.csv")))


def load_example(name: str) -> Example:
    """Read one of the example tables.

    Parameters
    ----------
    name : str, one of `example_names`

    Returns
    -------
    Example, a new copy at each call

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> from posepipe.learn import load_example
    >>> weather = load_example("weather")
    >>> weather.columns
    ('outlook', 'temperature', 'humidity', 'wind')
    >>> print(*weather.rows[0], weather.target[0])
    sunny hot high weak no
    """
    if name not in example_names():
        raise ValueError(f"name must be one of {', '.join(example_names())}, got {name!r}")
    with open(DATA_DIR / f"{name}.csv", encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    *cells, target = (_column(column) for column in zip(*lines, strict=True))
    return Example(
        rows=np.array([column.astype(object) for column in cells]).T,
        columns=tuple(header[:-1]),
        target=target,
        target_name=header[-1],
        categorical=tuple(column.dtype != np.float64 for column in cells),
    )


def _column(cells: Sequence[str]) -> np.ndarray:
    """Convert a column to float64 if every cell is a number, else to str."""
    try:
        return np.array(cells, np.float64)
    except ValueError:
        return np.array(cells)
