"""Cutting a grown tree back, in the three classic ways, from the statistics of its nodes alone.

To close a node is to make it a leaf; all below it goes. What a node asks is no matter here, so any tree will
do whose leaves hold class weights or moments (`impurity`) of their training rows, not a forest's posteriors.

A leaf that no training row reached counts as no leaf, in every rule below: it came with a split into many
branches, says what the nearest node above it with rows says, and has no errors of its own to answer for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from posepipe.learn.impurity import CRITERIA, MISCLASSIFICATION, NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.tree import Tree

TOLERANCE = 1e-12
"""Share of the root's value by which two sums may differ and count as equal, as on paper they often are."""
NOBODY = -1
"""Top of a heap that holds nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A tree cut back with the help of validation rows."""

    tree: Tree
    error: float  #: wrong share of the validation weight, or mean squared error: low, for these rows chose the tree
    closed: np.ndarray  #: bool (N,), nodes of the whole tree that were closed; some went when one above them was


@dataclass(frozen=True, slots=True, eq=False)
class PruningPath:
    """Subtrees of one tree, each within the one before, from the largest to the root alone.

    Subtree k is, for every alpha from ``alphas[k]`` to below ``alphas[k + 1]``, the smallest of those whose
    risk + alpha x leaves is least.
    """

    tree: Tree  #: the whole tree
    criterion: int  #: a value of CRITERIA
    alphas: np.ndarray  #: float64 (S,), strictly rising from 0
    risks: np.ndarray  #: float64 (S,), impurity of the leaves, each by its share of the training weight
    leaves: np.ndarray  #: int64 (S,), leaves that training rows reach
    closed_at: np.ndarray  #: int64 (N,), first subtree where the node is closed; S = at a leaf, or with a node above

    def __len__(self) -> int:
        return len(self.alphas)

    def subtree(self, k: int) -> Tree:
        """Subtree k; -1 is the root alone."""
        return self.tree.collapse(self.closed_at <= range(len(self))[k])

    def at(self, alpha: float) -> Tree:
        """Close all links of at most this strength, as scikit-learn's ``ccp_alpha`` does."""
        if not alpha >= 0:
            raise ValueError(f"alpha is a price for each leaf, 0 or more, got {alpha}")
        return self.subtree(int(np.searchsorted(self.alphas, alpha, side="right")) - 1)

    def errors(self, validation: np.ndarray) -> np.ndarray:
        """Validation error of every subtree, float64 (S,), like `Pruned.error`; rows as in `reduced_error`."""
        wrong, total = validation_errors(self.tree, validation, self.criterion)
        return _sums_over_leaves(self.tree, self.closed_at, len(self), wrong) / total


def pessimistic(tree: Tree) -> Tree:
    """Prune by the training errors alone, each leaf charged with half an error more.

    From the root down, a node is closed when that costs no more errors than its subtree makes, with their
    standard error added:

        e(t) + 1/2  <=  e' + sqrt(e' (n - e') / n)    with    e' = sum of e over the leaves + leaves / 2

    Parameters
    ----------
    tree : its leaves hold class weights; n is the weight of a node

    References
    ----------
    Quinlan, Simplifying decision trees, 1987. C4.5's last release has a confidence limit of the error in
    its place: Quinlan 1993, section 4.2.
    """
    statistics, weight = _training(tree, MISCLASSIFICATION)
    as_leaf = weight - statistics.max(axis=1) + (weight > 0) / 2
    subtree = _sum_below(tree, as_leaf)
    variance = np.maximum(subtree * (weight - subtree), 0) / np.where(weight > 0, weight, 1)
    return tree.collapse(as_leaf <= subtree + np.sqrt(variance))


def validation_errors(tree: Tree, validation: np.ndarray, criterion: int) -> tuple[np.ndarray, float]:
    """Errors that every node would make as a leaf, float64 (N,), and the weight of all rows; as in `reduced_error`."""
    training, weight = _training(tree, criterion)
    validation = np.asarray(validation, np.float64)
    if validation.shape != training.shape:
        raise ValueError(f"validation statistics need the shape {training.shape} of the nodes', got {validation.shape}")
    total = validation[0, 0] if criterion == SQUARED_ERROR else validation[0].sum()
    if not total > 0:
        raise ValueError("pruning by validation needs rows that reach the root, got none")
    tree.inherit(weight <= 0, training)
    if criterion == SQUARED_ERROR:
        mean = training[:, 1] / training[:, 0]
        squares = validation[:, 2] - 2 * mean * validation[:, 1] + mean**2 * validation[:, 0]
        return np.maximum(squares, 0), float(total)
    said = training.argmax(axis=1)
    return validation.sum(axis=1) - validation[np.arange(len(said)), said], float(total)


