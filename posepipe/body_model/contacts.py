"""Which capsules of a body must not enter each other."""

from __future__ import annotations

import numpy as np

from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.kernels.capsules import nearest_shares


def contact_pairs(model: BodyModel) -> np.ndarray:
    """Pairs of capsules that are apart in the rest pose and not on neighbouring segments.

    Returns
    -------
    int64 (P, 2)
    """
    built, parents = model.build(np.zeros(model.n_coefficients)), model.parents
    starts_m = np.zeros((len(parents), 3))
    for segment, parent in enumerate(parents):
        starts_m[segment] = built.origins_m[segment] + (starts_m[parent] if parent >= 0 else 0.0)
    ends_m = built.capsule_ends_m + starts_m[model.capsule_segments][:, None]
    thickest_m = built.radii_m.max(axis=1)
    pairs = []
    for one, segment in enumerate(model.capsule_segments):
        for other, another in enumerate(model.capsule_segments[:one]):
            if segment == another or parents[segment] == another or parents[another] == segment:
                continue
            share, other_share = nearest_shares(ends_m, one, other)
            at = ends_m[one, 0] + share * (ends_m[one, 1] - ends_m[one, 0])
            other_at = ends_m[other, 0] + other_share * (ends_m[other, 1] - ends_m[other, 0])
            if np.linalg.norm(at - other_at) >= thickest_m[one] + thickest_m[other]:
                pairs.append((one, other))
    return np.array(pairs, np.int64).reshape(-1, 2)
