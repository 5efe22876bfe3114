"""Person classifier as arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import BoneLengths

_BONE_M = 1e-6, 1e6  # min and max: beyond them, ratios of lengths overflow
_ARRAYS = {
    "number": np.int32,
    "threshold": np.float32,
    "child": np.int32,
    "value": np.float32,
    "roots": np.int32,
    "calibration": np.float32,
}


def classifier_to_arrays(classifier: PersonClassifier | None) -> dict[str, np.ndarray]:
    """Convert a classifier to arrays; None becomes no arrays."""
    if classifier is None:
        return {}
    arrays = {name: getattr(classifier, name) for name in _ARRAYS}
    return {**arrays, "names": np.array(classifier.names), "bone_m": classifier.lengths.median_m}


def classifier_from_arrays(arrays: Mapping[str, np.ndarray], body: BodyDefinition) -> PersonClassifier | None:
    """Inverse of `classifier_to_arrays`. Raises KeyError for a missing array, ValueError for arrays of other shapes."""
    if not arrays:
        return None
    for name, dtype in {**_ARRAYS, "bone_m": np.float32}.items():
        if arrays[name].dtype != dtype or arrays[name].ndim != 1 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} of the person classifier must be finite {np.dtype(dtype).name} (N,)")
    sizes = {len(arrays[name]) for name in ("number", "threshold", "child", "value")}
    bones = tuple(body.bones())
    if len(sizes) > 1 or len(arrays["calibration"]) != 2 or len(arrays["bone_m"]) != len(bones):
        raise ValueError("arrays of the person classifier have sizes that do not match")
    shortest_m, longest_m = _BONE_M
    plausible = (arrays["bone_m"] > shortest_m) & (arrays["bone_m"] < longest_m)
    if not plausible.all() or arrays["names"].dtype.kind != "U" or arrays["names"].ndim != 1:
        raise ValueError("the person classifier needs bone lengths in metres, above 0, and the names of its evidence")
    return PersonClassifier(
        body=body,
        lengths=BoneLengths(bones, arrays["bone_m"]),
        names=tuple(map(str, arrays["names"])),
        **{name: arrays[name] for name in _ARRAYS},
    )
