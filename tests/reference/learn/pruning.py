"""Naive twin of posepipe/learn/pruning.py: nested nodes, plain recursion, fractions instead of floats.

Whole counts give exact errors, risks and strengths, so that what ties on paper ties here; only entropy and
the root of a variance are floats.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

NEAR = 1e-9  #: strengths that differ by less are the same number


@dataclass(frozen=True)
class Node:
    """A node with whole counts of every class, or whole moments, and with all below it."""

    name: int
    training: tuple[int, ...]
    validation: tuple[int, ...] = ()
    children: tuple[Node, ...] = ()


def weight(node, criterion):
    return node.training[0] if criterion == "squared_error" else sum(node.training)


def impurity(node, criterion):
    total = weight(node, criterion)
    if total == 0:
        return Fraction(0)
    if criterion == "squared_error":
        return Fraction(node.training[2], total) - Fraction(node.training[1], total) ** 2
    shares = [Fraction(count, total) for count in node.training]
    if criterion == "gini":
        return 1 - sum(share * share for share in shares)
    if criterion == "misclassification":
        return 1 - max(shares)
    return sum(share * math.log2(1 / share) for share in shares if share > 0)


def nodes_of(node):
    """The node and all below it."""
    return [node] + [below for child in node.children for below in nodes_of(child)]


def leaves_of(node):
    """Leaves that training rows reach, which are the ones that count."""
    return [each for each in nodes_of(node) if not each.children and any(each.training)]


def inner_names(node):
    return {each.name for each in nodes_of(node) if each.children}


def risk(node, criterion, total):
    return impurity(node, criterion) * weight(node, criterion) / total


def tree_risk(node, criterion, total):
    return sum(risk(leaf, criterion, total) for leaf in leaves_of(node))


def strength(node, criterion, total):
    """alpha(t), from the definition; 0 where closing the node saves no leaf."""
    saved = len(leaves_of(node)) - 1
    return (risk(node, criterion, total) - tree_risk(node, criterion, total)) / saved if saved > 0 else 0


def close(node, names):
    """The tree with some nodes made leaves."""
    if node.name in names:
        return replace(node, children=())
    return replace(node, children=tuple(close(child, names) for child in node.children))


def cost_complexity_path(root, criterion):
    """Pairs of alpha and subtree: the weakest links are closed until only the root is left."""
    total = weight(root, criterion)

    def links_up_to(tree, alpha):
        inner = [node for node in nodes_of(tree) if node.children]
        return {node.name for node in inner if strength(node, criterion, total) <= alpha + NEAR}

    alpha, tree, path = 0, root, []
    while True:
        while names := links_up_to(tree, alpha):
            tree = close(tree, names)
        path.append((alpha, tree))
        if not tree.children:
            return path
        alpha = min(strength(node, criterion, total) for node in nodes_of(tree) if node.children)


def prunings(node):
    """Every tree that closing nodes can leave, the whole one among them."""
    if not node.children:
        return [node]
    kept = itertools.product(*[prunings(child) for child in node.children])
    return [replace(node, children=())] + [replace(node, children=children) for children in kept]


def training_errors(node):
    return sum(node.training) - max(node.training)


def pessimistic(node):
    """From the top: close the node, or else go on to its children."""
    as_leaf, subtree = corrected([node]), corrected(leaves_of(node))
    n = sum(node.training)
    if n == 0 or as_leaf <= subtree + math.sqrt(subtree * (n - subtree) / n):
        return replace(node, children=())
    return replace(node, children=tuple(pessimistic(child) for child in node.children))


def corrected(leaves):
    return sum(training_errors(leaf) + Fraction(1, 2) for leaf in leaves)


def validation_errors(node, criterion, above=None):
    """Errors that a tree makes on validation rows; a leaf without training rows says what the node above says."""
    says = node.training if weight(node, criterion) > 0 else above
    if node.children:
        return sum(validation_errors(child, criterion, says) for child in node.children)
    if criterion == "squared_error":
        count, total, squares = node.validation
        mean = Fraction(says[1], says[0])
        return squares - 2 * mean * total + mean * mean * count
    return sum(node.validation) - node.validation[says.index(max(says))]


def reduced_error(node, criterion, above=None):
    """From the bottom: close the node when as a leaf it makes no more errors."""
    if not node.children:
        return node
    says = node.training if weight(node, criterion) > 0 else above
    pruned = replace(node, children=tuple(reduced_error(child, criterion, says) for child in node.children))
    as_leaf = replace(node, children=())
    fewer = validation_errors(as_leaf, criterion, above) <= validation_errors(pruned, criterion, above)
    return as_leaf if fewer else pruned
