"""Column types of a table, numeric or categorical, and its encoding as codes."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

CATEGORY_KINDS = "OSUb"
"""NumPy type codes of columns that hold categories by default."""
MAX_EXACT = 2.0**53
"""Integers below it have a float64 of their own."""
DIGITS, MAX_DIGITS = 6, 17
"""Significant digits of a number in text: usual, and those that tell any two apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """Names and categories of the columns of a training table."""

    names: tuple[str, ...]
    categories: tuple[tuple | None, ...]  #: categories of a column, sorted or in their own order; None = numbers
    edges: tuple[np.ndarray | None, ...] = ()  #: ascending inner edges of discretised numbers
    is_ordered: tuple[bool, ...] = ()  #: whether the codes of a column's categories are split like numbers

    def __post_init__(self) -> None:
        if not self.is_ordered:
            object.__setattr__(self, "is_ordered", (False,) * len(self.categories))

    @classmethod
    def learn(
        cls,
        cells: np.ndarray,
        names: Sequence[str],
        categorical: np.ndarray,
        ordered: Mapping[int, tuple] | None = None,
    ) -> Schema:
        """Collect the categories of a table.

        Parameters
        ----------
        cells : (N, F), numbers or objects; None and NaN are missing
        names : of the columns
        categorical : bool (F,), columns of categories whatever their type; a column with a string always is one
        ordered : categories of columns whose order counts, by position

        Raises
        ------
        TypeError
            For a cell that is neither a number nor a string.
        ValueError
            For an infinite number.
        """
        categories: list[tuple | None] = []
        ordered = ordered or {}
        for k, (column, forced) in enumerate(zip(cells.T, categorical, strict=True)):
            if k in ordered:
                categories.append(tuple(_plain(value) for value in ordered[k]))
            elif cells.dtype.kind != "O":
                categories.append(tuple(np.unique(column[~np.isnan(column)]).tolist()) if forced else None)
            else:
                with _errors_name(names[k]):
                    categories.append(_distinct(column, forced))
        is_ordered = tuple(k in ordered for k in range(len(categories)))
        return cls(tuple(names), tuple(categories), (None,) * len(categories), is_ordered)

    def cut(self, edges: Sequence[np.ndarray | None]) -> Schema:
        """Discretise columns of numbers: the intervals between the edges are their categories; None = unchanged."""
        return replace(self, edges=tuple(edges))

    def in_intervals(self, cells: np.ndarray) -> np.ndarray:
        """Replace the numbers of discretised columns by interval codes; ``cells`` encoded, float64 (N, F)."""
        if all(edges is None for edges in self.edges):
            return cells
        columns = zip(cells.T, self.edges, strict=True)
        return np.stack([c if edges is None else _interval(c, edges) for c, edges in columns], axis=1)

    @property
    def is_categorical(self) -> np.ndarray:
        """Whether each column holds categories or intervals: bool (F,)."""
        return self.n_codes > 0

    @property
    def n_codes(self) -> np.ndarray:
        """Number of categories or intervals of each column, 0 for numbers and ordered categories: int64 (F,)."""
        n_intervals = [0 if e is None else len(e) + 1 for e in self.edges]
        columns = zip(self.categories, n_intervals, self.is_ordered, strict=True)
        return np.array([n if c is None or ordered else len(c) for c, n, ordered in columns], np.int64)

    def encode(self, cells: np.ndarray, unseen: float = np.nan) -> np.ndarray:
        """Encode a table: numbers unchanged, categories as codes.

        Parameters
        ----------
        cells : (N, F), numbers or objects
        unseen : float, code of a category that training did not have

        Returns
        -------
        float64 (N, F), the given array itself where nothing is to be encoded; NaN = missing

        Raises
        ------
        TypeError, ValueError
            For a cell that is not valid in a column of numbers.
        """
        if cells.dtype == np.float64 and all(own is None for own in (*self.categories, *self.edges)):
            return cells
        out = np.empty(cells.shape)
        for k, (column, categories) in enumerate(zip(cells.T, self.categories, strict=True)):
            if categories is None:
                values = self._numbers(column, k)
                edges = self.edges[k]
                out[:, k] = values if edges is None else _interval(values, edges)
                continue
            code = {value: float(c) for c, value in enumerate(categories)}
            if cells.dtype.kind == "O":
                with _errors_name(self.names[k]):
                    out[:, k] = [np.nan if is_missing(cell) else code.get(_plain(cell), unseen) for cell in column]
            else:
                distinct, place = np.unique(column, return_inverse=True)
                codes = [np.nan if is_missing(cell) else code.get(cell, unseen) for cell in distinct.tolist()]
                out[:, k] = np.array(codes, np.float64)[place]
        return out

    def _numbers(self, column: np.ndarray, k: int) -> np.ndarray:
        if column.dtype.kind != "O":
            return column.astype(np.float64)
        values = np.empty(len(column))
        for row, cell in enumerate(column):
            if is_missing(cell):
                values[row] = np.nan
                continue
            with _errors_name(self.names[k]):
                plain = _plain(cell)
            if isinstance(plain, str):
                raise ValueError(
                    f"column {self.names[k]!r} must hold numbers as in training, got {plain!r};"
                    " convert it, or include it in `categorical` in training"
                )
            values[row] = float(plain)
        return values

    def describe(self, column: int, code: int) -> str:
        """Name a category, or describe an interval: ``above 5 to 8``. Text is quoted where a number reads the same."""
        categories, edges = self.categories[column], self.edges[column]
        if categories is not None:
            value = categories[code]
            others = () if not isinstance(value, str) else [each for each in categories if not isinstance(each, str)]
            name = _name(value, categories)
            return repr(value) if name in [_name(each, categories) for each in others] else name
        assert edges is not None
        digits = digits_apart(tuple(edges.tolist()))
        low = f"above {format_number(edges[code - 1], digits)}" if code > 0 else ""
        high = f"to {format_number(edges[code], digits)}" if code < len(edges) else ""
        return f"{low} {high}".strip() if low else (f"up {high}" if high else "any")


