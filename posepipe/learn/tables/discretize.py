"""Discretisation of numbers: equal-width, equal-frequency and entropy-based bins as a scikit-learn transformer.

The strategies differ only in the inner edges. A bin includes its upper edge, like a tree's split
"x <= threshold".
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from posepipe.learn.impurity import entropy, information_gain
from posepipe.learn.tables.row_weights import in_range, weight_of_a_row
from posepipe.learn.tables.splitting.column_splits import ROUNDING

STRATEGIES = ("equal-width", "equal-frequency", "best-cut")
ROUNDING_BITS = 1e-9  #: maximum difference of gains that count as equal


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace numbers by the codes 0, 1, ... of their bins.

    Parameters
    ----------
    strategy : "equal-width", "equal-frequency" or "best-cut"
        "equal-width" divides the range of a column evenly. "equal-frequency" gives all bins about the same number
        of rows; equal values stay together, which may reduce the number of bins. "best-cut" uses the classes: it
        repeatedly takes the midpoint between adjacent values with the maximum entropy decrease over all rows.
    n_bins : int, at least 2, or None
        Maximum number of bins of a column. None, only with "best-cut", stops by the minimum description length.
    columns : sequence of int or str, or None
        Columns to discretise, by position or by the names in the DataFrame given to `fit`; None = all. The other
        columns must be numeric too and stay unchanged. For a table with categories, use
        `sklearn.compose.ColumnTransformer`.

    Attributes
    ----------
    columns_ : int64 (K,), positions of the discretised columns
    edges_ : list of K float64 arrays, the ascending inner edges of each column of ``columns_``. Code b stands for
        ``edges[b - 1] < x <= edges[b]``. Empty for a constant column, with the single code 0
    n_features_in_ : int
    feature_names_in_ : object (n_features_in_,), only when `fit` got names

    Notes
    -----
    NaN does not affect the edges and stays NaN.

    References
    ----------
    Dougherty, Kohavi and Sahami, Supervised and unsupervised discretization of continuous features,
    ICML 1995. Best cuts and their stopping rule: Fayyad and Irani, Multi-interval discretization of
    continuous-valued attributes for classification learning, IJCAI 1993.

    Examples
    --------
    >>> from posepipe.learn import Discretizer
    >>> income = [[60], [70], [75], [85], [90], [95], [100], [120], [125], [220]]
    >>> defaulted = [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]
    >>> Discretizer("best-cut", n_bins=3).fit(income, defaulted).edges_
    [array([80. , 97.5])]
    """

    def __init__(
        self,
        strategy: str = "equal-width",
        n_bins: int | None = 5,
        columns: Sequence[int | str] | None = None,
    ) -> None:
        self.strategy = strategy
        self.n_bins = n_bins
        self.columns = columns

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the edges.

        Parameters
        ----------
        X : array-like (N, F) of numbers, NaN = missing
        y : array-like (N,), classes; only "best-cut" uses them
        sample_weight : array-like (N,); None = 1 each. "equal-width" only distinguishes 0 from other weights

        Raises
        ------
        ValueError
            For an invalid parameter, X or y, a weight below 0, or weights that add up to infinity.
        """
        self._check_parameters()
        if self.strategy == "best-cut":
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
            check_classification_targets(y)
            classes = np.unique(y, return_inverse=True)[1]
        else:
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
            classes = np.zeros(len(X), np.int64)
        weight = in_range(_check_sample_weight(sample_weight, X, ensure_non_negative=True))
        self.columns_ = self._positions()
        self.edges_ = [self._edges(X[:, column], classes, weight) for column in self.columns_]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return float64 (N, F): codes in the discretised columns, NaN where X is NaN."""
        check_is_fitted(self)
        out = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan", copy=True)
        for column, edges in zip(self.columns_, self.edges_, strict=True):
            values = out[:, column]
            out[:, column] = np.where(np.isnan(values), np.nan, np.searchsorted(edges, values, side="left"))
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.strategy == "best-cut"
        return tags

    def _check_parameters(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {self.strategy!r}")
        if self.n_bins is None:
            if self.strategy != "best-cut":
                raise ValueError(f"n_bins=None is valid with strategy best-cut only; {self.strategy} needs a number")
        elif not isinstance(self.n_bins, Integral) or self.n_bins < 2:
            raise ValueError(f"n_bins must be a whole number of at least 2, or None, got {self.n_bins!r}")

    def _positions(self) -> np.ndarray:
        """Resolve ``columns`` to positions."""
        if self.columns is None:
            return np.arange(self.n_features_in_)
        names = list(getattr(self, "feature_names_in_", ()))
        known: dict[int | str, int] = {name: position for position, name in enumerate(names)}
        known.update({position: position for position in range(self.n_features_in_)})
        if isinstance(self.columns, str) or not isinstance(self.columns, Sequence | np.ndarray):
            raise ValueError(f"columns must be a list of positions or names, or None, got {self.columns!r}")
        unknown = [column for column in self.columns if column not in known]
        if unknown:
            named = f" or one of {', '.join(names)}" if names else "; X has no column names"
            raise ValueError(f"columns must be positions 0 to {self.n_features_in_ - 1}{named}, got {unknown}")
        return np.array(list(dict.fromkeys(known[column] for column in self.columns)), np.int64)

    def _edges(self, values: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Inner edges of one column: values (N,), classes int64 (N,), weight (N,)."""
        present = ~np.isnan(values) & (weight > 0)
        values, classes, weight = values[present], classes[present], weight[present]
        if len(values) == 0:
            return np.empty(0)
        if self.strategy == "best-cut":
            return _best_cuts(values, classes, weight / weight_of_a_row(weight), self.n_bins)
        assert self.n_bins is not None  # by _check_parameters
        if self.strategy == "equal-width":
            return _equal_width(values, self.n_bins)
        return _equal_frequency(values, weight, self.n_bins)


def _equal_width(values: np.ndarray, n_bins: int) -> np.ndarray:
    low, high = values.min(), values.max()
    share = np.arange(1, n_bins) / n_bins
    edges = np.unique(low * (1 - share) + high * share)  # high - low may overflow
    return edges[(low <= edges) & (edges < high)]


def _equal_frequency(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    # for each share b / n_bins, the cut with the nearest weight below it, the lower one of a tie;
    # scaled by 2 n_bins, which keeps integer weights exact; scaled weights make ties inexact
    weights = np.bincount(place, weights=weight)
    below = 2 * n_bins * np.cumsum(weights)[:-1]
    wanted = 2 * (np.arange(1, n_bins) - ROUNDING) * weights.sum()
    cuts = np.unique(np.searchsorted((below[:-1] + below[1:]) / 2, wanted))
    return _midpoints(distinct[cuts], distinct[cuts + 1])


def _best_cuts(values: np.ndarray, classes: np.ndarray, weight: np.ndarray, max_bins: int | None) -> np.ndarray:
    """Repeat the cut of maximum entropy decrease over its rows, until there are ``max_bins`` intervals."""
    distinct, place = np.unique(values, return_inverse=True)
    n_classes = int(classes.max()) + 1
    counts = np.bincount(place * n_classes + classes, weights=weight, minlength=len(distinct) * n_classes)
    counts = counts.reshape(len(distinct), n_classes)
    heap: list[tuple[float, int, int, int]] = []  # (-bits, start, cut, end)

    def push_best_cut(start: int, end: int) -> None:
        if end - start < 2:
            return
        before, gain, children = _best_cut(counts[start:end])
        if gain > ROUNDING_BITS and (max_bins is not None or _passes_mdl_test(gain, children)):
            bits = round(gain * float(children.sum()), 6)  # ties are cut from low to high
            heapq.heappush(heap, (-bits, start, start + before, end))

    cuts: list[int] = []
    push_best_cut(0, len(distinct))
    while heap and (max_bins is None or len(cuts) < max_bins - 1):
        _, start, cut, end = heapq.heappop(heap)
        cuts.append(cut)
        push_best_cut(start, cut)
        push_best_cut(cut, end)
    cuts.sort()
    return _midpoints(distinct[[cut - 1 for cut in cuts]], distinct[cuts])


def _best_cut(counts: np.ndarray) -> tuple[int, float, np.ndarray]:
    """Find the binary cut of maximum information gain, the lowest one of a tie.

    Parameters
    ----------
    counts : float64 (V, C), class weights of the V >= 2 distinct values of an interval

    Returns
    -------
    n_before : int, distinct values below the cut
    gain : float, bits per row
    children : float64 (2, C), class weights below and above the cut
    """
    below = np.cumsum(counts, axis=0)
    total, below = below[-1], below[:-1]
    children = np.stack([below, total - below], axis=1)
    gain = information_gain(np.broadcast_to(total, below.shape), children)
    best = int(np.argmax(gain > gain.max() - ROUNDING_BITS))
    return best + 1, float(gain[best]), children[best]


def _passes_mdl_test(gain: float, children: np.ndarray) -> bool:
    """Whether the gain of a cut exceeds the bits that describe it.

        Gain > log2(N - 1) / N + Delta / N,    Delta = log2(3^k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))

    with k, k1, k2 the number of classes present in the interval and on both sides.

    References
    ----------
    Fayyad and Irani 1993, section 3.
    """
    parent = children.sum(axis=0)
    rows, k, each_k = float(parent.sum()), int(np.count_nonzero(parent)), np.count_nonzero(children, axis=1)
    saved = k * float(entropy(parent)) - float((each_k * entropy(children)).sum())
    return gain > (math.log2(max(rows - 1, 1)) + math.log2(3**k - 2) - saved) / rows


def _midpoints(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Midpoints between adjacent values; halved first, because their sum may overflow."""
    middle = below / 2 + above / 2
    return np.where(middle < above, middle, below)  # between adjacent floats the midpoint may round up
