"""Kernels that compare poses with people."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.tracking.association import align_pose, log_size_ratio, measure_bones
from tests.kernels.kernel import Kernel
from tests.reference.tracking import association as naive_association


def _pose_and_memory(rng, size):
    """A pose of so many joints and the remembered pose of a person, each without some joints."""
    joints_m, offsets_m = rng.normal(0, 0.4, (2, size, 3)) + [[[0.4, -0.2, 2.5]], [[0, 0, 0]]]
    joints_m[rng.permutation(size)[: size // 4]] = np.nan
    offsets_m[rng.permutation(size)[: size // 4]] = np.nan
    lengths_m = rng.uniform(0.1, 0.5, size)
    lengths_m[rng.permutation(size)[: size // 4]] = np.nan
    counts = rng.integers(0, 5, size)
    return SimpleNamespace(
        joints_m=joints_m,
        confidence=rng.uniform(0, 1, size),
        offsets_m=offsets_m,
        bones=rng.integers(size, size=(size, 2)),
        lengths_m=lengths_m,
        sums_m=counts * rng.uniform(0.1, 0.5, size),
        counts=counts,
    )


def _marked(*outputs):
    """What is not known, NaN, as a number that nothing else is, so that both sides must say it of the same."""
    return tuple(np.nan_to_num(output, nan=-999.0) for output in outputs)


KERNELS = (
    Kernel(
        "align_pose",
        lambda i: _marked(*align_pose(i.joints_m, i.confidence, i.offsets_m)),
        lambda i: _marked(*naive_association.align_pose(i.joints_m, i.confidence, i.offsets_m)),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "measure_bones",
        lambda i: _marked(measure_bones(i.joints_m, i.bones)),
        lambda i: _marked(naive_association.measure_bones(i.joints_m, i.bones)),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "log_size_ratio",
        lambda i: log_size_ratio(i.lengths_m, i.sums_m, i.counts),
        lambda i: naive_association.log_size_ratio(i.lengths_m, i.sums_m, i.counts),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
)
