"""Ranges of the learners' parameters, in the form that scikit-learn checks at each fit, and shares of rows."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

COUNT = [Interval(Integral, 1, None, closed="left")]
"""A whole number of at least 1."""
NON_NEGATIVE = [Interval(Real, 0, None, closed="left")]
"""A number of at least 0."""
OPEN_SHARE = [Interval(Real, 0, 1, closed="neither")]
"""A share above 0 and below 1."""

TABLE: dict[str, list[Any]] = {
    "missing": [StrOptions({"fractional", "most_common"})],
    "unseen": [StrOptions({"warn", "error", "majority"})],
    "categorical": [str, "array-like", None],
    "random_state": ["random_state"],
}
"""Parameters of every learner of tables."""

GROWTH: dict[str, list[Any]] = {
    "max_depth": [*COUNT, None],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_samples_split": [Interval(Integral, 2, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed="right")],
    # 0 = no minimum, also for rows of which a missing cell leaves only a share
    "min_samples_leaf": [Interval(Integral, 0, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed="neither")],
    "min_impurity_decrease": NON_NEGATIVE,
}
"""Parameters that stop growth."""

SINGLE_TREE: dict[str, list[Any]] = {
    **TABLE,
    **GROWTH,
    "ccp_alpha": NON_NEGATIVE,
    "validation_fraction": OPEN_SHARE,
}
"""Parameters of every single tree."""

CLASS_WEIGHT: list[Any] = [dict, StrOptions({"balanced"}), None]
"""Weights of classes."""


def count_of_rows(value: float, n_rows: int) -> int:
    """Resolve a number of rows: a whole number as it is, a fraction as a share of all rows, rounded up."""
    return int(value) if isinstance(value, Integral) else math.ceil(value * n_rows)
