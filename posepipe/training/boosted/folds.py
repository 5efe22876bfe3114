"""Folds: parts of the frames, each of which is judged by what was trained on the others alone."""

from __future__ import annotations

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.training.check_frames import some_of

FOLDS = 3


def folds_of(frames: FrameSequence) -> np.ndarray:
    """Fold of every frame, int64 (N,): frames of the same rooms share it, if there are rooms for all folds.

    Every dataset has rooms of its own, but for those that were composited into the same backgrounds.
    """
    if _are_datasets(frames):
        return np.unique(_rooms_of(frames), return_inverse=True)[1] % FOLDS
    return np.arange(len(frames)) * FOLDS // max(1, len(frames))


def kind_of_folds(frames: FrameSequence) -> str:
    """What the folds are made of: datasets or frames."""
    return "datasets" if _are_datasets(frames) else "frames"


def typical_bones(frames: FrameSequence, body: BodyDefinition) -> BoneLengths:
    """Median bone lengths of the people in some of these frames, at least one of which shows somebody."""
    return BoneLengths.measure(body, np.concatenate([frame.joints_m for frame in some_of(frames)]))


def _are_datasets(frames: FrameSequence) -> bool:
    """Whether folds are whole datasets; otherwise rooms of a fold may be among the others', too."""
    return len(np.unique(_rooms_of(frames))) >= FOLDS


def _rooms_of(frames: FrameSequence) -> np.ndarray:
    """Number of the first dataset with the rooms of each frame, int64 (N,)."""
    rooms = [recipe.get("backgrounds", number) for number, recipe in enumerate(frames.recipes)]
    first = np.array([rooms.index(each) for each in rooms], np.int64)
    return first[frames.dataset_of_rows()]