def _name(value: object, categories: tuple) -> str:
    if not isinstance(value, float):
        return str(value)
    return format_number(value, digits_apart(tuple(each for each in categories if isinstance(each, float))))


def format_number(value: float, digits: int = DIGITS) -> str:
    """Write a number with ``digits``, without an exponent where possible."""
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e15 else f"{value:.{digits}g}"


@functools.lru_cache(maxsize=64)
def digits_apart(values: tuple[float, ...]) -> int:
    """Digits that tell different numbers apart in text, at least DIGITS.

    They may be times a tenth of a second apart, as seconds since 1970. A single large number gets more digits, too: how
    near others are that it is compared with is not known.
    """
    digits = 12 if max(map(abs, values), default=0.0) >= 1e6 else DIGITS
    while digits < MAX_DIGITS and len({format_number(each, digits) for each in values}) < len(values):
        digits += 1
    return digits


def _distinct(column: np.ndarray, forced: bool) -> tuple | None:
    """Sorted categories of a column of objects; None for numbers, unless ``forced``."""
    present = [_plain(cell) for cell in column if not is_missing(cell)]
    if not forced and not any(isinstance(value, str | bool) for value in present):
        return None
    # truth values, numbers, strings; a set holds 1 and True as one value
    return tuple(sorted(set(present), key=lambda value: (isinstance(value, str), not isinstance(value, bool), value)))


def _interval(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Index of the interval of each value, including its upper edge: float64, NaN stays NaN."""
    return np.where(np.isnan(values), np.nan, np.searchsorted(edges, values, side="left"))


@contextmanager
def _errors_name(column: str) -> Iterator[None]:
    """Name the column in the error of one of its cells."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"column {column!r}: {error}") from None


def is_missing(cell: object) -> bool:
    """Whether a cell of an object table is missing: None, NaN, or pandas' NA and NaT."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(np.isnan(cell))


def _plain(cell: object) -> str | bool | int | float:
    """Convert a cell to a plain string, bool, int or float, whatever type wraps it."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, numbers.Real | np.number):
        try:
            value = float(cell)
        except OverflowError:
            value = math.inf
        if math.isinf(value):
            raise ValueError("a cell holds infinity; give finite numbers, or NaN for a missing cell")
        return int(cell) if isinstance(cell, numbers.Integral) else value  # as a float, near ids of 64 bits are equal
    raise TypeError(f"a cell's argument must be a string or a number, got {type(cell).__name__!r}")


def with_own_types(table: Any) -> Any:
    """Convert a table of mixed columns to objects, so that columns keep their types in one array.

    Otherwise NumPy converts them: booleans beside numbers become numbers, numbers beside strings become strings,
    integer categories get a number for a missing cell, and integers of 64 bits beside other numbers are rounded.
    """
    if hasattr(table, "dtypes") and hasattr(table, "columns") and hasattr(table, "astype"):
        plain = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in table.dtypes)
        return table if plain and not _rounds_integers(table) else table.astype(object)
    if isinstance(table, list | tuple) and _as_array(table).dtype.kind in "US":
        return np.array(table, object)
    return table


