"""Kernel: prediction of table rows by a tree; a row with missing cells may reach several leaves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix

from posepipe.compilation import helper, njit
from posepipe.learn.growing import MISSING
from posepipe.learn.impurity import MISCLASSIFICATION, SQUARED_ERROR
from posepipe.learn.tables.splitting.branches import branch_of
from posepipe.learn.tables.splitting.split_gain import NUMERIC
from posepipe.learn.tables.splitting.threads import run_tasks
from posepipe.learn.tree import LEAF, Tree

BLOCK = 256
"""Rows per task; they share one stack."""
LANES = 8
"""Rows that go down a tree of thresholds side by side; their memory accesses overlap."""
NODE = np.dtype([("threshold", np.float64), ("feature", np.uint32), ("first_child", np.uint32)])
"""A node of a tree of thresholds alone. A leaf is its own child: no number exceeds its infinite threshold."""


@njit(cache=True, inline="always")
def _heaviest_branch(weight, first, count):
    """Branch of maximum training weight, the first one of a tie."""
    best = 0
    for k in range(1, count):
        if weight[first + k] > weight[first + best]:
            best = k
    return best


@njit(cache=True, inline="always")
def _step(packed, columns, row, node, total):
    own = packed[node]
    value = columns[own["feature"], row]
    return np.uint64(own["first_child"]) + np.uint64(value > own["threshold"]), total + value


@njit(cache=True, inline="always")
def _go_down(packed, columns, first, count, nodes):
    """Fill ``nodes`` with the leaves of ``count`` rows, side by side; returns whether no cell on a path was missing.

    Indices are unsigned: Numba then leaves out the code for negative ones. Every pass takes two levels, which halves
    the questions whether a row still moves. The sum of the cells passed is NaN if one is missing: an
    addition costs less than a comparison.
    """
    nodes[:] = 0
    moving, total = True, 0.0
    while moving:
        moving = False
        for lane in range(count):
            node, total = _step(packed, columns, first + lane, nodes[lane], total)
            below, total = _step(packed, columns, first + lane, node, total)
            moving |= below != node
            nodes[lane] = below
    return total == total


@njit(cache=True)
def _find_leaves(packed, columns, start, end, leaves):
    """Fill ``leaves`` for some rows; returns False at the first rows with a missing cell on their path."""
    nodes = np.empty(LANES, np.uint64)
    for first in range(start, end, np.uint64(LANES)):
        count = min(np.uint64(LANES), end - first)
        if not _go_down(packed, columns, first, count, nodes):
            return False
        for lane in range(count):
            leaves[first - start + lane] = nodes[lane]
    return True


@helper(cache=True)
def _predict_block(block, arrays, packed, splits, columns, weight, values, to_heaviest, stack_size, out):  # noqa: C901 one loop over nodes
    start, end = block * BLOCK, min((block + 1) * BLOCK, columns.shape[1])
    leaves = np.empty(BLOCK, np.int64)
    if len(packed) and _find_leaves(packed, columns, np.uint64(start), np.uint64(end), leaves):
        for row in range(start, end):
            for k in range(values.shape[1]):
                out[row, k] += values[leaves[row - start], k]
        return
    feature, threshold, first_child, n_children = arrays
    kinds, combinations, subsets = splits
    nodes, shares = np.empty(stack_size, np.int64), np.empty(stack_size)
    for row in range(start, end):
        nodes[0], shares[0] = 0, 1.0
        n_stacked = 1
        while n_stacked:
            n_stacked -= 1
            node, share = nodes[n_stacked], shares[n_stacked]
            while feature[node] != LEAF:
                column, first, branch = feature[node], first_child[node], np.int64(MISSING)
                if column < len(kinds) and kinds[column] == NUMERIC:  # the common case, inlined for speed
                    value = columns[column, row]
                    if not np.isnan(value):
                        branch = np.int64(0) if value <= threshold[node] else np.int64(1)
                else:
                    count = n_children[node]
                    branch = np.int64(
                        branch_of(column, threshold[node], count, kinds, combinations, subsets, columns, row)
                    )
                if branch < 0:
                    count, is_missing = n_children[node], branch == MISSING
                    branch = _heaviest_branch(weight, first, count)
                    if is_missing and not to_heaviest:
                        total = 0.0
                        for k in range(count):
                            total += weight[first + k]
                        for k in range(count):
                            if k != branch and weight[first + k] > 0:
                                nodes[n_stacked] = first + k
                                shares[n_stacked] = share * weight[first + k] / total
                                n_stacked += 1
                        share *= weight[first + branch] / total
                node = first + branch
            for k in range(values.shape[1]):
                out[row, k] += share * values[node, k]


@njit(cache=True, nogil=True)
def _descend(first, last, arrays, packed, splits, columns, weight, values, to_heaviest, stack_size, out):
    for block in range(first, last):  # one block writes its rows of out
        _predict_block(block, arrays, packed, splits, columns, weight, values, to_heaviest, stack_size, out)


@njit(cache=True)
def _leaves(arrays, packed, splits, columns, weight, out):
    feature, threshold, first_child, n_children = arrays
    kinds, combinations, subsets = splits
    for start in range(0, columns.shape[1], BLOCK):
        end = min(start + BLOCK, columns.shape[1])
        if len(packed) and _find_leaves(packed, columns, np.uint64(start), np.uint64(end), out[start:end]):
            continue
        for row in range(start, end):
            node = 0
            while feature[node] != LEAF:
                first, count = first_child[node], n_children[node]
                branch = branch_of(feature[node], threshold[node], count, kinds, combinations, subsets, columns, row)
                node = first + (_heaviest_branch(weight, first, count) if branch < 0 else branch)
            out[row] = node


@dataclass(frozen=True, eq=False)
class TableTree:
    """A tree grown on a table, with all that its predictions need."""

    tree: Tree  #: a feature is a column, or the number of columns + a row of `combinations`
    kinds: np.ndarray  #: uint8 (F,), see `posepipe.learn.tables.splitting.split_gain`
    combinations: np.ndarray  #: float64 (D, F), linear combinations of columns
    moments: bool  #: whether leaves hold moments of a number (regression) instead of class weights
    #: int8 (S, K), branch of each category at a split by sets; the threshold of such a node is a row
    subsets: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    weight: np.ndarray = field(init=False)  #: float64 (nodes,), of the training rows
    values: np.ndarray = field(init=False)  #: float64 (nodes, C) posteriors, or (nodes, 1) means
    _packed: np.ndarray = field(init=False)  #: NODE (nodes,), or (0,) for a tree with splits other than thresholds
    _stack_size: int = field(init=False)  #: maximum nodes to visit later, while a row follows several branches

    def __post_init__(self) -> None:
        statistics = self.tree.node_statistics()
        weight = statistics[:, 0].copy() if self.moments else statistics.sum(axis=1)
        sums = statistics[:, 1:2] if self.moments else statistics
        values = sums / np.where(weight > 0, weight, 1)[:, None]
        self.tree.inherit(weight <= 0, values)  # nodes without training rows predict like their parent
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "values", values)
        stack_size = (self.tree.depth() + 1) * max(1, self.tree.n_children.max())
        object.__setattr__(self, "_stack_size", int(stack_size))
        object.__setattr__(self, "_packed", self._pack())

    def _pack(self) -> np.ndarray:
        """Nodes for rows without missing cells, when all splits are thresholds on single columns."""
        tree, inner = self.tree, ~self.tree.is_leaf
        feature = tree.feature[inner]
        if (feature >= len(self.kinds)).any() or (self.kinds[feature] != NUMERIC).any():
            return np.zeros(0, NODE)
        packed = np.zeros(tree.n_nodes, NODE)
        packed["threshold"] = np.where(inner, tree.threshold, np.inf)
        packed["feature"] = np.where(inner, tree.feature, 0)
        packed["first_child"] = np.where(inner, tree.first_child, np.arange(tree.n_nodes))
        return packed

    @property
    def error_criterion(self) -> int:
        """Criterion of prediction errors, a value of CRITERIA."""
        return SQUARED_ERROR if self.moments else MISCLASSIFICATION

    def with_tree(self, tree: Tree) -> TableTree:
        """Return the same splits with a pruned tree."""
        return TableTree(tree, self.kinds, self.combinations, self.moments, self.subsets)

    def add_predictions(self, columns: np.ndarray, missing: str, out: np.ndarray) -> None:
        """Add the prediction for every row to ``out``.

        Parameters
        ----------
        columns : float64 (F, N), coded like the training table, fastest with the cells of a row side by side
            (Fortran order); NaN = missing. A category below 0 is unknown and takes the branch of maximum weight
        missing : "fractional" or "most_common"; where the cell is missing, a row follows every branch, weighted by
            the branch's share of training weight, or only the branch of maximum weight
        out : float64 (N, C) or (N, 1), changed in place

        References
        ----------
        Quinlan 1993, section 3.2. Naive twin: tests/reference/tables/descent.py
        """
        to_heaviest = missing == "most_common"
        tree = self._arrays(), self._packed, self._splits()
        data = *tree, columns, self.weight, self.values, to_heaviest, self._stack_size, out
        n_blocks = -(-columns.shape[1] // BLOCK)
        run_tasks(_descend, n_blocks, columns.shape[1], *data)

    def leaves(self, columns: np.ndarray) -> np.ndarray:
        """Leaf of each row, int64 (N,); a missing cell takes the branch of maximum training weight."""
        out = np.empty(columns.shape[1], np.int64)
        _leaves(self._arrays(), self._packed, self._splits(), columns, self.weight, out)
        return out

    def statistics_of(self, columns: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Statistics of other rows, such as a validation set, in every node that they pass.

        Parameters
        ----------
        columns : float64 (F, N), coded like the training table; a missing cell takes the branch of maximum weight
        target : (N,), class codes or numbers
        weight : float64 (N,); None = 1 each

        Returns
        -------
        float64 (nodes, K), class weights or moments
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

    def _splits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.kinds, self.combinations, self.subsets

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.tree.feature, self.tree.threshold, self.tree.first_child, self.tree.n_children


def branches_of(grown: TableTree, columns: np.ndarray, rows: np.ndarray, node: int) -> np.ndarray:
    """Branch that rows take at one node: int32 (len(rows),), MISSING for an unknown one; ``columns`` float64 (F, N)."""
    out = np.empty(len(rows), np.int32)
    splits, tree = (grown.kinds, grown.combinations, grown.subsets), grown.tree
    _branches_at(columns, splits, rows, tree.feature[node], tree.threshold[node], tree.n_children[node], out)
    return out


@njit(cache=True)
def _branches_at(columns, splits, rows, feature, threshold, n_children, out):
    kinds, combinations, subsets = splits
    for k in range(len(rows)):
        branch = branch_of(feature, threshold, n_children, kinds, combinations, subsets, columns, rows[k])
        out[k] = branch if branch >= 0 else MISSING


def path_indicator(tree: Tree, leaves: np.ndarray) -> csr_matrix:
    """Nodes on the paths to some leaves: bool (N, nodes), sparse; ``leaves`` is int64 (N,)."""
    parents, nodes, rows = tree.parents(), leaves, np.arange(len(leaves))
    passed = []
    while len(nodes):
        passed.append(np.stack([rows, nodes]))
        above = parents[nodes]
        rows, nodes = rows[above >= 0], above[above >= 0]
    row, node = np.concatenate(passed, axis=1) if passed else np.zeros((2, 0), np.int64)
    return csr_matrix((np.ones(len(row), bool), (row, node)), shape=(len(leaves), tree.n_nodes))
