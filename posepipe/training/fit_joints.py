"""Fits the joint parameters of a classifier to labelled frames that its trees were not grown on.

A grid search finds bandwidth and probability threshold of each landmark. The push-back follows from the residuals
along the ray, and a logistic fit turns mass into confidence. A Gaussian over landmarks and joints becomes the pose
prior, and a network is trained to correct it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.body import BodyDefinition, mirror_name
from posepipe.frames import LabelledFrame
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.joints.calibration import MIN_SHARE, calibrate, fuse, fusion_terms, share_within
from posepipe.joints.joint_parameters import JointParameters, Refinement
from posepipe.joints.modes.mean_shift import find_modes
from posepipe.joints.modes.push_back import push_back
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.refinement import MOMENTS_ACROSS, Evidence, Mirror, refine
from posepipe.joints.weighted_points import WeightedPoints
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.parts import PartClassifier, PartProbabilities
from posepipe.results import CORRECT_M
from posepipe.segmentation.rotated_views import View
from posepipe.training.fit_gaussian import fit_gaussian
from posepipe.training.fit_refinement import fit_fusion, train_refinement

BANDWIDTHS_M = (0.04, 0.065, 0.09, 0.12)
MIN_PROBABILITIES = (0.05, 0.14, 0.25)
SEARCH_PEOPLE = 400
"""Number of people of the grid search; their points are held in memory, about 0.6 MB each."""
FEW_PEOPLE = 100
"""Number of people below which a warning is given: the Gaussian over 48 places would fit chance correlations."""
GAUSSIAN_PEOPLE = 6000
"""Maximum number of people the Gaussian is fitted to; more do not improve it."""
REFINEMENT_PEOPLE = 2000
"""Minimum number of people for training a network; it would overfit fewer."""
HELD_OUT = 10
"""Every tenth person is held out: the network is calibrated on them, and dropped if it does not improve them."""
OUTLIER_M = 0.2
"""Distance from the truth above which a mode is an outlier; the Gaussian is fitted to the others."""


@dataclass(frozen=True, slots=True, eq=False)
class _Person:
    """The weighted points of one person, with true landmarks and joints."""

    points: WeightedPoints
    landmarks_m: np.ndarray  #: float64 (L, 3), metres; NaN where a landmark has no visible surface
    joints_m: np.ndarray  #: float64 (J, 3)


@dataclass(frozen=True, slots=True, eq=False)
class _Modes:
    """Modes of P people after push-back, and the truth; one half are mirror images of the other."""

    modes_m: np.ndarray  #: float64 (P, L, M, 3)
    masses_m2: np.ndarray  #: float64 (P, L, M)
    landmarks_m: np.ndarray  #: float64 (P, L, 3), NaN where a landmark has no visible surface
    joints_m: np.ndarray  #: float64 (P, J, 3)
    moments: np.ndarray  #: float64 (P, K, N_MOMENTS), of the parts


def fit_joint_parameters(
    classifier: PartClassifier,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    method: str = "parts",
    on_epoch: Callable[[], object] = lambda: None,
    on_search: Callable[[float, float], object] = lambda before, after: None,
    parts_of: Callable[[View], PartProbabilities] | None = None,
) -> JointParameters:
    """Fit the joint parameters of a classifier.

    Parameters
    ----------
    classifier : PartClassifier
    frames : labelled frames, other than those its trees were grown on. The grid search uses the first SEARCH_PEOPLE
        people; the Gaussian gains from some thousands, the network from some ten thousands
    on_frame : called after each frame
    method : one of METHODS; other than "parts" needs a classifier with votes
    on_epoch : called after each epoch of network training
    on_search : called after the grid search with its score for untrained and for fitted parameters. The score is the
        mean over landmarks of the share whose heaviest mode lies within 10 cm
    parts_of : the parts of a person, from which modes are found; None = those of the classifier

    Returns
    -------
    JointParameters

    Raises
    ------
    ValueError
        When the frames show no person, or the method needs votes that the classifier does not have.
    """
    stages = JointStages.of(classifier, JointParameters.default(classifier.body, method))
    people = _people(stages, frames, on_frame, method, parts_of)
    searched = list(islice(people, SEARCH_PEOPLE))
    if not searched:
        raise ValueError("joint parameters need frames with people; these frames show none")
    if len(searched) < FEW_PEOPLE:
        warnings.warn(
            f"joint parameters from {len(searched)} people will be poor; give some hundreds, better thousands",
            stacklevel=2,
        )
    parameters = _search_modes(searched, classifier.body, method)
    fitted = ModeProposer(classifier.body, parameters)
    both = (_find_all(searched, proposer) for proposer in (stages.proposer, fitted))
    on_search(*(float(_score(_heaviest(found), found.landmarks_m).mean()) for found in both))
    found = _find_all(chain(searched, people), fitted)
    parameters = replace(parameters, confidence=_fit_confidence(found))
    # a Gaussian is overconfident on the people it was fitted to: calibrate it on held-out people, then fit it to all
    number = np.arange(len(found.joints_m)) % (len(found.joints_m) // 2)  # a person and their mirror image share it
    enough, half = number < GAUSSIAN_PEOPLE, number % 2 == 0
    on_half = JointStages.of(classifier, _with_gaussian(parameters, found, enough & half))
    parameters = replace(parameters, calibration=_fit_calibration(on_half, found, enough & ~half))
    parameters = _with_gaussian(parameters, found, enough)
    if number.max() + 1 < REFINEMENT_PEOPLE:
        return parameters
    stages = JointStages.of(classifier, parameters)
    return replace(parameters, refinement=_fit_refinement(stages, found, number, on_epoch))


def _people(
    stages: JointStages,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object],
    method: str,
    parts_of: Callable[[View], PartProbabilities] | None,
) -> Iterator[_Person]:
    """Weighted points of each person in labelled frames, and the truth.

    The true place of a joint's surface is the joint, if visible; that of a part is the mode of its true pixels. The
    true place of a voted joint is the joint, visible or not.
    """
    body = stages.classifier.body
    for frame in frames:
        depth_m = frame.depth.depth_m
        for person in range(1, len(frame.joints_m) + 1):
            view = View(depth_m, (frame.people == person) & (depth_m > 0), frame.depth.intrinsics)
            found = PoseInference(stages, view, None if parts_of is None else parts_of(view))
            if len(found.parts.pixels):
                truth = PoseInference(stages, view, _with_true_labels(found.parts, frame.parts)).points
                joints_m = frame.joints_m[person - 1]
                yield _Person(
                    found.points,
                    _true_landmarks(truth, joints_m, frame.visible[person - 1], body, method),
                    joints_m.astype(np.float64),
                )
        on_frame()


def _with_true_labels(parts: PartProbabilities, truth: np.ndarray) -> PartProbabilities:
    labels = truth[parts.pixels[:, 0], parts.pixels[:, 1]]
    return replace(parts, values=np.eye(parts.values.shape[1], dtype=np.float32)[labels], cast_votes=None)


def _true_landmarks(
    truth: WeightedPoints, joints_m: np.ndarray, visible: np.ndarray, body: BodyDefinition, method: str
) -> np.ndarray:
    default = JointParameters.default(body)
    modes, masses = find_modes(
        truth.points_m, truth.probabilities, truth.area_m2, default.bandwidth_m, default.min_probability
    )
    places = []
    for row, (name, voted) in enumerate(landmarks_of(body, method)):
        if name in body.joints:
            joint = body.joint_index(name)
            places.append(joints_m[joint] if voted or visible[joint] else np.full(3, np.nan))
        else:  # surfaces come first in every method
            places.append(modes[row, 0] if masses[row, 0] > 0 else np.full(3, np.nan))
    return np.array(places, np.float64)


def _find_all(people: Iterable[_Person], proposer: ModeProposer) -> _Modes:
    """Find the modes of all people and of their mirror images, without keeping their points."""
    rows = [
        (*proposer.modes(each.points), each.landmarks_m, each.joints_m, proposer.moments(each.points))
        for each in people
    ]
    found = _Modes(*(np.array(column, np.float64) for column in zip(*rows, strict=True)))
    return _with_mirror_images(found, proposer.body, proposer.parameters.method)


def _with_mirror_images(found: _Modes, body: BodyDefinition, method: str) -> _Modes:
    """Add the mirror images of all people, so that left and right get the same parameters."""
    landmarks = landmarks_of(body, method)
    swap = [landmarks.index(Landmark(mirror_name(name), voted)) for name, voted in landmarks]
    across, parts = np.array([-1.0, 1.0, 1.0]), body.mirrored_classes()[1:] - 1
    return _Modes(
        np.concatenate([found.modes_m, found.modes_m[:, swap] * across]),
        np.concatenate([found.masses_m2, found.masses_m2[:, swap]]),
        np.concatenate([found.landmarks_m, found.landmarks_m[:, swap] * across]),
        np.concatenate([found.joints_m, found.joints_m[:, body.mirrored_joints()] * across]),
        np.concatenate([found.moments, found.moments[:, parts] * MOMENTS_ACROSS]),
    )


def _search_modes(people: Sequence[_Person], body: BodyDefinition, method: str) -> JointParameters:
    """Search bandwidth, threshold and push-back with the maximum score for each landmark."""
    names = [name for name, _ in landmarks_of(body, method)]
    is_joint = np.array([name in body.joints for name in names])
    default = replace(JointParameters.default(body, method), push_back_m=np.zeros(len(names), np.float32))
    best, best_score = default, np.full(len(names), -np.inf)
    for bandwidth, threshold in product(BANDWIDTHS_M, MIN_PROBABILITIES):
        trial = replace(
            default,
            bandwidth_m=np.full(len(names), bandwidth, np.float32),
            min_probability=np.full(len(names), threshold, np.float32),
        )
        found = _find_all(people, ModeProposer(body, trial))
        top = _heaviest(found)
        pushed = np.where(is_joint, _best_push_back(top, found.landmarks_m), 0)
        score = _score(push_back(top, pushed), found.landmarks_m)
        better = score > best_score
        best_score = np.where(better, score, best_score)
        best = replace(
            best,
            bandwidth_m=np.where(better, trial.bandwidth_m, best.bandwidth_m),
            min_probability=np.where(better, trial.min_probability, best.min_probability),
            push_back_m=np.where(better, pushed, best.push_back_m).astype(np.float32),
        )
    return best


def _heaviest(found: _Modes) -> np.ndarray:
    """Heaviest mode of each landmark: float64 (P, L, 3); NaN where there is none."""
    return np.where(found.masses_m2[:, :, :1] > 0, found.modes_m[:, :, 0], np.nan)


def _best_push_back(top_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Median residual along the ray, without outliers: (L,), metres."""
    ray = top_m / np.linalg.norm(top_m, axis=-1, keepdims=True)
    residual = truth_m - top_m
    along = np.where(np.linalg.norm(residual, axis=-1) < OUTLIER_M, (residual * ray).sum(axis=-1), np.nan)
    return np.array([np.median(a[np.isfinite(a)]) if np.isfinite(a).any() else 0.0 for a in along.T])


