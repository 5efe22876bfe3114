"""Trains the forest that segments people: on whole frames with two classes, person and surroundings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import counted
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.class_prior import weigh_classes
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting.responses import OffsetRange
from posepipe.learn.depth.train_forest import TrainingProgress, train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_segmentation import SEGMENTS, on_segmentation_grid
from posepipe.training.check_frames import ROOMS, check_rooms
from posepipe.training.origin import origin_of

SEGMENTATION_PARAMETERS = ForestParameters(
    trees=3,
    pixels_per_person=400,
    growth=GrowthRules(max_depth=17, candidates=300),
    offsets=OffsetRange(shortest_m=0.03, longest_m=1.2, threshold_range_m=1.2),
    symmetric=False,
    share_frames=True,
)
"""Small trees with far probes: the room around a pixel tells more than its shape."""
MAX_FRAMES = 20_000
"""Frames that it is trained on at most, evenly spaced."""
CUT_OUT = 10
"""Every tenth frame is trained on with its surroundings removed, because recordings may be cut out."""
TINY = 1e-9
"""Stands for the pixels of a class that there are none of."""
_PERSON, _SURROUNDINGS = (SEGMENTS.part_code(name) for name in ("person", "surroundings"))


def train_segmentation(
    frames: Sequence[LabelledFrame], parameters: ForestParameters = SEGMENTATION_PARAMETERS
) -> DepthForest:
    """Train a segmentation forest; see `posepipe.segmentation.person_segmentation.PersonSegmentation`.

    Parameters
    ----------
    frames : labelled whole frames, with people and without
    parameters : ForestParameters; ``pixels_per_person`` are the pixels a frame

    Returns
    -------
    DepthForest of the body `SEGMENTS`

    Raises
    ------
    ValueError
        When no frame shows surroundings.
    """
    return _train(SegmentFrames(frames), parameters)


def _train(
    segments: SegmentFrames,
    parameters: ForestParameters,
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    on_frame: Callable[[], object] = lambda: None,
) -> DepthForest:
    """Train on frames, which count their pixels meanwhile; see `train_segmentation`."""
    forest = train_forest(segments, parameters, SEGMENTS, on_level, on_frame=on_frame)
    if not segments.pixels[_SURROUNDINGS]:
        raise ValueError("a segmentation needs whole frames, and these show people cut out; " + ROOMS)
    # pixels are drawn evenly, so that the few of people weigh more than there are
    return weigh_classes(forest, np.maximum(segments.pixels, TINY) / np.maximum(segments.drawn, TINY))


def refit_segmentation(
    model: PoseModel,
    frames: FrameSequence,
    command: str = "",
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    on_frame: Callable[[], object] = lambda: None,
    parameters: ForestParameters = SEGMENTATION_PARAMETERS,
) -> PoseModel:
    """Train a segmentation for a model.

    Parameters
    ----------
    model : PoseModel
    frames : labelled whole frames, with people and without, of which at most MAX_FRAMES are looked at
    command : command line of the training, for the metadata
    on_level : called after every level
    on_frame : called after every frame that is read
    parameters : as for `train_segmentation`

    Returns
    -------
    PoseModel, without the figures measured with the earlier segmentation

    Raises
    ------
    ValueError
        When no frame shows surroundings, or none shows people, or the frames show another body.
    """
    frames.check_joints(model.body)
    frames = frames_read(frames)
    check_rooms(frames, "a segmentation")
    about = {
        **origin_of(frames, command),
        "parameters": parameters.to_dict(),
    }
    started = time.monotonic()
    segments = SegmentFrames(frames)
    forest = _train(segments, parameters, on_level, on_frame)
    if not segments.pixels[_PERSON]:
        raise ValueError(f"a segmentation needs people in rooms, and of {counted(len(frames), 'frame')} none shows any")
    about["seconds"] = round(time.monotonic() - started, 1)
    return replace(model, segmentation=forest).with_metadata(figures=None, segmentation=about)


def frames_read(frames: FrameSequence) -> FrameSequence:
    """Those that a segmentation is trained on: at most MAX_FRAMES, evenly spaced."""
    return frames.at_most(MAX_FRAMES)


class SegmentFrames(Sequence[LabelledFrame]):
    """Labelled frames with the classes of `SEGMENTS`, on the segmentation grid; mirrored every other time.

    Parameters
    ----------
    frames : labelled whole frames
    """

    def __init__(self, frames: Sequence[LabelledFrame]) -> None:
        self._frames = frames
        self.pixels = np.zeros(SEGMENTS.n_classes)  #: share of each class, summed over the whole frames read so far
        self.drawn = np.zeros(SEGMENTS.n_classes)  #: the same of training pixels, some of them in cut-out frames

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, index: int, /) -> LabelledFrame: ...
    @overload
    def __getitem__(self, index: slice, /) -> SegmentFrames: ...
    def __getitem__(self, index: int | slice, /) -> LabelledFrame | SegmentFrames:
        """Read one frame; a slice is a view that reads nothing."""
        if isinstance(index, slice):
            return SegmentFrames(self._frames[index])
        frame = self._frames[index]
        person, _ = on_segmentation_grid(frame.people > 0, frame.depth.intrinsics)
        depth_m, intrinsics = on_segmentation_grid(frame.depth.depth_m, frame.depth.intrinsics)
        self.pixels += _shares(depth_m, person)
        if index % CUT_OUT == CUT_OUT - 1 and person.any():
            depth_m = np.where(person, depth_m, np.float32(0))
        if index % 2:
            depth_m, person = (np.ascontiguousarray(image[:, ::-1]) for image in (depth_m, person))
            intrinsics = intrinsics.mirrored(depth_m.shape[1])
        labels = np.where(person, _PERSON, _SURROUNDINGS).astype(np.uint8)
        drawn = np.sqrt(_shares(depth_m, person))  # as `draw_pixels` weighs classes
        self.drawn += drawn / max(drawn.sum(), 1e-9)
        depth = DepthFrame(depth_m, intrinsics)
        nobody = np.zeros((0, 0, 3), np.float32), np.zeros((0, 0), bool)
        return LabelledFrame(depth, labels, np.ones_like(labels), *nobody)


def _shares(depth_m: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Share of each class among the readings of a frame, float64 (C,); all 0 without any."""
    labels = np.where(person, _PERSON, _SURROUNDINGS)[depth_m > 0]
    return np.bincount(labels, minlength=SEGMENTS.n_classes) / max(1, len(labels))
