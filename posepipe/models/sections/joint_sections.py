"""Joint parameters and refinement network as arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.joint_parameters import FUSION_TERMS, JointParameters, Refinement, n_inputs
from posepipe.landmarks import METHODS, landmarks_of

MAX_VARIANCE_M2 = 1e6
"""Maximum variance of a place: a standard deviation of a kilometre."""
ROUNDING = 1e-5
"""What a covariance in float32 may lack of symmetry and of variances from 0 up, a share of its largest variance."""
_JOINT_ARRAYS = tuple(name for name in JointParameters.__dataclass_fields__ if name not in ("method", "refinement"))


def joints_to_arrays(parameters: JointParameters) -> dict[str, np.ndarray]:
    """Convert joint parameters, without the refinement, to arrays."""
    return {name: getattr(parameters, name) for name in _JOINT_ARRAYS}


def joints_from_arrays(
    arrays: Mapping[str, np.ndarray], method: str, refinement: Refinement | None, body: BodyDefinition
) -> JointParameters:
    """Inverse of `joints_to_arrays`. Raises KeyError for a missing array, ValueError for arrays that do not match."""
    parameters = JointParameters(**{name: arrays[name] for name in _JOINT_ARRAYS}, method=method, refinement=refinement)
    _check_joint_parameters(parameters, body)
    return parameters


def refinement_to_arrays(refinement: Refinement | None) -> dict[str, np.ndarray]:
    """Convert the network to arrays, with weights in half precision; None becomes no arrays."""
    if refinement is None:
        return {}
    arrays = {
        "mean": refinement.input_mean,
        "deviation": refinement.input_deviation,
        "calibration": refinement.calibration,
        "fusion_weights": refinement.fusion_weights,
    }
    for k, (weight, bias) in enumerate(zip(refinement.weights, refinement.biases, strict=True)):
        arrays |= {f"weight_{k}": weight.astype(np.float16), f"bias_{k}": bias}
    return arrays


def refinement_from_arrays(arrays: Mapping[str, np.ndarray]) -> Refinement | None:
    """Inverse of `refinement_to_arrays`. Raises KeyError for a missing array."""
    if not arrays:
        return None
    layers = range(sum(name.startswith("weight_") for name in arrays))
    return Refinement(
        arrays["mean"],
        arrays["deviation"],
        tuple(arrays[f"weight_{k}"].astype(np.float32) for k in layers),
        tuple(arrays[f"bias_{k}"] for k in layers),
        arrays["calibration"],
        arrays["fusion_weights"],
    )


def _check_joint_parameters(parameters: JointParameters, body: BodyDefinition) -> None:
    if parameters.method not in METHODS:
        raise ValueError(f"joints must come from one of {', '.join(METHODS)}, got {parameters.method!r}")
    wanted = JointParameters.default(body, parameters.method)
    for name in _JOINT_ARRAYS:
        have = getattr(parameters, name)
        if have.shape != getattr(wanted, name).shape or have.dtype != np.float32 or not np.isfinite(have).all():
            raise ValueError(
                f"joint parameter {name} must be finite float32 {getattr(wanted, name).shape}"
                f" for {len(landmarks_of(body, parameters.method))} landmarks, got {have.dtype} {have.shape}"
            )
    if (parameters.bandwidth_m <= 0).any():
        raise ValueError("a bandwidth must be above 0")
    _check_covariance(parameters.covariance_m2.astype(np.float64))
    if parameters.refinement is not None:
        sizes = [n_inputs(body, parameters.method, moments) for moments in (True, False)]
        own = len(parameters.refinement.input_mean)
        _check_refinement(parameters.refinement, own if own in sizes else sizes[0], 4 * len(body.joints))


def _check_covariance(covariance_m2: np.ndarray) -> None:
    """Raise ValueError unless matrices (3, K, K) are covariances: by others, joints would be far away or NaN."""
    variances = np.diagonal(covariance_m2, axis1=1, axis2=2)
    if (variances < 0).any() or (variances > MAX_VARIANCE_M2).any():
        raise ValueError(f"a variance must lie between 0 and {MAX_VARIANCE_M2:g} square metres")
    rounding = ROUNDING * variances.max(initial=0)
    across = covariance_m2.transpose(0, 2, 1)
    if (np.abs(covariance_m2 - across) > rounding).any() or (np.linalg.eigvalsh(covariance_m2) < -rounding).any():
        raise ValueError("joint parameter covariance_m2 must be symmetric, with no negative variance anywhere")


def _check_refinement(refinement: Refinement, n_in: int, n_out: int) -> None:
    columns = [n_in, *(weight.shape[-1] for weight in refinement.weights)]
    wanted = {
        "mean": (refinement.input_mean, (n_in,)),
        "deviation": (refinement.input_deviation, (n_in,)),
        "calibration": (refinement.calibration, (n_out // 4, 2)),
        "fusion weights": (refinement.fusion_weights, (2, n_out // 4, FUSION_TERMS)),
        **{f"weight {k}": (w, (columns[k], columns[k + 1])) for k, w in enumerate(refinement.weights)},
        **{f"bias {k}": (b, (columns[k + 1],)) for k, b in enumerate(refinement.biases)},
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"refinement: {name} must be finite float32 {shape}, got {array.dtype} {array.shape}")
    if columns[-1] != n_out or len(columns) < 2:
        raise ValueError(f"refinement: wanted {n_out} outputs, got {columns[-1]}")
    if (refinement.input_deviation <= 0).any():
        raise ValueError("refinement: a deviation must be above 0")
