"""``--background``: the still background of a scene, from a recording of it without people."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posepipe.frames import DepthFrame
    from posepipe.models.pose_model import PoseModel
    from posepipe.segmentation.room_geometry.still_background import StillBackground
    from posepipe.sources import FrameSource

MAX_FRAMES = 60
"""Frames that are used of a recording, evenly spaced; the first ones where the source does not know its length."""
WATCHED_FRAMES = 6
"""Of these, the frames, at most, in which people are sought."""
APART_M = 0.5
"""Distance from which people of several frames are named one by one."""
BELONGS_SHARE = 0.5
"""Share of somebody's pixels that read as the background does, from which they are part of it."""


def read_background(args: argparse.Namespace) -> tuple[StillBackground, list[DepthFrame]]:
    """Learn the background of the arguments, read as they say for the SOURCE; with some of the frames, for warnings.

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
        frames = list(_spread(RotatedSource(source, args.mirror, args.rotate)))
    return learn_still_background(frames, name), frames[:: -(-len(frames) // WATCHED_FRAMES)]


def warn_of_people(background: StillBackground, frames: Iterable[DepthFrame], model: PoseModel) -> None:
    """Warn of people who are part of the background, as a model finds them in it or in frames that it was learned from.

    Nobody is found where they stand.
    """
    import numpy as np

    from posepipe.frames import DepthFrame
    from posepipe.pipeline import Pipeline
    from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance_m

    pipeline = Pipeline.from_model(model, tracking=False, fit=False)
    agrees_m, found_m = plane_tolerance_m(background.depth_m), []
    for frame in (DepthFrame(background.depth_m, background.intrinsics), *frames):
        belongs = np.abs(frame.depth_m - background.depth_m) <= agrees_m
        result = pipeline.step(frame)
        for track, mask in zip(result.people, result.person_masks, strict=True):
            if belongs[mask].mean() >= BELONGS_SHARE:
                found_m.append(float(track.pose.joints_m[:, 2].mean()))
    if found_m:
        named_m: list[float] = []
        for distance_m in sorted(found_m):
            if not named_m or distance_m - named_m[-1] >= APART_M:
                named_m.append(distance_m)
        where = " and ".join(f"{distance_m:.1f} m" for distance_m in named_m)
        warnings.warn(
            f"{background.name}: something {where} away looks like a person, and nobody is found in that place; if"
            " somebody stood there, record the empty scene again",
            stacklevel=2,
        )


def _spread(source: FrameSource) -> Iterator[DepthFrame]:
    """Yield at most MAX_FRAMES frames, evenly spaced over all."""
    count = max(source.frame_count or 0, MAX_FRAMES)
    rows = {number * count // MAX_FRAMES for number in range(MAX_FRAMES)}
    for row, frame in enumerate(source):
        if row >= count:
            return
        if row in rows:
            yield frame
