"""Error-based pruning of C4.5: by an upper limit of the training errors, with leaves or branches in place of nodes.

From the bottom up, a node is replaced by a leaf, or by its largest branch (*subtree raising*), when that does not
increase the estimated errors by more than a tenth of a row. Rows of the other branches then go down the raised one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.learn.growing import MISSING
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree, branches_of
from posepipe.learn.tree import LEAF, Tree

DEVIATES = (
    (0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0),
    (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0),
)
"""Confidence and deviate of the normal distribution, between which C4.5 interpolates."""
ALMOST_ALL = 0.67
"""Share of the correct rows that are counted as errors where no more than half a row is correct."""
SLACK = 0.1
"""Rows by which a replacement may increase the estimated errors."""


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """Upper confidence limit of the number of errors of a leaf on new rows."""

    confidence: float  #: probability of the observed errors or fewer, above 0 and up to 0.5
    row_weight: float = 1.0  #: weight of one row

    def __call__(self, statistics: np.ndarray) -> float:
        """Estimate the errors of a leaf, in rows; ``statistics`` is float64 (C,), its class weights.

        References
        ----------
        Quinlan 1993, section 4.2, as the program computes it: exact for no error, linear up to one error, and a
        normal approximation above, with DEVIATES. J48 takes the exact deviate instead, 0.6745 for 0.6925 at 0.25, and 1
        for ALMOST_ALL. The latter concerns leaves of rows that missing cells divide.
        """
        rows = statistics.sum() / self.row_weight
        errors = max(rows - statistics.max() / self.row_weight, 0.0)
        return errors + self._additional(rows, errors)

    def _additional(self, rows: float, errors: float) -> float:
        if rows <= 0:
            return 0.0
        if errors < 1:
            none = rows * (1 - self.confidence ** (1 / rows))
            return none if errors < 1e-9 else none + errors * (self._additional(rows, 1.0) - none)
        if errors + 0.5 >= rows:
            return ALMOST_ALL * (rows - errors)
        z, rate = float(np.interp(self.confidence, *DEVIATES)), (errors + 0.5) / rows
        spread = z * np.sqrt(rate / rows - rate**2 / rows + z**2 / (4 * rows**2))
        return float((rate + z**2 / (2 * rows) + spread) / (1 + z**2 / rows) * rows - errors)


@dataclass(slots=True, eq=False)
class _Node:
    """A node that can change: its split, its branches and the rows that pass it."""

    origin: int  #: node of the grown tree whose split it makes
    rows: np.ndarray  #: int64 (M,)
    weight: np.ndarray  #: float64 (M,)
    statistics: np.ndarray  #: float64 (C,)
    children: list[_Node] = field(default_factory=list)
    errors: float = 0.0  #: estimated errors of its subtree


def prune_by_error_limit(
    grown: TableTree, table: Table, weight: np.ndarray | None, limit: ErrorLimit, raising: bool = True
) -> tuple[TableTree, np.ndarray]:
    """Prune a tree by the estimated errors on its training rows.

    Parameters
    ----------
    grown : TableTree, of classes
    table : Table, its training rows
    weight : float64 (N,), of the rows; None = 1 each
    limit : ErrorLimit
    raising : bool, also try to replace a node by its largest branch; rows of every node then pass that branch, so
        that the time grows with the square of the depth

    Returns
    -------
    pruned : TableTree
    origin : int64 (nodes,), node of the grown tree whose split each node makes

    References
    ----------
    Quinlan 1993, section 4.2; release 8 of C4.5.
    """
    rows = np.arange(len(table))
    kept = np.ones(len(rows)) if weight is None else weight
    pruner = _Pruner(grown, table, limit)
    root = pruner.send(pruner.skeleton(), rows, kept)
    stack = _post_order(root)[::-1]
    while stack:
        node = stack.pop()
        raised = pruner.prune(node, raising)
        if raised is not None:
            node.origin, node.children = raised.origin, raised.children
            stack.append(node)
            stack += [below for below in _post_order(node)[::-1] if below is not node]
    return _flatten(root, grown)


def _post_order(root: _Node) -> list[_Node]:
    """All nodes of a subtree, children before their parent."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += node.children
    return found[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class _Pruner:
    grown: TableTree
    table: Table
    limit: ErrorLimit

    def skeleton(self) -> _Node:
        """Make the nodes of the grown tree, without rows."""
        tree, none = self.grown.tree, np.zeros(0)
        nodes = [_Node(k, none, none, none) for k in range(tree.n_nodes)]
        for k, node in enumerate(nodes):
            node.children = [nodes[child] for child in tree.children(k)]
        return nodes[0]

    def send(self, node: _Node, rows: np.ndarray, weight: np.ndarray) -> _Node:
        """Copy a subtree with other rows in it."""
        root = _Node(node.origin, rows, weight, self._count(rows, weight))
        waiting = [(node, root)]
        while waiting:
            old, new = waiting.pop()
            parts = self._divide(new, len(old.children)) if old.children else []
            new.children = [
                _Node(child.origin, *part, self._count(*part)) for child, part in zip(old.children, parts, strict=True)
            ]
            waiting += zip(old.children, new.children, strict=True)
        for each in _post_order(root):
            each.errors = sum(child.errors for child in each.children) if each.children else self._errors(each)
        return root

    def prune(self, node: _Node, raising: bool) -> _Node | None:
        """Make a node a leaf, or return the subtree that is to replace it; None = done with the node."""
        if not node.children:
            node.errors = self._errors(node)
            return None
        node.errors = sum(child.errors for child in node.children)
        as_leaf, raised = self._errors(node), None
        largest = max(node.children, key=lambda child: child.weight.sum())  # the first one of a tie
        if raising and largest.children:
            raised = self.send(largest, node.rows, node.weight)
        as_raised = np.inf if raised is None else raised.errors
        if as_leaf <= min(node.errors, as_raised) + SLACK:
            node.children, node.errors = [], as_leaf
            return None
        return raised if as_raised <= node.errors + SLACK else None

    def _errors(self, node: _Node) -> float:
        return self.limit(node.statistics) if len(node.rows) else 0.0

    def _count(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        classes = self.table.target[rows].astype(np.int64)
        return np.bincount(classes, weights=weight, minlength=self.table.n_statistics)

    def _divide(self, node: _Node, n_children: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows and weights of each branch; a row of unknown branch is divided by the weight of the others."""
        branch = branches_of(self.grown, self.table.columns, node.rows, node.origin)
        known = branch != MISSING
        taken = np.bincount(branch[known], weights=node.weight[known], minlength=n_children)
        parts = []
        for k in range(n_children):
            inside = known & (branch == k)
            share = np.where(inside, 1.0, taken[k] / taken.sum() if taken.sum() > 0 else 0.0)
            inside |= ~known & (share > 0)
            parts.append((node.rows[inside], (node.weight * share)[inside]))
        return parts


def _flatten(root: _Node, grown: TableTree) -> tuple[TableTree, np.ndarray]:
    """Arrange nodes level by level, as growth does."""
    nodes, first_child = [root], []
    for node in nodes:  # grows while it is walked
        first_child.append(len(nodes))
        nodes += node.children
    origin = np.array([node.origin for node in nodes])
    leaf = np.array([not node.children for node in nodes])
    tree = Tree(
        feature=np.where(leaf, LEAF, grown.tree.feature[origin]).astype(np.int32),
        threshold=np.where(leaf, 0.0, grown.tree.threshold[origin]),
        first_child=np.where(leaf, np.cumsum(leaf) - 1, first_child).astype(np.int32),
        leaf_statistics=np.array([node.statistics for node in nodes if not node.children], np.float64),
        n_children=np.array([len(node.children) for node in nodes], np.int32),
    )
    return grown.with_tree(tree), origin
