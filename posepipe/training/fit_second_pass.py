"""Fits the second pass of a model: relabelling weights by the first poses of labelled frames, then joint parameters."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.inference.second_pass import joint_arrays
from posepipe.joints.pose_search import PoseSearch, Starts
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.second_pass.relabelling import Relabelling, pool_terms, relabel
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.segmentation.views.view import View
from posepipe.training.check_frames import check_people
from posepipe.training.joints.fit_joints import fit_joint_parameters
from posepipe.training.origin import origin_of
from posepipe.training.train_model import TrainingCallbacks

RELABELLING_PEOPLE = 3000
"""Number of people, at most, that the relabelling is fitted to; its weights are few."""
PIXELS = 25
"""Number of pixels of each; their mirror images count as well."""
MIN_DEVIATION = 0.05
"""Minimum standard deviation used to scale a term: one that is constant in training may vary in use."""
ITERATIONS = 1000
"""Maximum number of iterations of the fit of the weights."""
UNSEEN = -100.0
"""Bias of a part that no pixel shows."""


def refit_second_pass(
    model: PoseModel, frames: FrameSequence, callbacks: TrainingCallbacks | None = None, command: str = ""
) -> PoseModel:
    """Fit the second pass of a model; all else of it stays.

    Parameters
    ----------
    model : PoseModel, with the joint parameters that will be used
    frames : labelled frames, other than those of its trees and of its joint parameters
    callbacks : TrainingCallbacks; None = no reports
    command : command line of the training, for the metadata

    Returns
    -------
    PoseModel, without the figures of the earlier model

    Raises
    ------
    ValueError
        When the frames show another body, no person whose pose the first pass finds, or fewer than two parts.
    """
    if frames.body != model.body:
        raise ValueError(f"a model of {model.body.name!r} needs frames of the same body, got {frames.body.name!r}")
    check_people(frames, "a second pass")
    callbacks = callbacks or TrainingCallbacks()
    about = origin_of(frames, command)
    started = time.monotonic()
    first = FirstPoses(model)
    classifier = first.stages.classifier
    relabelling = fit_relabelling(first, frames, callbacks.on_relabelled)

    def parts_of(view: View) -> PartProbabilities:
        seen = first.infer(view)
        if seen.pose is None:
            return seen.parts
        joints = joint_arrays(first.pose(seen), model.body)
        return relabel(seen.parts, seen.points.points_m, *joints, relabelling)

    parameters = fit_joint_parameters(
        classifier, frames, callbacks.on_joint_frame, "parts", callbacks.on_epoch, callbacks.on_search, parts_of
    )
    about["seconds"] = round(time.monotonic() - started, 1)
    return replace(model, second_pass=SecondPassParameters(relabelling, parameters)).with_metadata(
        figures=None, second_pass=about
    )


class FirstPoses:
    """The first pass of a model in the unrotated image, with the search for the best choice of proposals."""

    def __init__(self, model: PoseModel) -> None:
        self.stages = JointStages.of(model.classifier(), model.joint_parameters)
        self._search = PoseSearch(Starts.of(model.body, model.joint_parameters.method))

    def infer(self, view: View) -> PoseInference:
        """The first pass in one view."""
        return PoseInference(self.stages, view)

    def pose(self, seen: PoseInference) -> Pose:
        """Its pose after the search."""
        assert seen.pose is not None
        return self._search.search(self.stages.pose_estimator, seen.proposals, seen.pose)


def fit_relabelling(
    first: FirstPoses, frames: Iterable[LabelledFrame], on_person: Callable[[], object] = lambda: None
) -> Relabelling:
    """Fit the relabelling to pixels of people whose first pose is known.

    Parameters
    ----------
    first : FirstPoses
    frames : labelled frames; RELABELLING_PEOPLE people are used at most
    on_person : called after each of them

    Returns
    -------
    Relabelling, the same for left and right

    Raises
    ------
    ValueError
        When the first pass finds no pose, or the people who have one show fewer than two parts.
    """
    body = first.stages.classifier.body
    mirrored, columns = body.mirrored_classes(), _mirrored_terms(body)
    terms: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    for own, truth in islice(_labelled_terms(first, frames, body), RELABELLING_PEOPLE):
        terms += [own, own[:, columns]]
        labels += [truth, mirrored[truth]]
        on_person()
    if not terms:
        raise ValueError("a second pass is fitted to people whose pose the first finds; in these frames it finds none")
    known = np.concatenate(labels)
    if len(np.unique(known)) < 2:
        raise ValueError("a second pass tells parts of a body apart, and these frames show fewer than two")
    every = np.concatenate(terms).astype(np.float64)
    mean, scale = every.mean(axis=0), np.maximum(every.std(axis=0), MIN_DEVIATION)
    with threadpool_limits(1), warnings.catch_warnings():  # sums in one order, whatever the number of threads
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = LogisticRegression(max_iter=ITERATIONS).fit((every - mean) / scale, known)
    weights, bias = _of_all_parts(fit, body)
    weights /= scale[:, None]
    bias -= mean @ weights
    parts = mirrored[1:] - 1  # both sides were fitted to the same pixels, and differ by rounding
    weights, bias = (weights + weights[columns][:, parts]) / 2, (bias + bias[parts]) / 2
    return Relabelling(weights.astype(np.float32), bias.astype(np.float32))


def _labelled_terms(
    first: FirstPoses, frames: Iterable[LabelledFrame], body: BodyDefinition
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Terms (N, K + J) of some pixels of each person who is found, and their true parts, (N,)."""
    rng = np.random.default_rng(0)
    for frame in frames:
        for person in range(1, len(frame.joints_m) + 1):
            mask = (frame.people == person) & (frame.depth.depth_m > 0)
            seen = first.infer(View(frame.depth.depth_m, mask, frame.depth.intrinsics))
            if not mask.any() or seen.pose is None:
                continue
            truth = frame.parts[tuple(seen.parts.pixels.T)]
            rows = rng.permutation(np.flatnonzero(truth))[:PIXELS]
            joints_m, confidences = joint_arrays(first.pose(seen), body)
            yield (
                pool_terms(seen.parts.probabilities[rows], seen.points.points_m[rows], joints_m, confidences),
                truth[rows],
            )


def _mirrored_terms(body: BodyDefinition) -> np.ndarray:
    """Row of each term's mirror image: int (K + J,)."""
    return np.concatenate([body.mirrored_classes()[1:] - 1, len(body.parts) + body.mirrored_joints()])


def _of_all_parts(fit: LogisticRegression, body: BodyDefinition) -> tuple[np.ndarray, np.ndarray]:
    """Weights (K + J, K) and bias (K,) of a fit that may lack parts; these are never the most probable."""
    coefficients, intercepts = fit.coef_, fit.intercept_
    if len(coefficients) == 1:  # two classes share one row
        coefficients, intercepts = np.vstack([-coefficients, coefficients]) / 2, np.array([-1, 1]) * intercepts / 2
    weights, bias = np.zeros((coefficients.shape[1], len(body.parts))), np.full(len(body.parts), UNSEEN)
    columns = fit.classes_ - 1
    weights[:, columns], bias[columns] = coefficients.T, intercepts
    return weights, bias
