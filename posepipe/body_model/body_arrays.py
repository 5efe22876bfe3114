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
