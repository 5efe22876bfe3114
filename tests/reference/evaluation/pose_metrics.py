"""Naive twin of `posepipe.evaluation.metrics.pose_metrics.average_precision`.

Everingham et al., IJCV 2010, recall by recall.
"""

from __future__ import annotations


def average_precision(proposals, n_true):
    """Area under the best precision at each recall or more."""
    if n_true == 0:
        return float("nan")
    ranked = sorted(proposals, key=lambda proposal: -proposal[0])
    curve, right = [], 0
    for rank, (_, is_right) in enumerate(ranked, start=1):
        right += is_right
        curve.append((right, right / rank))
    return sum(
        max((precision for found, precision in curve if found >= recall), default=0.0) / n_true
        for recall in range(1, n_true + 1)
    )
