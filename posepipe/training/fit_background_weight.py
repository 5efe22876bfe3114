"""Weighs class 0, "not a person", so that it is as probable in candidates of people as it is frequent there.

Trees are grown on all candidates of rooms, most of which are furniture: of people they would take too much for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from posepipe.camera import Intrinsics
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import counted
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.packed_forest import WHOLE
from posepipe.models.change_model import weigh_background
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.training.check_frames import ROOMS, check_rooms
from posepipe.training.origin import origin_of
from posepipe.training.true_filter import PERSON_SHARE, TrueFilter, judge_by_truth

MAX_FRAMES = 2000
"""Frames that are looked at, evenly spaced."""
BINS = 4096
"""Of the probability of class 0."""
WEIGHTS = (1e-3, 1e3)
"""Minimum and maximum weight."""


def refit_background_weight(
    model: PoseModel, frames: FrameSequence, command: str = "", on_frame: Callable[[], object] = lambda: None
) -> PoseModel:
    """Weigh class 0 of a model by its candidates of people.

    Parameters
    ----------
    model : PoseModel, with the segmentation that will be used
    frames : labelled whole frames, of which at most MAX_FRAMES are looked at
    command : command line of the training, for the metadata
    on_frame : called after every frame

    Returns
    -------
    PoseModel, without the figures of the earlier model; its person filter, if it has one, must be trained again

    Raises
    ------
    ValueError
        When no candidate shows people, or all of their pixels do, or the frames show another body.

    References
    ----------
    Saerens, Latinne and Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities, 2002; here
    the probabilities in use are known from labels.
    """
    frames.check_joints(model.body)
    looked_at = frames.at_most(MAX_FRAMES)
    check_rooms(looked_at, "the weight of class 0")
    found = _ProbabilityOfBackground(model.forest)
    pipeline = Pipeline.from_model(model, tracking=False, fit=False)
    judge_by_truth(pipeline, found)
    pipeline.rotated_views = None  # candidates are those of images as recorded
    for frame in looked_at:
        found.begin(frame.people > 0)
        pipeline.step(frame.depth)
        on_frame()
    if not 0 < found.share < 1:
        raise ValueError(
            f"class 0 is weighed by candidates that show people and some of their surroundings; none of"
            f" {counted(found.count, 'candidate')} of people in {counted(len(looked_at), 'frame')} does: {ROOMS}"
        )
    weight = background_weight(found.histogram, found.share)
    about: dict[str, Any] = {
        **origin_of(looked_at, command),
        "candidates": found.count,
        "share": round(found.share, 4),
        "mean_probability": round(found.mean_probability, 4),
    }
    return weigh_background(model, weight).with_metadata(background=about)


def background_weight(histogram: np.ndarray, share: float) -> float:
    """Find the weight of class 0 at which its mean probability is a given share.

    Parameters
    ----------
    histogram : float64 (B,), sums to 1: how frequent each probability of class 0 is in the leaves that pixels reach, in
        bins of equal width from 0 to 1. Leaves are weighed, and normalised, before trees are averaged
    share : float, of the pixels that are of class 0, above 0 and below 1

    Returns
    -------
    float, within WEIGHTS
    """
    probability = (np.arange(len(histogram)) + 0.5) / len(histogram)

    def excess(log_weight: float) -> float:
        weighed = np.exp(log_weight) * probability
        return float(histogram @ (weighed / (weighed + 1 - probability))) - share

    low, high = np.log(WEIGHTS)
    if excess(low) >= 0 or excess(high) <= 0:
        return WEIGHTS[0] if excess(low) >= 0 else WEIGHTS[1]
    return float(np.exp(brentq(excess, low, high)))


class _ProbabilityOfBackground(TrueFilter):
    """Keeps how probable and how frequent class 0 is in candidates of people, each of which counts the same.

    Those that are classified again, without the pixels that were removed, count twice.
    """

    def __init__(self, forest: DepthForest) -> None:
        super().__init__()
        shares = forest.packed.leaf_shares
        probability = shares[:, 0] / (WHOLE if shares.dtype == np.uint8 else 1)
        self._forest, self._bins = forest, np.minimum((probability * BINS).astype(np.int64), BINS - 1)
        self._first_leaf = np.resize(forest.packed.first_leaf, forest.packed.walks)
        self._sums, self._background = np.zeros(BINS), 0.0
        self.count = 0  #: times that candidates of people were classified

    @property
    def histogram(self) -> np.ndarray:
        """How frequent each probability is in the leaves of all trees, float64 (BINS,)."""
        return self._sums / max(self.count, 1)

    @property
    def share(self) -> float:
        """Share of the pixels that are no person's."""
        return self._background / max(self.count, 1)

    @property
    def mean_probability(self) -> float:
        """Mean probability of class 0."""
        return float(self.histogram @ ((np.arange(BINS) + 0.5) / BINS))

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        on_people = self.people[tuple(parts.pixels.T)]
        if len(on_people) and (share := float(on_people.mean())) >= PERSON_SHARE:
            leaves = self._forest.find_leaves(depth_m, mask, parts.pixels, intrinsics)
            bins = self._bins[leaves + self._first_leaf].ravel()
            self._sums += np.bincount(bins, minlength=BINS) / len(bins)
            self._background += 1 - share
            self.count += 1
        return super().person_mask(depth_m, mask, intrinsics, parts)
