"""Categories that training did not have: found in a table to predict, and reported."""

from __future__ import annotations

import difflib
import warnings

import numpy as np

from posepipe.learn.tables.splitting.schema import Schema

UNSEEN = -1.0
"""Code of a category that training did not have; a row takes the branch of maximum training weight."""
MAX_NAMED = 3
"""Maximum number of categories that a message names for a column."""


class UnseenCategoryWarning(UserWarning):
    """A table to predict holds categories that training did not have."""


def settle_unseen(codes: np.ndarray, cells: np.ndarray, schema: Schema, unseen: str) -> np.ndarray:
    """Apply a learner's parameter ``unseen`` to an encoded table.

    Parameters
    ----------
    codes : float64 (N, F), encoded, with UNSEEN for unseen categories; changed in place
    cells : (N, F), the same table as given
    schema : Schema
    unseen : "warn", report them and treat them like missing cells; "error", refuse them; "majority", keep UNSEEN,
        except in columns of ordered categories, where they are missing

    Returns
    -------
    float64 (N, F)

    Raises
    ------
    ValueError
        With "error", when there are such categories.
    """
    columns = np.flatnonzero([categories is not None for categories in schema.categories])
    if not (codes[:, columns] == UNSEEN).any():
        return codes
    if unseen == "majority":
        return _forget(codes, np.flatnonzero(schema.is_ordered))  # a threshold would compare the code
    texts = [
        _describe(schema, int(k), cells[codes[:, k] == UNSEEN, k]) for k in columns if (codes[:, k] == UNSEEN).any()
    ]
    message = "; ".join(texts)
    if unseen == "error":
        raise ValueError(f"categories must be those of training, got {message}; unseen='warn' treats them as missing")
    warnings.warn(f"{message}; treated as missing", UnseenCategoryWarning, stacklevel=2)
    return _forget(codes, columns)


def _forget(codes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Replace UNSEEN by NaN in some columns, in place."""
    for k in columns:
        codes[codes[:, k] == UNSEEN, k] = np.nan
    return codes


def _describe(schema: Schema, column: int, cells: np.ndarray) -> str:
    """Name a column and its unseen categories, with the closest known one: ``colour 'Red' (known: 'red')``."""
    known = schema.categories[column] or ()
    distinct = list(dict.fromkeys(_plain(cell) for cell in cells.tolist()))
    named = ", ".join(map(repr, distinct[:MAX_NAMED])) + (", ..." if len(distinct) > MAX_NAMED else "")
    text = f"{named} in column {schema.names[column]!r}"
    words = [category for category in known if isinstance(category, str)]
    if words and not any(isinstance(cell, str) for cell in distinct):
        return f"{text}, where training had strings such as {words[0]!r}"
    close = _closest(distinct[0], words)
    return f"{text} (training had {close!r})" if close else f"{text}, which training did not have"


def _closest(cell: object, words: list[str]) -> str | None:
    """Return the category closest to a string, first among those that differ by case or spaces alone."""
    folded = {word.strip().casefold(): word for word in reversed(words)}
    text = str(cell).strip().casefold()
    if text in folded:
        return folded[text]
    close = difflib.get_close_matches(text, folded, n=1)
    return folded[close[0]] if close else None


def _plain(cell: object) -> object:
    return cell.item() if isinstance(cell, np.generic) else cell
