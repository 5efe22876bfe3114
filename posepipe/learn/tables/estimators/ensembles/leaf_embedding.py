"""Leaves of trees as features: a transformer for linear models and neighbours."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, validate_data

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.splitting.schema import with_own_types
from posepipe.learn.tables.table_model import TableModel


class LeafEmbedding(TransformerMixin, BaseEstimator):
    """Replace each row by the leaves that it reaches: one column for each leaf of each tree, 1 where the row ends.

    Rows are alike where they share many leaves: the product of two rows is the number of trees that they share.

    Parameters
    ----------
    estimator : forest or single tree of this package, cloned for each fit; None = ``RandomForestClassifier()``

    Attributes
    ----------
    estimator_ : the fitted learner
    n_leaves_ : int, number of columns

    References
    ----------
    Breiman and Cutler, manual of random forests, section on proximities; Moosmann, Triggs and Jurie, Fast
    discriminative visual codebooks using randomized clustering forests, NIPS 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posepipe.learn import CartClassifier, LeafEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LeafEmbedding(CartClassifier(max_depth=2)).fit(X, y)
    >>> embedding.transform(X[:1]).toarray()
    array([[1., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict] = {"estimator": [HasMethods(["fit", "apply"]), None]}

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._learner())
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner.

        Parameters
        ----------
        X, y, sample_weight : as in the ``fit`` of the learner

        Raises
        ------
        ValueError
            When the learner is no tree or forest of this package, or refuses the rows.
        """
        self._validate_params()
        learner = self._learner()
        if not isinstance(learner, TableModel):
            raise ValueError(f"estimator must be a tree or forest of this package, got {type(learner).__name__}")
        self.estimator_ = clone(learner).fit(X, y, sample_weight)
        validate_data(self, with_own_types(X), skip_check_array=True)
        trees = getattr(self.estimator_, "trees_", None) or [self.estimator_.tree_]
        self._columns, first = [], 0
        for grown in trees:
            leaf = grown.tree.is_leaf
            self._columns.append(np.where(leaf, first + np.cumsum(leaf) - 1, -1))
            first += int(leaf.sum())
        self.n_leaves_ = first
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Find the leaves of rows; a missing cell takes the branch of maximum training weight.

        Returns
        -------
        float64 (N, n_leaves_), sparse, with a 1 for each tree
        """
        check_is_fitted(self)
        nodes = self.estimator_.apply(X).reshape(-1, len(self._columns))
        columns = np.stack([own[nodes[:, t]] for t, own in enumerate(self._columns)], axis=1)
        starts = np.arange(len(nodes) + 1) * columns.shape[1]
        shape = len(nodes), self.n_leaves_
        return csr_matrix((np.ones(columns.size), columns.ravel(), starts), shape=shape)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns by tree and node, such as ``tree0_node4``: object (n_leaves_,)."""
        check_is_fitted(self)
        names = [
            f"tree{t}_node{node}" for t, own in enumerate(self._columns) for node in np.flatnonzero(own >= 0).tolist()
        ]
        return np.array(names, object)

    def _learner(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator
