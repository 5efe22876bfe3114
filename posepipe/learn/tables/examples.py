"""The small tables that tree learning is taught with, so that a lesson or a test begins at once.

================  ====  ===========================================================================
name              rows  source
================  ====  ===========================================================================
defaulted_loans   10    Tan, Steinbach and Kumar, Introduction to Data Mining, 2006; income in
                        thousands
loans             15    Li, Statistical Learning Methods, 2012, table 5.1
peas              9     made for this package: every combination of water, size and shape, one of
                        them twice; its counts are those of a common classroom exercise
restaurant        12    Russell and Norvig, Artificial Intelligence: A Modern Approach, 3rd edition,
                        figure 18.3, with the book's names and words
steps             10    Li 2012, example 5.2: a number to predict
weather           14    Quinlan, Induction of Decision Trees, Machine Learning 1, 1986, table 1
================  ====  ===========================================================================

Each lies in ``data/`` as a CSV file whose last column is the target.
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
    """One table of N rows and F columns, and what is to be learned from it."""

    rows: np.ndarray  #: object (N, F): a category is a str, a number a float
    columns: tuple[str, ...]  #: names of the F columns
    target: np.ndarray  #: (N,), a str for each class, float64 for a number
    target_name: str
    categorical: tuple[bool, ...]  #: whether each of the F columns holds categories


def example_names() -> tuple[str, ...]:
    """Names that `load_example` knows, in alphabetical order."""
    return tuple(sorted(path.stem for path in DATA_DIR.glob("*.csv")))


def load_example(name: str) -> Example:
    """Read one of the tables afresh.

    Raises
    ------
    ValueError
        When no table has that name.
    """
    if name not in example_names():
        raise ValueError(f"there is no example {name!r}; there are {', '.join(example_names())}")
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
    """One column: float64 when every cell is a number, else str."""
    try:
        return np.array(cells, np.float64)
    except ValueError:
        return np.array(cells)
