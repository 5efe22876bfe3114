"""Isolation forest (Liu, Ting and Zhou 2008): rows that random splits soon leave alone are outliers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import validate_data

from posepipe.learn.growing import GrowthRules
from posepipe.learn.impurity import SQUARED_ERROR
from posepipe.learn.tables.estimators.ensembles.forest_growth import BAG, GROWTH
from posepipe.learn.tables.parameters import COUNT, TABLE, count_of_rows
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.random_cuts import RandomCuts
from posepipe.learn.tables.splitting.schema import with_own_types
from posepipe.learn.tables.splitting.split_gain import ONE_VS_REST
from posepipe.learn.tables.splitting.threads import map_in_threads
from posepipe.learn.tables.table_model import NO_LIMIT, TableModel, grow_table_tree

AUTO_SAMPLES = 256
"""Rows of each tree by default, and the score that divides outliers from others: those of the paper."""
AUTO_OFFSET = -0.5


class IsolationForest(OutlierMixin, TableModel):
    """Isolation forest: each tree splits a few random rows at random columns and places until they are alone.

    An outlier is alone after few splits. With h(x) the mean number of splits over all trees, and c(n) its expectation
    for n rows, the anomaly score is 2 ** (-h(x) / c(n)): near 1 for outliers, below 0.5 for others.

    Parameters
    ----------
    n_estimators : int, number of trees
    max_samples : rows of each tree: "auto" = 256 or all if there are fewer, an int, or a float share
    contamination : share of outliers among the training rows, 0 to 0.5; "auto" = rows of a score above 0.5
    bootstrap : bool, draw the rows of a tree with replacement
    unseen, categorical : as in `CartClassifier`. A missing cell takes the branch of most rows
    random_state : int, RandomState or None; the forest does not depend on the number of threads

    Attributes
    ----------
    trees_ : list of TableTree; their leaves hold numbers of rows
    max_samples_ : int, rows of each tree
    offset_ : float, `score_samples` below it are outliers

    References
    ----------
    Liu, Ting and Zhou, Isolation forest, ICDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe.learn import IsolationForest
    >>> readings_m = np.r_[np.random.default_rng(0).normal(2, 0.1, 200), 9.0][:, None]
    >>> forest = IsolationForest(random_state=0).fit(readings_m)
    >>> int(np.argmin(forest.score_samples(readings_m))), forest.predict([[9.0], [2.0]]).tolist()
    (200, [-1, 1])
    """

    _parameter_constraints: ClassVar[dict] = {
        **{name: allowed for name, allowed in TABLE.items() if name != "missing"},
        "n_estimators": COUNT,
        "max_samples": [StrOptions({"auto"}), *COUNT, Interval(RealNotInt, 0, 1, closed="right")],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "bootstrap": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: str | float = "auto",
        contamination: str | float = "auto",
        bootstrap: bool = False,
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.bootstrap = bootstrap
        self.unseen = unseen
        self.categorical = categorical
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : (N, F), numbers, strings or both; None and NaN are missing; names and types of a DataFrame are used
        y : ignored

        Raises
        ------
        ValueError, TypeError
            For an invalid table or parameter.
        """
        self._validate_params()
        cells = validate_data(self, with_own_types(X), dtype=None, ensure_all_finite="allow-nan")
        self.schema_ = self._learn_schema(cells, X)
        cells = self.schema_.encode(cells)
        self.max_samples_ = self._rows_of_a_tree(len(cells))
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        kinds = self._split_kinds(ONE_VS_REST)

        def grow(number: int) -> TableTree:
            rng = np.random.default_rng([seed, number, BAG])
            rows = rng.choice(len(cells), self.max_samples_, replace=self.bootstrap)
            # targets that all differ make every split gain something, and the choice among equal columns random
            target = rng.permutation(len(rows)).astype(np.float64)
            table = Table.of(cells[rows], kinds, self.schema_.n_codes, target, 3)
            rules = GrowthRules(max(1, ceil(log2(len(rows)))), 1, 0.0, 2, NO_LIMIT)
            finder = ColumnSplits(table, SQUARED_ERROR, scan=RandomCuts(rng))
            return grow_table_tree(finder, rules, (seed, number, GROWTH), None)

        self.trees_ = list(map_in_threads(grow, range(self.n_estimators)))
        self.offset_ = AUTO_OFFSET
        if self.contamination != "auto":
            self.offset_ = float(np.percentile(self.score_samples(X), 100.0 * float(self.contamination)))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the negative anomaly score of every row: float64 (N,), -1 to 0, lowest for outliers."""
        columns = self._encode(X)
        splits = np.mean([_path_lengths(tree)[tree.leaves(columns)] for tree in self.trees_], axis=0)
        expected = float(expected_splits(np.array(self.max_samples_)))
        if expected == 0:  # trees of one row know nothing
            return np.full(len(splits), AUTO_OFFSET)
        return -(2.0 ** (-splits / expected))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return `score_samples` minus ``offset_``: float64 (N,), below 0 for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Tell outliers from others: int64 (N,), -1 for outliers, 1 for others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _rows_of_a_tree(self, n_rows: int) -> int:
        if self.max_samples == "auto":
            return min(AUTO_SAMPLES, n_rows)
        if isinstance(self.max_samples, Integral) and self.max_samples > n_rows and not self.bootstrap:
            return n_rows
        return count_of_rows(self.max_samples, n_rows)  # type: ignore[arg-type]


def expected_splits(n_rows: np.ndarray) -> np.ndarray:
    """Expected number of splits on the path of a row in a random binary tree.

        c(n) = 2 H(n - 1) - 2 (n - 1) / n,    H(k) = ln k + 0.5772

    H approximates a harmonic number from k = 2 on. Below three rows c is linear between 0, 1 and c(3).

    Parameters
    ----------
    n_rows : (...), rows of the tree; missing cells divide rows, so that they need not be whole numbers

    Returns
    -------
    float64 (...), 0 for one row and 1 for two

    References
    ----------
    Liu, Ting and Zhou 2008, eq. 1.
    """
    n = np.maximum(np.asarray(n_rows, np.float64), 3)
    many = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    of_three = 2 * (np.log(2) + np.euler_gamma) - 4 / 3
    return np.where(np.asarray(n_rows) < 3, np.interp(n_rows, [1, 2, 3], [0, 1, of_three]), many)


def _path_lengths(grown: TableTree) -> np.ndarray:
    """Splits above each node, and those expected below it for its rows: float64 (nodes,)."""
    return grown.tree.levels() + expected_splits(grown.weight)
