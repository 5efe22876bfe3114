"""Numbers to a few ordered codes: equal-width, equal-frequency and best-cut bins as a scikit-learn transformer.

Every strategy only decides where the inner edges lie. A bin takes its upper edge in, as a tree's
question "x <= threshold" does.
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

STRATEGIES = ("equal-width", "equal-frequency", "best-cut")
ROUNDING_BITS = 1e-9  #: gains that differ by less are the same number


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace numbers by the codes 0, 1, ... of the bins that they fall into.

    Parameters
    ----------
    strategy : "equal-width", "equal-frequency" or "best-cut"
        "equal-width" parts the range of a column evenly; rows may crowd in one bin. "equal-frequency"
        gives every bin as near as can be the same number of rows; equal values stay together, so
        that there may be fewer bins. "best-cut" looks at the classes: of all cuts midway between
        neighbouring values it takes the one that saves most bits of entropy in all, again and again.
    n_bins : int, at least 2, or None
        The most bins of a column. 2 with "best-cut" is the single best binary cut. None, with
        "best-cut" only, cuts for as long as each cut pays for its own description.
    columns : sequence of int or str, or None
        The columns to work on, by position or by name in the data frame that `fit` gets; None takes
        all. The others must be numbers too and pass through as they are; for a table with categories
        wrap the transformer in `sklearn.compose.ColumnTransformer`.

    Attributes
    ----------
    columns_ : int64 (K,), positions of the columns worked on
    edges_ : list of K float64 arrays, ascending, the inner edges of the column at the same place of
        ``columns_``; code b stands for ``edges[b - 1] < x <= edges[b]``. Empty for a constant column,
        whose one bin is 0.
    n_features_in_ : int
    feature_names_in_ : object (n_features_in_,), only when `fit` got names

    Notes
    -----
    NaN takes no part in finding the edges and stays NaN.

    References
    ----------
    Dougherty, Kohavi and Sahami, Supervised and unsupervised discretization of continuous features,
    ICML 1995. Best cuts and when to stop: Fayyad and Irani, Multi-interval discretization of
    continuous-valued attributes for classification learning, IJCAI 1993.

    Examples
    --------
    >>> from posepipe.learn.tables.discretize import Discretizer
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
        X : array-like (N, F) of numbers, NaN where missing
        y : array-like (N,), classes; "best-cut" alone needs and reads them
        sample_weight : array-like (N,), how often each row counts; None = 1 each. To "equal-width" all but 0 are alike

        Raises
        ------
        ValueError
            When a parameter, X or y is not as stated.
        """
        self._check_parameters()
        if self.strategy == "best-cut":
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
            check_classification_targets(y)
            classes = np.unique(y, return_inverse=True)[1]
        else:
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
            classes = np.zeros(len(X), np.int64)
        weight = _check_sample_weight(sample_weight, X)
        self.columns_ = self._positions()
        self.edges_ = [self._edges(X[:, column], classes, weight) for column in self.columns_]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return float64 (N, F): codes in the columns worked on, NaN where X is NaN."""
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
                raise ValueError(f"n_bins=None goes with strategy best-cut alone; {self.strategy} needs a number")
        elif not isinstance(self.n_bins, Integral) or self.n_bins < 2:
            raise ValueError(f"n_bins must be a whole number of at least 2, or None, got {self.n_bins!r}")

    def _positions(self) -> np.ndarray:
        """The positions that ``columns`` means."""
        if self.columns is None:
            return np.arange(self.n_features_in_)
        names = list(getattr(self, "feature_names_in_", ()))
        known: dict[int | str, int] = {name: position for position, name in enumerate(names)}
        known.update({position: position for position in range(self.n_features_in_)})
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
            return _best_cuts(values, classes, weight, self.n_bins)
        assert self.n_bins is not None  # _check_parameters has seen to it
        if self.strategy == "equal-width":
            return _equal_width(values, self.n_bins)
        return _equal_frequency(values, weight, self.n_bins)


def _equal_width(values: np.ndarray, n_bins: int) -> np.ndarray:
    least, greatest = values.min(), values.max()
    share = np.arange(1, n_bins) / n_bins
    edges = np.unique(least * (1 - share) + greatest * share)  # the difference of the two may be infinite
    return edges[(least <= edges) & (edges < greatest)]


def _equal_frequency(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    # for each share b / n_bins the cut whose weight below comes nearest to it, the lower of two as near;
    # times 2 n_bins, so that whole weights stay whole
    weights = np.bincount(place, weights=weight)
    below = 2 * n_bins * np.cumsum(weights)[:-1]
    wanted = 2 * np.arange(1, n_bins) * weights.sum()
    cuts = np.unique(np.searchsorted((below[:-1] + below[1:]) / 2, wanted))
    return _midpoints(distinct[cuts], distinct[cuts + 1])


def _best_cuts(values: np.ndarray, classes: np.ndarray, weight: np.ndarray, most: int | None) -> np.ndarray:
    """Cut the interval whose best cut saves most bits over its rows, until there are ``most`` intervals."""
    distinct, place = np.unique(values, return_inverse=True)
    n_classes = int(classes.max()) + 1
    counts = np.bincount(place * n_classes + classes, weights=weight, minlength=len(distinct) * n_classes)
    counts = counts.reshape(len(distinct), n_classes)
    worthwhile: list[tuple[float, int, int, int]] = []  # a heap of (-bits saved, start, cut, end)

    def consider(start: int, end: int) -> None:
        if end - start < 2:
            return
        before, gain, children = _best_cut(counts[start:end])
        if gain > ROUNDING_BITS and (most is not None or _pays(gain, children)):
            bits = round(gain * float(children.sum()), 6)  # equal savings go from low to high
            heapq.heappush(worthwhile, (-bits, start, start + before, end))

    cuts: list[int] = []
    consider(0, len(distinct))
    while worthwhile and (most is None or len(cuts) < most - 1):
        _, start, cut, end = heapq.heappop(worthwhile)
        cuts.append(cut)
        consider(start, cut)
        consider(cut, end)
    cuts.sort()
    return _midpoints(distinct[[cut - 1 for cut in cuts]], distinct[cuts])


def _best_cut(counts: np.ndarray) -> tuple[int, float, np.ndarray]:
    """The binary cut that saves most bits, the lowest of equals.

    Parameters
    ----------
    counts : float64 (V, C), class weights of the V >= 2 distinct values of an interval

    Returns
    -------
    int, how many values lie before the cut; float, bits a row; float64 (2, C), class weights either side
    """
    below = np.cumsum(counts, axis=0)
    total, below = below[-1], below[:-1]
    children = np.stack([below, total - below], axis=1)
    gain = information_gain(np.broadcast_to(total, below.shape), children)
    best = int(np.argmax(gain > gain.max() - ROUNDING_BITS))
    return best + 1, float(gain[best]), children[best]


def _pays(gain: float, children: np.ndarray) -> bool:
    """Whether a cut saves more bits than it takes to say where it lies and what the classes are beyond it.

    Fayyad and Irani 1993, section 3: Gain > log2(N - 1) / N + Delta / N with
    Delta = log2(3^k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2)), k the classes present.
    """
    parent = children.sum(axis=0)
    rows, k, each_k = float(parent.sum()), int(np.count_nonzero(parent)), np.count_nonzero(children, axis=1)
    saved = k * float(entropy(parent)) - float((each_k * entropy(children)).sum())
    return gain > (math.log2(max(rows - 1, 1)) + math.log2(3**k - 2) - saved) / rows


def _midpoints(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Midway between neighbouring values; halved first, for their sum may be infinite."""
    middle = below / 2 + above / 2
    return np.where(middle < above, middle, below)  # between adjacent floats it may round up
