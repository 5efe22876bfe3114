"""Training of leaf votes: the votes of a grown forest, fitted to labelled frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.splitting.pixel_sampling import draw_pixels
from posepipe.learn.depth.votes.fit_votes import fit_votes
from posepipe.learn.depth.votes.leaf_votes import LeafVotes

VOTE_LENGTH_M = 0.4
"""Maximum length of a voted offset; votes for joints further away are hardly better than chance."""
PIXELS_PER_PERSON = 300
"""Maximum number of pixels, of those labelled with a body part."""


def train_votes(
    forest: DepthForest,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
) -> tuple[LeafVotes, ...]:
    """Fit the offsets from the pixels of each leaf to the joints.

    Parameters
    ----------
    forest : DepthForest
    frames : labelled; may be those that the trees were grown on
    on_frame : called after every frame

    Returns
    -------
    LeafVotes of each tree

    Raises
    ------
    ValueError
        When the frames show no person.
    """
    leaves, points, persons = [], [], []
    joints: list[np.ndarray] = []
    for index, frame in enumerate(frames):
        depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
        rng = np.random.default_rng([0, index])
        for person, joints_m in enumerate(frame.joints_m, start=1):
            mask = (frame.people == person) & (depth_m > 0)
            pixels = draw_pixels(frame.parts, mask & (frame.parts > 0), PIXELS_PER_PERSON, rng)
            if len(pixels):
                leaves.append(forest.find_leaves(depth_m, mask, pixels, intrinsics))
                rows, cols = pixels.T
                points.append(intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols]))
                persons.append(np.full(len(pixels), len(joints), np.int32))
                joints.append(joints_m.astype(np.float32))
        on_frame()
    if not joints:
        raise ValueError("votes need frames with people; these frames show none")
    # the mirrored walks, which come last, have the same offsets mirrored, and are not fitted
    reached, places, person_of = np.concatenate(leaves), np.concatenate(points), np.concatenate(persons)
    limits_m = np.full(len(forest.body.joints), VOTE_LENGTH_M, np.float32)
    return tuple(
        fit_votes(tree, np.ascontiguousarray(reached[:, k]), places, person_of, np.array(joints), limits_m)
        for k, tree in enumerate(forest.trees)
    )
