"""Kernels of posepipe/second_pass."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.parts import PartProbabilities
from posepipe.second_pass.relabelling import Relabelling, pool_terms, relabel
from tests.kernels.kernel import Kernel
from tests.reference.second_pass import relabelling as naive
from tests.support.toy_person import TOY


def _pixels(rng, size):
    """Pixels around a pose that lacks its last joint; of half of the parts the probability is exactly 0."""
    parts, joints = len(TOY.parts), len(TOY.joints)
    values = rng.dirichlet(np.ones(parts + 1), size).astype(np.float32)
    values[:, 1:] *= rng.random((size, parts)) < 0.5
    values[:, 0] = np.float32(1) - values[:, 1:].sum(axis=1)
    confidences = rng.random(joints).astype(np.float32)
    confidences[-1] = 0
    return SimpleNamespace(
        values=values,
        points_m=rng.normal([0, 0, 2.5], 0.4, (size, 3)).astype(np.float32),
        joints_m=rng.normal([0, 0, 2.5], 0.4, (joints, 3)).astype(np.float32),
        confidences=confidences,
        relabelling=Relabelling(
            rng.normal(0, 0.5, (parts + joints, parts)).astype(np.float32), rng.normal(0, 1, parts).astype(np.float32)
        ),
    )


def _relabelled(inputs):
    parts = PartProbabilities(np.zeros((len(inputs.values), 2), np.int32), inputs.values, (1, 1))
    return relabel(parts, inputs.points_m, inputs.joints_m, inputs.confidences, inputs.relabelling).probabilities


KERNELS = (
    Kernel(
        "pool_terms",
        lambda i: pool_terms(i.values, i.points_m, i.joints_m, i.confidences),
        lambda i: naive.pool_terms(i.values, i.points_m, i.joints_m, i.confidences),
        _pixels,
        size=300,
        tolerance=2e-6,
        reason="float32 logarithms up to 5",
    ),
    Kernel(
        "relabel",
        _relabelled,
        lambda i: naive.relabel(
            i.values, i.points_m, i.joints_m, i.confidences, i.relabelling.weights, i.relabelling.bias
        ),
        _pixels,
        size=300,
        tolerance=1e-5,
        reason="exponentials of float32 sums up to 20",
    ),
)
