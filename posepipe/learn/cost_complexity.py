"""Cost-complexity pruning of grown trees: the path of subtrees by weakest links, and the choice of one.

Nodes are closed, and leaves counted, as in `posepipe.learn.pruning`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.impurity import NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.pruning import TOLERANCE, sum_below, training_statistics, validation_errors
from posepipe.learn.tree import Tree

EMPTY_HEAP = -1
"""Top of an empty heap."""


@dataclass(frozen=True, slots=True, eq=False)
class PruningPath:
    """Nested subtrees of one tree, from the largest to the root alone.

    Subtree k minimises risk + alpha x leaves for every alpha in [``alphas[k]``, ``alphas[k + 1]``). Among
    minimisers it is the smallest.
    """

    tree: Tree  #: the full tree
    criterion: int  #: a value of CRITERIA
    alphas: np.ndarray  #: float64 (S,), strictly increasing from 0
    risks: np.ndarray  #: float64 (S,), mean impurity of the leaves, weighted by training weight
    leaves: np.ndarray  #: int64 (S,), leaves with training rows
    closed_at: np.ndarray  #: int64 (N,), first subtree that closes the node; S = leaf, or closed with an ancestor
    costs: np.ndarray = field(default_factory=lambda: NO_COSTS)  #: float64 (C, C), of errors on validation rows

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def ccp_alphas(self) -> np.ndarray:
        """`alphas`, by scikit-learn's name."""
        return self.alphas

    @property
    def impurities(self) -> np.ndarray:
        """`risks`, by scikit-learn's name."""
        return self.risks

    def subtree(self, k: int) -> Tree:
        """Return subtree k; -1 is the root alone."""
        return self.tree.collapse(self.closed_at <= range(len(self))[k])

    def at(self, alpha: float) -> Tree:
        """Close all links up to this strength, as scikit-learn's ``ccp_alpha`` does.

        Raises
        ------
        ValueError
            When alpha is negative or NaN.
        """
        if not alpha >= 0:
            raise ValueError(f"alpha must be at least 0, got {alpha}")
        reached = alpha + TOLERANCE * self.risks[-1]  # that of the root, as in `cost_complexity_path`
        return self.subtree(int(np.searchsorted(self.alphas, reached, side="right")) - 1)

    def errors(self, validation: np.ndarray, power: int = 1) -> np.ndarray:
        """Validation error of every subtree, as in `posepipe.learn.pruning.Pruned`.

        Parameters
        ----------
        validation : float64 (N, K), as in `posepipe.learn.pruning.reduced_error`
        power : int, of the costs, as in `posepipe.learn.pruning.validation_errors`

        Returns
        -------
        float64 (S,)
        """
        errors, total = validation_errors(self.tree, validation, self.criterion, self.costs, power)
        return _sums_over_leaves(self.tree, self.closed_at, len(self), errors) / total


