"""Naive twin of posepipe/learn/tables/splitting/descent.py.

One row at a time, with its weight divided among branches where a cell is missing.

Quinlan 1993, section 3.2. A tree is given as the arrays of `posepipe.learn.tree.Tree`, a row as a list of cells,
None where one is missing.
"""

from __future__ import annotations

from tests.reference.tables.column_scan import NUMERIC, ONE_VS_REST, combine

LEAF = -1


def children_of(tree, node):
    first = int(tree.first_child[node])
    return list(range(first, first + int(tree.n_children[node]))) if tree.feature[node] != LEAF else []


def statistics(tree, node):
    """Statistics of a node: the sum over its leaves."""
    if tree.feature[node] == LEAF:
        return tree.leaf_statistics[tree.first_child[node]].tolist()
    below = [statistics(tree, child) for child in children_of(tree, node)]
    return [sum(of_class) for of_class in zip(*below, strict=True)]


def training_weight(tree, node, moments):
    own = statistics(tree, node)
    return own[0] if moments else sum(own)


def branch(tree, node, kinds, combinations, row):
    """Branch of a row at a node, None where it is unknown."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    if feature >= len(kinds):
        kind, cell = NUMERIC, combine(combinations[feature - len(kinds)], [[own] for own in row])[0]
    else:
        kind, cell = kinds[feature], row[feature]
    if cell is None:
        return None
    if kind == NUMERIC:
        return int(cell > threshold)
    if kind == ONE_VS_REST:
        return int(cell != threshold)
    return int(cell) if cell < tree.n_children[node] else None


def shares(tree, kinds, combinations, row, moments, missing, node=0, share=1.0):
    """Map each node on the path of a row to the share of the row that passes it."""
    passed = {node: share}
    below = children_of(tree, node)
    if not below:
        return passed
    taken = branch(tree, node, kinds, combinations, row)
    weights = [training_weight(tree, child, moments) for child in below]
    if taken is not None:
        parts = [float(k == taken) for k in range(len(below))]
    elif missing == "most_common":
        parts = [float(k == weights.index(max(weights))) for k in range(len(below))]
    else:
        parts = [weight / sum(weights) for weight in weights]
    for child, part in zip(below, parts, strict=True):
        if part > 0:
            passed |= shares(tree, kinds, combinations, row, moments, missing, child, share * part)
    return passed


def value(tree, node, moments):
    """Prediction of a node, class shares or a mean; without training rows, that of its parent."""
    own = statistics(tree, node)
    weight = own[0] if moments else sum(own)
    if weight == 0:
        return value(tree, parent(tree, node), moments)
    return [own[1] / weight] if moments else [of_class / weight for of_class in own]


def parent(tree, node):
    return next(above for above in range(node) if node in children_of(tree, above))


def prediction(tree, kinds, combinations, row, moments, missing):
    """Mean prediction of the leaves that a row reaches, weighted by its shares."""
    passed = shares(tree, kinds, combinations, row, moments, missing)
    leaves = [(share, value(tree, node, moments)) for node, share in passed.items() if tree.feature[node] == LEAF]
    return [sum(share * own[k] for share, own in leaves) for k in range(len(leaves[0][1]))]


def leaf(tree, kinds, combinations, row, moments):
    """Leaf of a row that takes the branch of maximum weight where a cell is missing."""
    return max(shares(tree, kinds, combinations, row, moments, "most_common"))


def passed(tree, kinds, combinations, rows, targets, moments):
    """Statistics of other rows in every node that they pass, with each row undivided."""
    found = [[0.0] * tree.leaf_statistics.shape[1] for _ in range(len(tree.feature))]
    for row, target in zip(rows, targets, strict=True):
        for node in shares(tree, kinds, combinations, row, moments, "most_common"):
            if moments:
                found[node] = [a + b for a, b in zip(found[node], (1, target, target**2), strict=True)]
            else:
                found[node][int(target)] += 1
    return found
