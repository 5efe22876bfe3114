"""Naive twin of the sum of leaves: one tree after another, by recursion."""

from __future__ import annotations


def sum_of_leaves(evidence, number, threshold, child, value, roots) -> float:
    """Sum of the values at the leaves that the evidence reaches."""

    def leaf_value(node: int) -> float:
        if number[node] == -1:
            return float(value[node])
        goes_right = evidence[number[node]] > threshold[node]
        return leaf_value(int(child[node]) + int(goes_right))

    return sum(leaf_value(int(root)) for root in roots)