def link_strengths(tree: Tree, criterion: int, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """Increase of risk per removed leaf when a node is closed.

        alpha(t) = (R(t) - R(T_t)) / (|T_t| - 1),    R(t) = impurity(t) weight(t) / weight of the root

    Parameters
    ----------
    tree : Tree
    criterion : int, a value of CRITERIA
    costs : float64 (C, C), misclassification costs as in `impurity`; Gini and misclassification only

    Returns
    -------
    float64 (N,), in the unit of the impurity; infinite at leaves, 0 where no leaf would be removed

    References
    ----------
    Breiman et al. 1984, section 3.3.
    """
    risk, counted = _risks(tree, criterion, costs)
    removed = sum_below(tree, counted) - 1
    strength = (risk - sum_below(tree, risk)) / np.where(removed > 0, removed, 1)
    return np.where(tree.is_leaf, np.inf, np.where(removed > 0, strength, 0.0))


def cost_complexity_path(tree: Tree, criterion: int, costs: np.ndarray = NO_COSTS) -> PruningPath:
    """Cost-complexity pruning: close the weakest link repeatedly until only the root remains.

    Links within a TOLERANCE of the weakest, as a share of the root's risk, are closed in the same step. Ties are
    frequent in small counts; separated by rounding they would give subtrees that are optimal for no alpha.
    The first step closes the links of strength 0 or below, whose splits decrease no risk. Without such links,
    subtree 0 is the full tree.

    Parameters
    ----------
    tree, criterion, costs : as in `link_strengths`

    References
    ----------
    Breiman et al. 1984, chapter 3.
    """
    return path_of_risks(tree, criterion, *_risks(tree, criterion, costs), costs)


def path_of_risks(
    tree: Tree, criterion: int, risk: np.ndarray, counted: np.ndarray, costs: np.ndarray = NO_COSTS
) -> PruningPath:
    """Path of `cost_complexity_path` for other risks, such as errors on validation rows.

    Parameters
    ----------
    tree : Tree
    criterion : int, a value of CRITERIA, by which `PruningPath.errors` counts
    risk : float64 (N,), of each node as a leaf
    counted : float64 (N,), 1 where a node counts as a leaf
    costs : float64 (C, C), misclassification costs of these errors
    """
    alpha = np.full(tree.n_nodes, np.inf)
    _closing_alphas(tree.first_child, tree.n_children, risk, counted.astype(np.int64), alpha)
    ascending, distinct = np.sort(alpha[np.isfinite(alpha)]), [0.0]
    while (k := np.searchsorted(ascending, distinct[-1] + TOLERANCE * risk[0], side="right")) < len(ascending):
        distinct.append(ascending[k])
    alphas = np.array(distinct)
    closed_at = np.maximum(np.searchsorted(alphas, alpha, side="right") - 1, 0)
    closed_at[np.isinf(alpha)] = len(alphas)
    return PruningPath(
        tree,
        criterion,
        alphas,
        risks=_sums_over_leaves(tree, closed_at, len(alphas), risk),
        leaves=_sums_over_leaves(tree, closed_at, len(alphas), counted).astype(np.int64),
        closed_at=closed_at,
        costs=costs,
    )


def choose_by_validation(path: PruningPath, validation: np.ndarray, standard_errors: float = 0.0) -> tuple[int, float]:
    """Choose the subtree of minimum validation error, the smallest one of a tie.

    Parameters
    ----------
    path : PruningPath
    validation : float64 (N, K), as in `posepipe.learn.pruning.reduced_error`
    standard_errors : float, choose the smallest subtree whose error is within this many standard errors of the
        minimum; 1 is Breiman's rule

    Returns
    -------
    index : int, subtree of the path
    error : float, its validation error, as in `posepipe.learn.pruning.Pruned`

    Raises
    ------
    ValueError
        For standard errors of a squared error: they need fourth powers, and moments hold only squares.

    References
    ----------
    Breiman et al. 1984, sections 3.4.1 and 3.4.3.
    """
    errors = path.errors(validation)
    allowed = errors.min() + TOLERANCE * errors.max()
    if standard_errors and path.criterion == SQUARED_ERROR:
        raise ValueError(f"moments give no standard error of a squared error, got standard_errors={standard_errors}")
    if standard_errors:
        best = np.argmin(errors)
        variance = path.errors(validation, power=2)[best] - errors[best] ** 2
        allowed += standard_errors * np.sqrt(max(variance, 0) / np.sum(validation[0]))
    index = int(np.flatnonzero(errors <= allowed)[-1])
    return index, float(errors[index])


def _risks(tree: Tree, criterion: int, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Risk R(t) of every node, and 1 where it counts as a leaf: float64 (N,) each."""
    statistics, weight = training_statistics(tree, criterion)
    return impurity(criterion, statistics, costs) * weight / weight[0], (weight > 0).astype(np.float64)


def _sums_over_leaves(tree: Tree, closed_at: np.ndarray, n_subtrees: int, values: np.ndarray) -> np.ndarray:
    """Sum a value, (N,), over the leaves of every subtree of a path: float64 (S,).

    A node is a leaf from the step that closes it to the step that closes an ancestor. Each node therefore adds
    its value to one difference and subtracts it from another; their cumulative sum serves all subtrees.
    """
    removed_at = np.full(tree.n_nodes, n_subtrees)
    _find_removal(tree.parents(), closed_at, removed_at)
    leaf_from = np.where(tree.is_leaf, 0, closed_at)
    is_leaf_once = leaf_from < removed_at
    added = np.bincount(leaf_from[is_leaf_once], values[is_leaf_once], minlength=n_subtrees + 1)
    removed = np.bincount(removed_at[is_leaf_once], values[is_leaf_once], minlength=n_subtrees + 1)
    return np.cumsum(added - removed)[:n_subtrees]


@njit(cache=True)
def _find_removal(parents, closed_at, removed_at):
    for node in range(1, len(parents)):  # parents first
        removed_at[node] = min(removed_at[parents[node]], closed_at[parents[node]])


@njit(cache=True)
def _closing_alphas(first_child, n_children, risk, counted, alpha):
    """Fill ``alpha`` with the strength of every link at the step that closes it.

    Nodes are visited bottom-up, with the closing steps below each node in one heap. After all these steps, the
    node would have only its children left to close. Steps no weaker than the node's own link never happen,
    because closing the node removes them. So the strongest step is merged into the link until the strongest
    one left is weaker. This takes O(N log N) for trees of any depth.

    Parameters
    ----------
    first_child, n_children : int32 (N,)
    risk : float64 (N,), R(t)
    counted : int64 (N,), 1 where a node counts as a leaf
    alpha : float64 (N,), infinite on entry; stays infinite at leaves and where an ancestor is closed no later
    """
    n_nodes = len(risk)
    left, right = np.full(n_nodes, EMPTY_HEAP), np.full(n_nodes, EMPTY_HEAP)
    added = np.zeros(n_nodes)  # risk added and leaves removed by the step that closes the node
    removed = np.zeros(n_nodes, np.int64)
    for node in range(n_nodes - 1, -1, -1):
        if n_children[node] == 0:
            continue
        top = EMPTY_HEAP
        added[node], removed[node] = risk[node], -counted[node]
        for child in range(first_child[node], first_child[node] + n_children[node]):
            added[node] -= risk[child]
            removed[node] += counted[child]
            if n_children[child] > 0:  # no step below a node is stronger than its own, so the node tops its heap
                top = _merge_heaps(top, child, alpha, left, right)
        while top != EMPTY_HEAP and (removed[node] == 0 or added[node] / removed[node] <= alpha[top]):
            added[node] += added[top]
            removed[node] += removed[top]
            alpha[top] = np.inf
            top = _merge_heaps(left[top], right[top], alpha, left, right)
        alpha[node] = added[node] / removed[node] if removed[node] > 0 else 0.0
        left[node] = top


@helper(cache=True)
def _merge_heaps(a, b, key, left, right):
    """Merge two skew heaps with the largest key on top and return the top (Sleator and Tarjan 1986)."""
    top, last = EMPTY_HEAP, EMPTY_HEAP
    while a != EMPTY_HEAP and b != EMPTY_HEAP:
        if key[a] < key[b]:
            a, b = b, a
        if last == EMPTY_HEAP:
            top = a
        else:
            left[last] = a
        last = a
        a = right[last]
        right[last] = left[last]
    if last == EMPTY_HEAP:
        return max(a, b)
    left[last] = max(a, b)
    return top
