"""Learns the joint parameters of a forest from labelled frames that its trees never saw.

A grid search finds bandwidth and probability threshold of each landmark, the push-back follows from
the residuals along the ray, a logistic fit turns mass into confidence, and a Gaussian of landmarks
and joints is estimated for the inference of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.body import BodyDefinition
from posepipe.density import Density, weigh_points
from posepipe.frames import LabelledFrame
from posepipe.joint_parameters import JointParameters, landmark_classes, landmark_names
from posepipe.mean_shift import find_modes
from posepipe.parts import PartClassifier, PartProbabilities
from posepipe.proposals import push_back
from posepipe.results import RIGHT_M

BANDWIDTHS_M = (0.04, 0.065, 0.09, 0.12)
MIN_PROBABILITIES = (0.05, 0.14, 0.25)
OUTLIER_M = 0.2
"""Modes further off are mistakes, left to the confidence; the Gaussian describes the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class FittingSet:
    """The densities of many people, with the places where their landmarks and joints really are."""

    densities: list[Density]
    landmarks_m: np.ndarray  #: float64 (P, L, 3); NaN where a landmark shows no surface
    joints_m: np.ndarray  #: float64 (P, J, 3)


def collect(
    classifier: PartClassifier,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], None] = lambda: None,
) -> FittingSet:
    """Classify the people of labelled frames.

    A joint's landmark truly lies at the joint, when that is visible; a part's, at the mode of its
    true pixels. Raises ValueError when the frames show nobody.
    """
    body = classifier.body
    classes = landmark_classes(body)
    densities, landmarks, joints = [], [], []
    for frame in frames:
        on_frame()
        depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
        for person in range(1, len(frame.joints_m) + 1):
            mask = (frame.people == person) & (depth_m > 0)
            parts = classifier.predict(depth_m, mask, intrinsics)
            if len(parts.pixels) == 0:
                continue
            true_parts = _perfect(parts, frame.parts)
            densities.append(weigh_points(depth_m, intrinsics, parts, classes))
            truth = weigh_points(depth_m, intrinsics, true_parts, classes)
            landmarks.append(_true_landmarks(truth, frame.joints_m[person - 1], frame.visible[person - 1], body))
            joints.append(frame.joints_m[person - 1])
    if not densities:
        raise ValueError("joint parameters need frames with people; these frames show nobody")
    return FittingSet(densities, np.array(landmarks), np.array(joints, np.float64))


def _perfect(parts: PartProbabilities, truth: np.ndarray) -> PartProbabilities:
    labels = truth[parts.pixels[:, 0], parts.pixels[:, 1]]
    return replace(parts, values=np.eye(parts.values.shape[1], dtype=np.float32)[labels])


def _true_landmarks(truth: Density, joints_m: np.ndarray, visible: np.ndarray, body: BodyDefinition) -> np.ndarray:
    default = JointParameters.default(body)
    modes, masses = find_modes(
        truth.points_m, truth.probabilities, truth.area_m2, default.bandwidth_m, default.min_probability
    )
    places = np.where(masses[:, :1] > 0, modes[:, 0], np.nan).astype(np.float64)
    for row, name in enumerate(landmark_names(body)):
        if name in body.joints:
            joint = body.joint_index(name)
            places[row] = joints_m[joint] if visible[joint] else np.nan
    return places


def fit_joint_parameters(
    classifier: PartClassifier,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], None] = lambda: None,
) -> JointParameters:
    """Learn the joint parameters of a classifier.

    Parameters
    ----------
    classifier : PartClassifier
    frames : labelled frames, not those its trees were grown on; some hundreds will do
    on_frame : called at each frame, for a progress bar
    """
    data = collect(classifier, frames, on_frame)
    parameters = _search_modes(data, classifier.body)
    modes, masses = _all_modes(data, parameters)
    parameters = replace(parameters, confidence=_fit_confidence(modes, masses, data.landmarks_m))
    mean, covariance = _fit_gaussian(modes[:, :, 0], masses[:, :, 0], data)
    return replace(parameters, mean_m=mean, covariance_m2=covariance)


def _all_modes(data: FittingSet, parameters: JointParameters) -> tuple[np.ndarray, np.ndarray]:
    """Modes pushed back (P, L, M, 3) and their masses (P, L, M)."""
    found = [
        find_modes(d.points_m, d.probabilities, d.area_m2, parameters.bandwidth_m, parameters.min_probability)
        for d in data.densities
    ]
    modes = np.array([m for m, _ in found], np.float64)
    masses = np.array([m for _, m in found], np.float64)
    return push_back(modes, np.broadcast_to(parameters.push_back_m[:, None], masses.shape)), masses


