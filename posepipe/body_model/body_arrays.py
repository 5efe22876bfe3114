"""The arrays of a body model as kernels take them: of any build, or of one."""

from __future__ import annotations

import numpy as np

from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.contacts import contact_pairs
from posepipe.body_model.kernels.placement import BodyArrays


def body_arrays(model: BodyModel) -> BodyArrays:
    """Take the arrays of a model, and find the capsules that must not enter each other."""
    arrays = {name: np.ascontiguousarray(getattr(model, name)) for name in BodyArrays._fields if name != "pairs"}
    return BodyArrays(**arrays, pairs=contact_pairs(model))


def built_arrays(body: BodyArrays, coefficients: np.ndarray) -> BodyArrays:
    """Arrays of one build, without shape coefficients.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    coefficients : float (K,)
    """
    shape = np.concatenate([[1.0], coefficients])

    def of_build(array: np.ndarray) -> np.ndarray:
        return (shape @ array.reshape(len(array), -1)).reshape(1, *array.shape[1:])

    return body._replace(
        origins_m=of_build(body.origins_m),
        joints_m=of_build(body.joints_m),
        capsule_ends_m=of_build(body.capsule_ends_m),
        radii_m=of_build(body.radii_m),
    )
