"""Out-of-bag part accuracy: each tree is scored on frames that it was not grown on, without a validation set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from posepipe.evaluation.metrics.part_metrics import PartScores, cut_out_people
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.parts import EVERY_PIXEL, PartProbabilities
from posepipe.segmentation.label_map import draw_labels

MAX_FRAMES = 500
"""Frames that are scored; people in other frames are not looked at."""


@dataclass(frozen=True, slots=True)
class OutOfBagAccuracy:
    """Mean part accuracy, as `posepipe evaluate` measures it on people who are cut out."""

    part_accuracy: float  #: of all trees that a frame is out of the bag of, together
    of_trees: tuple[float, ...]  #: of each tree alone
    frames: int  #: number of frames scored

    def to_dict(self) -> dict[str, Any]:
        """Plain data, rounded to four digits, for the metadata of a model."""
        return {name: _rounded(value) for name, value in asdict(self).items()}


def out_of_bag_accuracy(
    forest: DepthForest,
    frames: Sequence[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    max_frames: int = MAX_FRAMES,
) -> OutOfBagAccuracy | None:
    """Classify training frames by the trees that were not grown on them.

    Frames of one recipe show poses of the same clips, so that held-out clips are harder.

    Parameters
    ----------
    forest : DepthForest, of `posepipe.learn.depth.train_forest.train_forest` on ``frames``
    frames : all of its training frames, in the same order
    on_frame : called after every frame that is scored
    max_frames : limit of the frames that are scored, as many for each tree

    Returns
    -------
    OutOfBagAccuracy, or None for a single tree, which has seen every frame

    References
    ----------
    Breiman, Out-of-bag estimation, 1996; here trees have separate frames instead of bootstrap samples.
    """
    n_trees = len(forest.trees)
    if n_trees == 1:
        return None
    together, alone = PartScores(forest.body), [PartScores(forest.body) for _ in range(n_trees)]
    rows = scored_rows(len(frames), n_trees, max_frames)
    for row in rows:
        others = [tree for tree in range(n_trees) if tree != row % n_trees]
        _score(forest, frames[row], others, together, alone)
        on_frame()
    accuracies = tuple(scores.mean_accuracy() for scores in alone)
    return OutOfBagAccuracy(together.mean_accuracy(), accuracies, len(rows))


def scored_rows(n_frames: int, n_trees: int, max_frames: int) -> list[int]:
    """Choose frames, evenly spaced among those of each tree and as many of each."""
    each = max(1, min(max_frames, n_frames) // n_trees)
    bags = [range(tree, n_frames, n_trees) for tree in range(n_trees)]
    return sorted(bag[k * len(bag) // each] for bag in bags for k in range(each))


def _score(
    forest: DepthForest, frame: LabelledFrame, others: list[int], together: PartScores, alone: list[PartScores]
) -> None:
    """Count the pixels of every person of a frame, cut out, by the ``others`` together and each alone."""
    for mask, truth in cut_out_people(frame):
        pixels, leaves = forest.reach_leaves(frame.depth.depth_m, mask, frame.depth.intrinsics)
        for trees, scores in [(others, together), *(([tree], alone[tree]) for tree in others)]:
            posterior = forest.posterior_of_trees(leaves, trees)
            scores.add(truth, draw_labels(PartProbabilities(pixels, posterior, EVERY_PIXEL), mask))


def _rounded(value: Any) -> Any:
    """Round numbers, also in lists; NaN becomes None."""
    if isinstance(value, tuple):
        return [_rounded(each) for each in value]
    if isinstance(value, float):
        return round(value, 4) if np.isfinite(value) else None
    return value
