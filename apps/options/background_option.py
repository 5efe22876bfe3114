"""``--background``: the still background of a scene, from a recording of it without people."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posepipe.frames import DepthFrame
    from posepipe.models.pose_model import PoseModel
    from posepipe.segmentation.room_geometry.still_background import StillBackground
    from posepipe.sources import FrameSource

MAX_FRAMES = 60
"""Frames that are used of a recording, evenly spaced; the first ones where the source does not know its length."""


def read_background(args: argparse.Namespace) -> StillBackground:
    """Learn the background of the arguments, read as they say for the SOURCE.

    Raises
    ------
    SourceError
        If it is a live camera, shows nothing, or changes its lens.
    PosepipeError
        If it cannot be read.
    """
    from posepipe.errors import SourceError
    from posepipe.segmentation.room_geometry.still_background import learn_still_background
    from posepipe.sources import open_source
    from posepipe.sources.cameras import is_camera_name
    from posepipe.sources.rotation import RotatedSource

    name = f"--background {args.background}"
    if is_camera_name(args.background):
        raise SourceError(name, "wanted a recording of the scene without people, got a live camera; record it first")
    with open_source(args.background, args.camera, args.topic) as source:
        return learn_still_background(_spread(RotatedSource(source, args.mirror, args.rotate)), name)


def warn_of_people(background: StillBackground, model: PoseModel) -> None:
    """Warn of what a model takes for people in the background: nobody is found where they stand."""
    from posepipe.frames import DepthFrame
    from posepipe.pipeline import Pipeline

    pipeline = Pipeline.from_model(model, tracking=False, fit=False)
    people = pipeline.step(DepthFrame(background.depth_m, background.intrinsics)).people
    distances = sorted(float(track.pose.joints_m[:, 2].mean()) for track in people)
    if distances:
        where = " and ".join(f"{distance:.1f} m" for distance in distances)
        warnings.warn(
            f"{background.name}: something {where} away looks like a person, and nobody is found in that place; if"
            " somebody stood there, record the empty scene again",
            stacklevel=2,
        )


def _spread(source: FrameSource) -> Iterator[DepthFrame]:
    """Yield MAX_FRAMES frames, evenly spaced."""
    step = max(1, (source.frame_count or 0) // MAX_FRAMES)
    for row, frame in enumerate(source):
        if row >= step * MAX_FRAMES:
            return
        if row % step == 0:
            yield frame
