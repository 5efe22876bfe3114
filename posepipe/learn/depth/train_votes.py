"""The votes of a grown forest, from labelled frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.joints.offset_votes import LeafVotes
from posepipe.learn.depth.classify import find_leaves
from posepipe.learn.depth.depth_features import bordered_depth
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.leaf_votes import VoteRules, fit_votes
from posepipe.learn.depth.pixel_sampling import draw_pixels

VOTE_LENGTH_M = 0.4
"""Joints further from a pixel than this are not its business: what it says of them is hardly better than chance."""


def train_votes(
    forest: DepthForest,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    rules: VoteRules | None = None,
    pixels_per_person: int = 300,
) -> tuple[LeafVotes, ...]:
    """Learn where the joints lie, seen from the leaves.

    Parameters
    ----------
    forest : DepthForest
    frames : labelled; those that its trees were grown on will do, others as well
    on_frame : called after every frame
    rules : VoteRules; None = its defaults
    pixels_per_person : int, all of them labelled with a body part

    Returns
    -------
    LeafVotes of each tree

    Raises
    ------
    ValueError
        When the frames show nobody.
    """
    leaves, points, persons = [], [], []
    joints: list[np.ndarray] = []
    for index, frame in enumerate(frames):
        depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
        rng = np.random.default_rng([0, index])
        for person, joints_m in enumerate(frame.joints_m, start=1):
            mask = (frame.people == person) & (depth_m > 0)
            pixels = draw_pixels(frame.parts, mask & (frame.parts > 0), pixels_per_person, rng)
            if len(pixels):
                image = bordered_depth(depth_m, mask)
                leaves.append(find_leaves(image, pixels, intrinsics.fx, intrinsics.fy, forest.packed))
                rows, cols = pixels.T
                points.append(intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols]))
                persons.append(np.full(len(pixels), len(joints), np.int32))
                joints.append(joints_m.astype(np.float32))
        on_frame()
    if not joints:
        raise ValueError("votes need frames with people; these frames show nobody")
    # the mirrored walks of a symmetric forest come last; what they would teach is what these do
    reached, places, person_of = np.concatenate(leaves), np.concatenate(points), np.concatenate(persons)
    limits_m = np.full(len(forest.body.joints), VOTE_LENGTH_M, np.float32)
    return tuple(
        fit_votes(tree, np.ascontiguousarray(reached[:, k]), places, person_of, np.array(joints), limits_m, rules)
        for k, tree in enumerate(forest.trees)
    )
