"""Naive twin of the mean share: one tree after another, by recursion."""

from __future__ import annotations


def mean_share(evidence, number, threshold, child, share, roots) -> float:
    """Mean of the shares at the leaves that the evidence reaches."""

    def leaf_share(node: int) -> float:
        if number[node] == -1:
            return float(share[node])
        goes_right = evidence[number[node]] > threshold[node]
        return leaf_share(int(child[node]) + int(goes_right))

    return sum(leaf_share(int(root)) for root in roots) / len(roots)