def _as_array(rows: Sequence) -> np.ndarray:
    """Make an array of rows. Raises ValueError for rows of several lengths, as of a CSV file with a blank line."""
    sizes = [len(row) if isinstance(row, list | tuple) else None for row in rows]
    if None not in sizes and len(set(sizes)) > 1:
        odd = next(k for k, size in enumerate(sizes) if size != sizes[0])
        raise ValueError(f"wanted as many cells in every row, got {sizes[0]} in row 0 and {sizes[odd]} in row {odd}")
    return np.asarray(rows)


def refuse_missing_targets(y: Any) -> None:
    """Raise ValueError where a row has no target; NaN in an array of numbers is left to scikit-learn's own check.

    NumPy would make a class ``'nan'`` of a missing one among strings.
    """
    targets = np.array(y, object) if isinstance(y, list | tuple) else np.asarray(y)
    if targets.ndim == 0 or targets.dtype.kind != "O":
        return
    for row, target in enumerate(targets.ravel().tolist()):
        if is_missing(target):
            raise ValueError(f"y: row {row}, counted from 0, has no target; leave out such rows")


def _rounds_integers(table: Any) -> bool:
    """Whether an integer of a DataFrame of numbers is beyond those that one array of all columns holds exactly."""
    long = [k for k, t in enumerate(table.dtypes) if t.kind in "iu" and t.itemsize == 8]
    if not long or np.result_type(*table.dtypes).kind != "f":
        return False
    return any(table.iloc[:, k].astype(np.float64).abs().max() >= MAX_EXACT for k in long)


def ordered_columns(categorical: str | Sequence | None, table: Any) -> dict[int, tuple]:
    """Ordered categories of a DataFrame's columns, by position; none where the parameter ``categorical`` is given."""
    types = getattr(table, "dtypes", None)
    if categorical is not None or types is None or not hasattr(table, "columns"):
        return {}
    return {k: tuple(t.categories) for k, t in enumerate(types) if getattr(t, "ordered", False)}


def chosen_columns(categorical: str | Sequence | None, names: Sequence[str], table: object) -> np.ndarray:
    """Resolve the parameter ``categorical`` of the learners.

    Parameters
    ----------
    categorical : None = by the column types of the table; "all"; or names, positions or a mask
    names : of the columns
    table : the table as given; a DataFrame has column types

    Returns
    -------
    bool (F,), whether each column holds categories

    Raises
    ------
    ValueError
        For an unknown name or position.
    """
    n = len(names)
    if categorical is None:
        types = getattr(table, "dtypes", None)
        if types is None or not hasattr(table, "columns"):
            return np.zeros(n, bool)
        return np.array([getattr(t, "kind", "?") in CATEGORY_KINDS for t in types], bool)
    if isinstance(categorical, str):
        if categorical == "all":
            return np.ones(n, bool)
        raise ValueError(f"categorical must be None, 'all', or a list of columns, got {categorical!r}")
    if not isinstance(categorical, Iterable):
        raise ValueError(f"categorical must be None, 'all', or a list of columns, got {categorical!r}")
    chosen = np.asarray(categorical)
    if chosen.dtype == bool and len(chosen):
        if len(chosen) != n:
            raise ValueError(f"categorical is a mask of {len(chosen)} columns, the table has {n}")
        return chosen
    mask = np.zeros(n, bool)
    for column in categorical:
        place = list(names).index(column) if column in names else column
        if not isinstance(place, int | np.integer) or not -n <= place < n:
            raise ValueError(f"categorical names the column {column!r}, the table has {', '.join(map(str, names))}")
        mask[place] = True
    return mask