def _search_modes(data: FittingSet, body: BodyDefinition) -> JointParameters:
    """Bandwidth, threshold and push-back with the most modes within 10 cm of the truth, per landmark."""
    names = landmark_names(body)
    is_joint = np.array([name in body.joints for name in names])
    default = replace(JointParameters.default(body), push_back_m=np.zeros(len(names), np.float32))
    best, best_score = default, np.full(len(names), -np.inf)
    for bandwidth, threshold in product(BANDWIDTHS_M, MIN_PROBABILITIES):
        trial = replace(
            default,
            bandwidth_m=np.full(len(names), bandwidth, np.float32),
            min_probability=np.full(len(names), threshold, np.float32),
        )
        modes, masses = _all_modes(data, trial)
        top = np.where(masses[:, :, :1] > 0, modes[:, :, 0], np.nan)
        pushed = np.where(is_joint, _best_push_back(top, data.landmarks_m), 0)
        score = _score(push_back(top, np.broadcast_to(pushed, top.shape[:2])), data.landmarks_m)
        better = score > best_score
        best_score = np.where(better, score, best_score)
        best = replace(
            best,
            bandwidth_m=np.where(better, trial.bandwidth_m, best.bandwidth_m),
            min_probability=np.where(better, trial.min_probability, best.min_probability),
            push_back_m=np.where(better, pushed, best.push_back_m).astype(np.float32),
        )
    return best


def _best_push_back(top_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Median residual along the ray of the modes that are no outliers: (L,), metres."""
    ray = top_m / np.linalg.norm(top_m, axis=-1, keepdims=True)
    residual = truth_m - top_m
    along = np.where(np.linalg.norm(residual, axis=-1) < OUTLIER_M, (residual * ray).sum(axis=-1), np.nan)
    return np.array([np.median(a[np.isfinite(a)]) if np.isfinite(a).any() else 0.0 for a in along.T])


def _score(top_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Share of true landmarks with a mode within 10 cm; the mean error breaks ties: (L,)."""
    error = np.where(np.isfinite(truth_m[..., 0]), np.linalg.norm(top_m - truth_m, axis=-1), np.nan)
    known = np.maximum(np.isfinite(truth_m[..., 0]).sum(axis=0), 1)
    right = error < RIGHT_M
    mean_error = np.where(right, error, 0).sum(axis=0) / np.maximum(right.sum(axis=0), 1)
    return right.sum(axis=0) / known - 1e-3 * mean_error


def _fit_confidence(modes: np.ndarray, masses: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Logistic in ln(mass) of the modes that lie within 10 cm of the truth: float32 (L, 2)."""
    out = np.zeros((masses.shape[1], 2), np.float32)
    with np.errstate(invalid="ignore"):
        right = np.linalg.norm(modes - truth_m[:, :, None], axis=-1) < RIGHT_M  # NaN truth: nothing is right
    for row in range(len(out)):
        exists = masses[:, row] > 0
        x, y = np.log(masses[:, row][exists]), right[:, row][exists]
        if y.any() and not y.all():
            fit = LogisticRegression(C=100).fit(x[:, None], y)
            out[row] = fit.intercept_[0], max(fit.coef_[0, 0], 0)
        else:  # nothing to learn from: the share itself, by Laplace's rule
            share = (y.sum() + 1) / (len(y) + 2)
            out[row] = np.log(share / (1 - share)), 0
    return out


def _fit_gaussian(top_m: np.ndarray, mass: np.ndarray, data: FittingSet) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance, per axis, of right modes and true joints about the joints' centre."""
    with np.errstate(invalid="ignore"):
        right = (mass > 0) & (np.linalg.norm(top_m - data.landmarks_m, axis=-1) < OUTLIER_M)
    places = np.where(right[..., None], top_m, np.nan)
    rows = np.concatenate([places, data.joints_m], axis=1) - data.joints_m.mean(axis=1, keepdims=True)
    fits = [_gaussian(rows[:, :, axis]) for axis in range(3)]
    return np.array([m for m, _ in fits], np.float32), np.array([c for _, c in fits], np.float32)


def _gaussian(rows: np.ndarray, floor_m: float = 0.005, steps: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian of rows (P, K) with missing values NaN, by expectation maximisation (Dempster et al. 1977)."""
    known = np.isfinite(rows)
    filled = np.where(known, rows, 0)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = filled.sum(axis=0) / counts
    covariance = np.diag((np.where(known, rows - mean, 0) ** 2).sum(axis=0) / counts + floor_m**2)
    for _ in range(steps):
        complete, extra = np.empty_like(rows), np.zeros_like(covariance)
        for p in range(len(rows)):
            k, u = known[p], ~known[p]
            complete[p] = filled[p]
            if u.any():
                gain = np.linalg.solve(covariance[np.ix_(k, k)], covariance[np.ix_(k, u)]).T
                complete[p, u] = mean[u] + gain @ (rows[p, k] - mean[k])
                extra[np.ix_(u, u)] += covariance[np.ix_(u, u)] - gain @ covariance[np.ix_(k, u)]
        mean = complete.mean(axis=0)
        centred = complete - mean
        covariance = (centred.T @ centred + extra) / len(rows) + np.eye(len(mean)) * floor_m**2
    return mean, covariance
