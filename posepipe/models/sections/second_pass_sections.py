"""Parameters of the second pass as sections of a model file: all of them, or none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.models.sections.joint_sections import (
    joints_from_arrays,
    joints_to_arrays,
    refinement_from_arrays,
    refinement_to_arrays,
)
from posepipe.second_pass.relabelling import Relabelling
from posepipe.second_pass.second_pass_parameters import SecondPassParameters


def second_pass_to_arrays(parameters: SecondPassParameters | None) -> dict[str, dict[str, np.ndarray]]:
    """Convert the parameters to arrays by section and name; None becomes no sections."""
    if parameters is None:
        return {}
    relabelling, joints = parameters
    return {
        "relabelling": {"weights": relabelling.weights, "bias": relabelling.bias},
        "second_joints": joints_to_arrays(joints),
        "second_refinement": refinement_to_arrays(joints.refinement),
    }


def second_pass_from_arrays(
    sections: Mapping[str, Mapping[str, np.ndarray]], body: BodyDefinition
) -> SecondPassParameters | None:
    """Inverse of `second_pass_to_arrays`. Raises KeyError for a missing array, ValueError where shapes do not match."""
    own, joints = sections["relabelling"], sections["second_joints"]
    if not own and not joints and not sections["second_refinement"]:
        return None
    relabelling = Relabelling(own["weights"], own["bias"])
    relabelling.check(body)
    refinement = refinement_from_arrays(sections["second_refinement"])
    return SecondPassParameters(relabelling, joints_from_arrays(joints, "parts", refinement, body))
