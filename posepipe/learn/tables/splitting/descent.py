"""Kernel: rows of a table down a tree, to the leaf, or in part to several leaves, that answers them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit, prange

from posepipe.learn.growing import MISSING
from posepipe.learn.impurity import MISCLASSIFICATION, SQUARED_ERROR
from posepipe.learn.tables.splitting.column_scan import NUMERIC
from posepipe.learn.tables.splitting.column_splits import branch_of
from posepipe.learn.tables.splitting.threads import worth_threads
from posepipe.learn.tree import LEAF, Tree

BLOCK = 256
"""Rows a task; they share one stack."""


@njit(cache=True, inline="always")
def _heaviest(weight, first, count):
    """The branch that most training weight took: the first of equals."""
    best = 0
    for k in range(1, count):
        if weight[first + k] > weight[first + best]:
            best = k
    return best


@njit(cache=True)
def _answer_block(block, arrays, questions, columns, weight, values, to_heaviest, room, out):
    feature, threshold, first_child, n_children = arrays
    kinds, combinations = questions
    nodes, shares = np.empty(room, np.int64), np.empty(room)
    for row in range(block * BLOCK, min((block + 1) * BLOCK, columns.shape[1])):
        nodes[0], shares[0] = 0, 1.0
        waiting = 1
        while waiting:
            waiting -= 1
            node, share = nodes[waiting], shares[waiting]
            while feature[node] != LEAF:
                column, first, branch = feature[node], first_child[node], np.int64(MISSING)
                if column < len(kinds) and kinds[column] == NUMERIC:  # most questions: without a call, twice as fast
                    value = columns[column, row]
                    if not np.isnan(value):
                        branch = np.int64(0) if value <= threshold[node] else np.int64(1)
                else:
                    count = n_children[node]
                    branch = np.int64(branch_of(column, threshold[node], count, kinds, combinations, columns, row))
                if branch == MISSING:
                    count = n_children[node]
                    branch = _heaviest(weight, first, count)
                    if not to_heaviest:
                        total = 0.0
                        for k in range(count):
                            total += weight[first + k]
                        for k in range(count):
                            if k != branch and weight[first + k] > 0:
                                nodes[waiting] = first + k
                                shares[waiting] = share * weight[first + k] / total
                                waiting += 1
                        share *= weight[first + branch] / total
                node = first + branch
            for k in range(values.shape[1]):
                out[row, k] += share * values[node, k]


@njit(cache=True, parallel=True)
def _descend(n_blocks, arrays, questions, columns, weight, values, to_heaviest, room, out):
    for block in prange(n_blocks):  # a row of out is written by one task
        _answer_block(block, arrays, questions, columns, weight, values, to_heaviest, room, out)


@njit(cache=True, nogil=True)
def _descend_alone(n_blocks, arrays, questions, columns, weight, values, to_heaviest, room, out):
    for block in range(n_blocks):
        _answer_block(block, arrays, questions, columns, weight, values, to_heaviest, room, out)


@njit(cache=True)
def _leaves(arrays, questions, columns, weight, out):
    feature, threshold, first_child, n_children = arrays
    kinds, combinations = questions
    for row in range(columns.shape[1]):
        node = 0
        while feature[node] != LEAF:
            first, count = first_child[node], n_children[node]
            branch = branch_of(feature[node], threshold[node], count, kinds, combinations, columns, row)
            node = first + (_heaviest(weight, first, count) if branch == MISSING else branch)
        out[row] = node


@dataclass(frozen=True, eq=False)
class TableTree:
    """A tree grown on a table, with all that it takes to send new rows down."""

    tree: Tree  #: a feature is a column, or the number of columns + a row of `combinations`
    kinds: np.ndarray  #: uint8 (F,), see `posepipe.learn.tables.splitting.column_scan`
    combinations: np.ndarray  #: float64 (D, F), linear combinations of columns
    moments: bool  #: whether leaves hold moments of a number instead of class weights
    weight: np.ndarray = field(init=False)  #: float64 (nodes,), of the training rows
    values: np.ndarray = field(init=False)  #: float64 (nodes, C) posteriors, or (nodes, 1) means
    _room: int = field(init=False)  #: nodes that wait, at most, while a row goes down several branches

    def __post_init__(self) -> None:
        statistics = self.tree.node_statistics()
        weight = statistics[:, 0].copy() if self.moments else statistics.sum(axis=1)
        sums = statistics[:, 1:2] if self.moments else statistics
        values = sums / np.where(weight > 0, weight, 1)[:, None]
        self.tree.inherit(weight <= 0, values)  # where no training row came, the parent answers
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "values", values)
        room = (self.tree.depth() + 1) * max(1, self.tree.n_children.max())
        object.__setattr__(self, "_room", int(room))

    @property
    def mistakes(self) -> int:
        """The criterion by which answers are counted wrong: a value of CRITERIA."""
        return SQUARED_ERROR if self.moments else MISCLASSIFICATION

    def with_tree(self, tree: Tree) -> TableTree:
        """The same questions, in a tree that was pruned."""
        return TableTree(tree, self.kinds, self.combinations, self.moments)

    def answer(self, columns: np.ndarray, missing: str, out: np.ndarray) -> None:
        """Add what the tree answers to every row to ``out``.

        Parameters
        ----------
        columns : float64 (F, N), coded like the training table; NaN = missing or never seen
        missing : "fractional": such a row goes down every branch, with the share of the training weight that took
            it; "most_common": down the heaviest
        out : float64 (N, C), or (N, 1)

        References
        ----------
        Quinlan 1993, section 3.2. Naive twin: tests/reference/tables/descent.py
        """
        questions = self.kinds, self.combinations
        to_heaviest = missing == "most_common"
        n_blocks = -(-columns.shape[1] // BLOCK)
        descend = _descend if worth_threads(columns.shape[1]) else _descend_alone
        descend(n_blocks, self._arrays(), questions, columns, self.weight, self.values, to_heaviest, self._room, out)

    def leaves(self, columns: np.ndarray) -> np.ndarray:
        """The node at which each row ends, int64 (N,); a missing cell takes the heaviest branch."""
        out = np.empty(columns.shape[1], np.int64)
        _leaves(self._arrays(), (self.kinds, self.combinations), columns, self.weight, out)
        return out

    def passed(self, columns: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Statistics of other rows, of a validation set, in every node that they pass: float64 (nodes, K).

        A row with a missing cell goes down the heaviest branch. ``weight`` float64 (N,); None = 1 each.
        """
        weight = np.ones(len(target)) if weight is None else weight
        leaves = self.leaves(columns)
        statistics = np.zeros((self.tree.n_nodes, self.tree.leaf_statistics.shape[1]))
        if self.moments:
            for power in range(3):
                np.add.at(statistics[:, power], leaves, weight * target**power)
        else:
            np.add.at(statistics, (leaves, target.astype(np.int64)), weight)
        return self.tree.sum_up(statistics)

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.tree.feature, self.tree.threshold, self.tree.first_child, self.tree.n_children
