"""Kernels that score."""

from __future__ import annotations

from types import SimpleNamespace

from posepipe.evaluation.metrics.pose_metrics import average_precision
from tests.kernels.kernel import Kernel
from tests.reference.evaluation import pose_metrics as naive_pose_metrics


def _ranked(rng, size):
    right = rng.random(size) < 0.4
    return SimpleNamespace(
        proposals=[(float(c), bool(r)) for c, r in zip(rng.random(size), right, strict=True)],
        n_true=int(right.sum()) + 3,
    )


KERNELS = (
    Kernel(
        "average_precision",
        lambda i: average_precision(i.proposals, i.n_true),
        lambda i: naive_pose_metrics.average_precision(i.proposals, i.n_true),
        _ranked,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
)
