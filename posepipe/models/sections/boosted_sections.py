"""Stages of boosted trees as arrays of a model file: the person classifier, that of regions, and the choice of
views.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_classifier import MIN_PROBABILITY, PersonClassifier
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.views.view_choice import ViewChoice

_BONE_M = 1e-6, 1e6  # min and max: beyond them, ratios of lengths overflow
_OF_TREES = {
    "number": np.int32,
    "threshold": np.float32,
    "child": np.int32,
    "value": np.float32,
    "roots": np.int32,
}


def classifier_to_arrays(classifier: PersonClassifier | None) -> dict[str, np.ndarray]:
    """Convert a classifier to arrays; None becomes no arrays."""
    if classifier is None:
        return {}
    arrays = {**_to_arrays(classifier.trees, classifier.lengths), "calibration": classifier.calibration}
    if classifier.min_probability != MIN_PROBABILITY:
        arrays["min_probability"] = np.array([classifier.min_probability], np.float32)
    return arrays


def classifier_from_arrays(arrays: Mapping[str, np.ndarray], body: BodyDefinition) -> PersonClassifier | None:
    """Inverse of `classifier_to_arrays`. Raises KeyError for a missing array, ValueError for arrays of other shapes."""
    if not arrays:
        return None
    lengths, trees = _from_arrays(arrays, body, "person classifier")
    calibration = _calibration_from(arrays, "person classifier")
    minimum = arrays.get("min_probability", np.array([MIN_PROBABILITY], np.float32))
    _check_numbers(minimum, np.float32, "minimum probability of the person classifier")
    if len(minimum) != 1:
        raise ValueError("the person classifier needs one minimum probability")
    return PersonClassifier(body, lengths, trees, calibration, round(float(minimum[0]), 6))


def region_classifier_to_arrays(classifier: RegionClassifier | None) -> dict[str, np.ndarray]:
    """Convert a classifier of regions to arrays; None becomes no arrays."""
    if classifier is None:
        return {}
    return {**_to_arrays(classifier.trees, classifier.lengths), "calibration": classifier.calibration}


def region_classifier_from_arrays(arrays: Mapping[str, np.ndarray], body: BodyDefinition) -> RegionClassifier | None:
    """Inverse of `region_classifier_to_arrays`; its errors are those of `classifier_from_arrays`."""
    if not arrays:
        return None
    lengths, trees = _from_arrays(arrays, body, "region classifier")
    return RegionClassifier(body, lengths, trees, _calibration_from(arrays, "region classifier"))


def view_choice_to_arrays(choice: ViewChoice | None) -> dict[str, np.ndarray]:
    """Convert a choice of views to arrays; None becomes no arrays."""
    return {} if choice is None else _to_arrays(choice.trees, choice.lengths)


def view_choice_from_arrays(arrays: Mapping[str, np.ndarray], body: BodyDefinition) -> ViewChoice | None:
    """Inverse of `view_choice_to_arrays`; its errors are those of `classifier_from_arrays`."""
    return ViewChoice(body, *_from_arrays(arrays, body, "choice of views")) if arrays else None


def _to_arrays(trees: BoostedTrees, lengths: BoneLengths) -> dict[str, np.ndarray]:
    arrays = {name: getattr(trees, name) for name in _OF_TREES}
    return {**arrays, "names": np.array(trees.names), "bone_m": lengths.median_m}


def _from_arrays(
    arrays: Mapping[str, np.ndarray], body: BodyDefinition, owner: str
) -> tuple[BoneLengths, BoostedTrees]:
    for name, dtype in {**_OF_TREES, "bone_m": np.float32}.items():
        _check_numbers(arrays[name], dtype, f"{name} of the {owner}")
    sizes = {len(arrays[name]) for name in ("number", "threshold", "child", "value")}
    bones = tuple(body.bones())
    if len(sizes) > 1 or len(arrays["bone_m"]) != len(bones):
        raise ValueError(f"arrays of the {owner} have sizes that do not match")
    shortest_m, longest_m = _BONE_M
    plausible = (arrays["bone_m"] > shortest_m) & (arrays["bone_m"] < longest_m)
    if not plausible.all() or arrays["names"].dtype.kind != "U" or arrays["names"].ndim != 1:
        raise ValueError(f"the {owner} needs bone lengths in metres, above 0, and the names of its evidence")
    names = tuple(map(str, arrays["names"]))
    return BoneLengths(bones, arrays["bone_m"]), BoostedTrees(names, **{name: arrays[name] for name in _OF_TREES})


def _calibration_from(arrays: Mapping[str, np.ndarray], owner: str) -> np.ndarray:
    calibration = arrays["calibration"]
    _check_numbers(calibration, np.float32, f"calibration of the {owner}")
    if len(calibration) != 2:
        raise ValueError(f"arrays of the {owner} have sizes that do not match")
    return calibration


def _check_numbers(array: np.ndarray, dtype: type, name: str) -> None:
    if array.dtype != dtype or array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite {np.dtype(dtype).name} (N,)")