def _score(top_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Share of true landmarks with a mode within 10 cm; the mean error breaks ties: (L,)."""
    error = np.where(np.isfinite(truth_m[..., 0]), np.linalg.norm(top_m - truth_m, axis=-1), np.nan)
    known = np.maximum(np.isfinite(truth_m[..., 0]).sum(axis=0), 1)
    right = error < CORRECT_M
    mean_error = np.where(right, error, 0).sum(axis=0) / np.maximum(right.sum(axis=0), 1)
    return right.sum(axis=0) / known - 1e-3 * mean_error


def _fit_confidence(found: _Modes) -> np.ndarray:
    """Logistic fit, in ln(mass), of whether a mode lies within 10 cm of the truth: float32 (L, 2)."""
    with np.errstate(invalid="ignore"):
        # False where the truth is NaN
        right = np.linalg.norm(found.modes_m - found.landmarks_m[:, :, None], axis=-1) < CORRECT_M
    return np.array(
        [_logistic(np.log(m[m > 0]), r[m > 0]) for m, r in _by_landmark(found.masses_m2, right)],
        np.float32,
    )


def _by_landmark(*arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Columns of (P, L, ...) arrays, landmark by landmark."""
    yield from zip(*(np.moveaxis(a, 1, 0) for a in arrays), strict=True)


def _with_gaussian(parameters: JointParameters, found: _Modes, people: np.ndarray) -> JointParameters:
    """Fit mean and covariance to the right modes and true joints of some people, relative to their joints' centre."""
    top = found.modes_m[:, :, 0]
    with np.errstate(invalid="ignore"):
        right = (found.masses_m2[:, :, 0] > 0) & (np.linalg.norm(top - found.landmarks_m, axis=-1) < OUTLIER_M)
    places = np.where(right[..., None], top, np.nan)
    rows = np.concatenate([places, found.joints_m], axis=1) - found.joints_m.mean(axis=1, keepdims=True)
    mean, covariance = fit_gaussian(rows[people])
    return replace(parameters, mean_m=mean.astype(np.float32), covariance_m2=covariance.astype(np.float32))


def _fit_calibration(stages: JointStages, found: _Modes, people: np.ndarray) -> np.ndarray:
    """Logistic fit, for each joint, in the log-odds of the Gaussian: float32 (J, 2)."""
    known, evidence = _evidence(stages, found, np.flatnonzero(people))
    if evidence is None:  # no person is held out
        return stages.pose_estimator.parameters.calibration
    return _calibration(share_within(evidence.sigma_m), evidence.joints_m, found.joints_m[known])


def _calibration(share: np.ndarray, joints_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Logistic fit, for each joint, of whether it is right, in the log-odds that a model states: float32 (J, 2)."""
    share = np.clip(share, MIN_SHARE, 1 - MIN_SHARE)
    log_odds = np.log(share / (1 - share))
    return np.array(
        [_logistic(x, y) for x, y in zip(log_odds.T, _is_correct(joints_m, truth_m).T, strict=True)], np.float32
    )


def _is_correct(joints_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    return np.linalg.norm(joints_m - truth_m, axis=-1) < CORRECT_M


def _evidence(stages: JointStages, found: _Modes, people: np.ndarray) -> tuple[np.ndarray, Evidence | None]:
    """Evidence of some people before refinement; people without any mode are left out.

    Returns the rows of the others, int64 (K,), and their evidence, or None for no people.
    """
    known, rows = [], []
    for p in people:
        if (found.masses_m2[p] > 0).any():
            known.append(p)
            proposals = stages.proposer.propose(found.modes_m[p], found.masses_m2[p], found.moments[p])
            rows.append(PoseInference(stages, proposals=proposals).evidence)
    return np.array(known, np.int64), Evidence.join(rows) if rows else None


def _fit_refinement(
    stages: JointStages, found: _Modes, number: np.ndarray, on_epoch: Callable[[], object]
) -> Refinement | None:
    """Train a network, and calibrate it on held-out people; None when it does not improve them.

    A person and their mirror image share a ``number``, int (P,).
    """
    parameters, body = stages.pose_estimator.parameters, stages.classifier.body
    known, evidence = _evidence(stages, found, np.arange(len(number)))
    if evidence is None:
        return None
    truth_m, held_out = found.joints_m[known], number[known] % HELD_OUT == 0
    network = train_refinement(evidence[~held_out], truth_m[~held_out], np.random.default_rng(0), on_epoch)
    held, truth_m = evidence[held_out], truth_m[held_out]
    joints_m, share = refine(network, held, Mirror.of(body, parameters.method))
    calibration = _calibration(share, joints_m, truth_m)
    expected = held.joints_m, calibrate(share_within(held.sigma_m), parameters.calibration)
    corrected = joints_m, calibrate(share, calibration)
    correct = [_is_correct(model[0], truth_m) for model in (expected, corrected)]
    terms = fusion_terms(expected, corrected)
    weights = np.stack([fit_fusion(terms, own) for own in correct])
    network = replace(network, calibration=calibration, fusion_weights=weights)
    fused_m, _ = fuse(weights, expected, corrected)
    return network if _is_correct(fused_m, truth_m).mean() > correct[0].mean() else None


def _logistic(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Offset and slope of the log-odds of ``y`` against ``x``; the slope is never negative."""
    if y.any() and not y.all():
        fit = LogisticRegression(C=100, solver="newton-cholesky").fit(x[:, None], y)
        if fit.coef_[0, 0] > 0:
            return float(fit.intercept_[0]), float(fit.coef_[0, 0])
    share = (y.sum() + 1) / (len(y) + 2)  # a single class: its share, by Laplace's rule
    return float(np.log(share / (1 - share))), 0.0
