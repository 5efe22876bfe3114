"""Naive twin of `posepipe.evaluation.metrics.pose_metrics.average_precision`.

Everingham et al., IJCV 2010, recall by recall.
"""

from __future__ import annotations


def average_precision(proposals, n_true):
    """Area under the best precision at each recall or more; a threshold of confidence is the only choice there is."""
    if n_true == 0:
        return float("nan")
    curve = []
    for threshold in {confidence for confidence, _ in proposals}:
        kept = [is_right for confidence, is_right in proposals if confidence >= threshold]
        curve.append((sum(kept), sum(kept) / len(kept)))
    return sum(
        max((precision for found, precision in curve if found >= recall), default=0.0) / n_true
        for recall in range(1, n_true + 1)
    )