def reduced_error(tree: Tree, validation: np.ndarray, criterion: int = MISCLASSIFICATION) -> Pruned:
    """Close, from the bottom up, every node that as a leaf makes no more errors on validation rows than its subtree.

    A leaf says what is commonest among its training rows, the first class of those tied, or their mean.

    Parameters
    ----------
    validation : float64 (N, K), class weights or moments of the validation rows that reach each node
    criterion : SQUARED_ERROR for moments; for class weights all others are the same here

    Returns
    -------
    Pruned : no pruning of the tree makes fewer errors on these rows, nor as few with fewer leaves

    References
    ----------
    Quinlan 1987, for classes.
    """
    wrong, total = validation_errors(tree, validation, criterion)
    closed = np.zeros(tree.n_nodes, bool)
    least = _close_upwards(tree.parents(), tree.is_leaf, wrong, TOLERANCE * wrong[0], closed)
    return Pruned(tree.collapse(closed), float(least / total), closed)


def link_strengths(tree: Tree, criterion: int, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """Risk that closing a node adds, for each leaf that it saves.

        alpha(t) = (R(t) - R(T_t)) / (|T_t| - 1),    R(t) = impurity(t) weight(t) / weight of the root

    Parameters
    ----------
    criterion, costs : as `impurity` has them; costs are for Gini only

    Returns
    -------
    float64 (N,), in the unit of the impurity; infinite at leaves, 0 where no leaf would be saved

    References
    ----------
    Breiman et al. 1984, section 3.3.
    """
    risk, counted = _risks(tree, criterion, costs)
    saved = _sum_below(tree, counted) - 1
    strength = (risk - _sum_below(tree, risk)) / np.where(saved > 0, saved, 1)
    return np.where(tree.is_leaf, np.inf, np.where(saved > 0, strength, 0.0))


def cost_complexity_path(tree: Tree, criterion: int, costs: np.ndarray = NO_COSTS) -> PruningPath:
    """Close the weakest link, again and again until the root is alone.

    Links as weak as the weakest are closed in the same step, those within a TOLERANCE of the root's risk
    among them: in small counts they often tie, and parted by rounding they would make subtrees that are best
    for no alpha. The first step closes links of strength 0, whose splits save no risk (or less than none, as
    some costs have it); where there are none it is the whole tree.

    Parameters are those of `link_strengths`.

    References
    ----------
    Breiman et al. 1984, chapter 3.
    """
    risk, counted = _risks(tree, criterion, costs)
    alpha = np.full(tree.n_nodes, np.inf)
    _closing_alphas(tree.first_child, tree.n_children, risk, counted.astype(np.int64), alpha)
    rising, kept = np.sort(alpha[np.isfinite(alpha)]), [0.0]
    while (next_one := np.searchsorted(rising, kept[-1] + TOLERANCE * risk[0], side="right")) < len(rising):
        kept.append(rising[next_one])
    alphas = np.array(kept)
    closed_at = np.maximum(np.searchsorted(alphas, alpha, side="right") - 1, 0)
    closed_at[np.isinf(alpha)] = len(alphas)
    return PruningPath(
        tree,
        criterion,
        alphas,
        risks=_sums_over_leaves(tree, closed_at, len(alphas), risk),
        leaves=_sums_over_leaves(tree, closed_at, len(alphas), counted).astype(np.int64),
        closed_at=closed_at,
    )


def choose_by_validation(path: PruningPath, validation: np.ndarray, standard_errors: float = 0.0) -> tuple[int, float]:
    """Choose the subtree with the least validation error, the smallest of those tied.

    Parameters
    ----------
    validation : as in `reduced_error`
    standard_errors : choose the smallest subtree whose error is within so many standard errors of the least;
        1 is Breiman's rule

    Returns
    -------
    Its index on the path, and the error that it was chosen by, like `Pruned.error`

    Raises
    ------
    ValueError
        For standard errors of a squared error, which need fourth powers: moments do not hold them.

    References
    ----------
    Breiman et al. 1984, sections 3.4.1 and 3.4.3.
    """
    errors = path.errors(validation)
    allowed = errors.min() + TOLERANCE * errors.max()
    if standard_errors and path.criterion == SQUARED_ERROR:
        raise ValueError(f"moments tell no standard error of a squared error, got standard_errors={standard_errors}")
    if standard_errors:
        allowed += standard_errors * np.sqrt(errors.min() * (1 - errors.min()) / np.sum(validation[0]))
    index = int(np.flatnonzero(errors <= allowed)[-1])
    return index, float(errors[index])


def _training(tree: Tree, criterion: int) -> tuple[np.ndarray, np.ndarray]:
    """Training statistics of every node, (N, K), and their weight, (N,)."""
    if criterion not in CRITERIA.values():
        raise ValueError(f"criterion is one of {CRITERIA}, got {criterion}")
    statistics = tree.node_statistics()
    if criterion == SQUARED_ERROR and statistics.shape[1] != 3:
        raise ValueError(f"squared error needs 3 moments a leaf, got {statistics.shape[1]} numbers")
    weight = statistics[:, 0] if criterion == SQUARED_ERROR else statistics.sum(axis=1)
    if not weight[0] > 0:
        raise ValueError("leaves of the tree need the statistics of its training rows, got none of any weight")
    return statistics, weight


def _risks(tree: Tree, criterion: int, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R(t) of every node, and 1 where it would count as a leaf: float64 (N,) each."""
    statistics, weight = _training(tree, criterion)
    return impurity(criterion, statistics, costs) * weight / weight[0], (weight > 0).astype(np.float64)


def _sum_below(tree: Tree, values: np.ndarray) -> np.ndarray:
    """Sum of a value over the leaves below every node: (N,) to float64 (N,)."""
    return tree.sum_up(np.where(tree.is_leaf, values, 0.0)[:, None])[:, 0]


def _sums_over_leaves(tree: Tree, closed_at: np.ndarray, n_subtrees: int, values: np.ndarray) -> np.ndarray:
    """Sum of a value, (N,), over the leaves of every subtree of a path: float64 (S,).

    A node is a leaf from the step that closes it to the one that closes a node above: two entries each in a
    list of differences serve all subtrees at once.
    """
    gone_at = np.full(tree.n_nodes, n_subtrees)
    _walk_down(tree.parents(), closed_at, gone_at)
    from_step = np.where(tree.is_leaf, 0, closed_at)
    some = from_step < gone_at
    come = np.bincount(from_step[some], values[some], minlength=n_subtrees + 1)
    go = np.bincount(gone_at[some], values[some], minlength=n_subtrees + 1)
    return np.cumsum(come - go)[:n_subtrees]


@njit(cache=True)
def _walk_down(parents, closed_at, gone_at):
    for node in range(1, len(parents)):  # parents first
        gone_at[node] = min(gone_at[parents[node]], closed_at[parents[node]])


@njit(cache=True)
def _close_upwards(parents, is_leaf, wrong, tolerance, closed):
    """Fill ``closed`` and return the errors that are left."""
    least = np.zeros(len(parents))
    for node in range(len(parents) - 1, -1, -1):
        closed[node] = not is_leaf[node] and wrong[node] <= least[node] + tolerance
        if closed[node] or is_leaf[node]:
            least[node] = wrong[node]
        if node > 0:
            least[parents[node]] += least[node]
    return least[0]


@njit(cache=True)
def _closing_alphas(first_child, n_children, risk, counted, alpha):
    """Fill ``alpha`` with the strength of every node's link at the moment when it is the weakest.

    The steps below a node are known before its own: its children's, in one heap. Were all of them taken, the
    node would have only its children to close. Of these steps, those that are no weaker than its own link
    never come to pass, for closing the node takes them along: the strongest is added to the link until the
    strongest left is weaker. That is O(N log N) for trees of any depth, where looking for the weakest link
    step by step renews all links above each.

    ``risk`` float64 (N,) is R(t); ``counted`` int64 (N,) is 1 where a node counts as a leaf; ``alpha``
    float64 (N,) comes infinite, and stays so at leaves and where a node above is closed no later.
    """
    n_nodes = len(risk)
    left, right = np.full(n_nodes, NOBODY), np.full(n_nodes, NOBODY)
    added = np.zeros(n_nodes)  # by the step that closes the node: risk, and leaves saved
    saved = np.zeros(n_nodes, np.int64)
    for node in range(n_nodes - 1, -1, -1):
        if n_children[node] == 0:
            continue
        top = NOBODY
        added[node], saved[node] = risk[node], -counted[node]
        for child in range(first_child[node], first_child[node] + n_children[node]):
            added[node] -= risk[child]
            saved[node] += counted[child]
            if n_children[child] > 0:  # no step below a node is stronger than its own: it tops its heap
                top = _merged(top, child, alpha, left, right)
        while top != NOBODY and (saved[node] == 0 or added[node] / saved[node] <= alpha[top]):
            added[node] += added[top]
            saved[node] += saved[top]
            alpha[top] = np.inf
            top = _merged(left[top], right[top], alpha, left, right)
        alpha[node] = added[node] / saved[node] if saved[node] > 0 else 0.0
        left[node] = top


@njit(cache=True)
def _merged(a, b, key, left, right):
    """Top of two heaps made one, the largest key above: skew heaps, Sleator and Tarjan 1986."""
    top, last = NOBODY, NOBODY
    while a != NOBODY and b != NOBODY:
        if key[a] < key[b]:
            a, b = b, a
        if last == NOBODY:
            top = a
        else:
            left[last] = a
        last = a
        a = right[last]
        right[last] = left[last]
    if last == NOBODY:
        return max(a, b)
    left[last] = max(a, b)
    return top
