"""Fits the joint parameters of a classifier to labelled frames that its trees were not grown on.

A grid search finds bandwidth and probability threshold of each landmark. The push-back follows from the residuals
along the ray, and a logistic fit turns mass into confidence. A Gaussian over landmarks and joints becomes the pose
prior, and a network is trained to correct it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from posepipe.errors import counted
from posepipe.frames import LabelledFrame
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.joints.calibration import calibrate, fuse, fusion_terms, probability_within
from posepipe.joints.joint_parameters import JointParameters, Refinement
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.refinement import Evidence, Mirror, refine
from posepipe.parts import PartClassifier, PartProbabilities
from posepipe.segmentation.views.view import View
from posepipe.training.joints.fit_confidence import fit_calibration, fit_confidence, is_correct
from posepipe.training.joints.fit_gaussian import fit_gaussian
from posepipe.training.joints.fit_refinement import fit_fusion, train_refinement
from posepipe.training.joints.found_modes import FoundModes
from posepipe.training.joints.search_modes import OUTLIER_M, mode_scores, search_modes
from posepipe.training.joints.training_people import training_people

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
    people = training_people(stages, frames, on_frame, method, parts_of)
    searched = list(islice(people, SEARCH_PEOPLE))
    if not searched:
        raise ValueError("joint parameters need frames with people; these frames show none")
    who = counted(len(searched), "person", "people")
    if len(searched) < FEW_PEOPLE:
        warnings.warn(
            f"joint parameters from {who} will be poor; give some hundreds, better thousands",
            stacklevel=2,
        )
    parameters = search_modes(searched, classifier.body, method)
    fitted = ModeProposer(classifier.body, parameters)
    both = (FoundModes.of(searched, proposer) for proposer in (stages.proposer, fitted))
    before, after = (float(mode_scores(found.heaviest_m, found.landmarks_m).mean()) for found in both)
    on_search(before, after)
    if after <= 0:
        warnings.warn(
            f"no joint or part of {who} is found within 10 cm, so the model finds no joints; a joint"
            " that lies more than 14 cm below its surface is never visible: name no `parts` for it",
            stacklevel=2,
        )
    found = FoundModes.of(chain(searched, people), fitted)
    parameters = replace(parameters, confidence=fit_confidence(found))
    # a Gaussian is overconfident on the people it was fitted to: calibrate it on held-out people, then fit it to all
    enough, half = found.number < GAUSSIAN_PEOPLE, found.number % 2 == 0
    on_half = JointStages.of(classifier, _with_gaussian(parameters, found, enough & half))
    parameters = replace(parameters, calibration=_calibrate_gaussian(on_half, found, enough & ~half))
    parameters = _with_gaussian(parameters, found, enough)
    if found.number.max() + 1 < REFINEMENT_PEOPLE:
        return parameters
    stages = JointStages.of(classifier, parameters)
    return replace(parameters, refinement=_fit_refinement(stages, found, on_epoch))


def _with_gaussian(parameters: JointParameters, found: FoundModes, people: np.ndarray) -> JointParameters:
    """Fit mean and covariance to the right modes and true joints of some people, relative to their joints' centre."""
    top = found.modes_m[:, :, 0]
    with np.errstate(invalid="ignore"):
        right = (found.masses_m2[:, :, 0] > 0) & (np.linalg.norm(top - found.landmarks_m, axis=-1) < OUTLIER_M)
    places = np.where(right[..., None], top, np.nan)
    rows = np.concatenate([places, found.joints_m], axis=1) - found.joints_m.mean(axis=1, keepdims=True)
    mean, covariance = fit_gaussian(rows[people])
    return replace(parameters, mean_m=mean.astype(np.float32), covariance_m2=covariance.astype(np.float32))


def _calibrate_gaussian(stages: JointStages, found: FoundModes, people: np.ndarray) -> np.ndarray:
    """Logistic fit, for each joint, in the log-odds of the Gaussian: float32 (J, 2)."""
    known, evidence = _evidence(stages, found, np.flatnonzero(people))
    if evidence is None:  # no person is held out
        return stages.pose_estimator.parameters.calibration
    return fit_calibration(probability_within(evidence.sigma_m), evidence.joints_m, found.joints_m[known])


def _evidence(stages: JointStages, found: FoundModes, people: np.ndarray) -> tuple[np.ndarray, Evidence | None]:
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


def _fit_refinement(stages: JointStages, found: FoundModes, on_epoch: Callable[[], object]) -> Refinement | None:
    """Train a network, and calibrate it on held-out people; None when it does not improve them."""
    parameters, body = stages.pose_estimator.parameters, stages.classifier.body
    known, evidence = _evidence(stages, found, np.arange(len(found.number)))
    if evidence is None:
        return None
    truth_m, held_out = found.joints_m[known], found.number[known] % HELD_OUT == 0
    network = train_refinement(evidence[~held_out], truth_m[~held_out], np.random.default_rng(0), on_epoch)
    held, truth_m = evidence[held_out], truth_m[held_out]
    joints_m, share = refine(network, held, Mirror.of(body, parameters.method))
    calibration = fit_calibration(share, joints_m, truth_m)
    expected = held.joints_m, calibrate(probability_within(held.sigma_m), parameters.calibration)
    corrected = joints_m, calibrate(share, calibration)
    correct = [is_correct(model[0], truth_m) for model in (expected, corrected)]
    terms = fusion_terms(expected, corrected)
    weights = np.stack([fit_fusion(terms, own) for own in correct])
    network = replace(network, calibration=calibration, fusion_weights=weights)
    fused_m, _ = fuse(weights, expected, corrected)
    return network if is_correct(fused_m, truth_m).mean() > correct[0].mean() else None
