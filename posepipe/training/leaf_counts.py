"""Pixels of labelled people by the leaf that they reach, for pruning by frames that no tree was grown on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from posepipe.evaluation.metrics.part_metrics import cut_out_people
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.depth_forest import DepthForest

MAX_FRAMES = 5000
"""Frames that are counted: some minutes. A leaf that none of their pixels reaches is not kept for their sake."""


def count_pixels(
    forest: DepthForest,
    frames: Sequence[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    max_frames: int = MAX_FRAMES,
) -> list[np.ndarray]:
    """Send the pixels of people, cut out, down every tree.

    Parameters
    ----------
    forest : DepthForest
    frames : labelled for its body
    on_frame : called after every frame
    max_frames : at most so many are used, evenly spaced

    Returns
    -------
    float64 (L, C) of each tree, pixels by leaf and true part; a mirrored walk counts as the mirrored part

    Raises
    ------
    ValueError
        When the frames show nobody.
    """
    n_trees, mirrored = len(forest.trees), forest.packed.mirrored_classes
    counts = [np.zeros(tree.leaf_statistics.shape) for tree in forest.trees]
    for row in chosen_rows(len(frames), max_frames):
        frame = frames[row]
        for mask, truth in cut_out_people(frame):
            pixels, leaves = forest.reach_leaves(frame.depth.depth_m, mask, frame.depth.intrinsics)
            part = truth[tuple(pixels.T)]
            leaves, part = leaves[part > 0], part[part > 0]
            for walk in range(leaves.shape[1]):
                np.add.at(counts[walk % n_trees], (leaves[:, walk], part if walk < n_trees else mirrored[part]), 1)
        on_frame()
    if not counts[0].any():
        raise ValueError("pruning by frames needs people in them, got none")
    return counts


def chosen_rows(n_frames: int, max_frames: int) -> list[int]:
    """At most ``max_frames`` of ``n_frames``, evenly spaced."""
    count = min(n_frames, max_frames)
    return [k * n_frames // count for k in range(count)]
