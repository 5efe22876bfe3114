"""``posepipe info MODEL --draw``: pictures of a forest, from the people of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.learn.depth_pictures.tree_on_body import PersonView
    from posepipe.learn.depth_pictures.tree_traffic import TreeTraffic
    from posepipe.models.pose_model import PoseModel

MAX_FRAMES = 60
"""Frames whose people go down the trees for the map of probes, evenly spaced."""


def draw_forest(model: Path, source: str, folder: Path, levels: int) -> Iterator[Path]:
    """Draw each tree on the first person of a source, and the map of probes from all of its people.

    Yields
    ------
    Path of every picture that was written

    Raises
    ------
    PosepipeError
        When nobody is found in the source.
    """
    import cv2

    from posepipe.errors import PosepipeError
    from posepipe.io.files import disk_errors, replace_file
    from posepipe.learn.depth_pictures.probe_map import draw_probe_map, probe_map
    from posepipe.learn.depth_pictures.tree_on_body import draw_tree_on_body
    from posepipe.models.pose_model import PoseModel

    of_model = PoseModel.load(model)
    forest, views = of_model.forest, _views(of_model, source)
    if not views:
        raise PosepipeError(f"{source}: a forest is drawn on a person, and nobody is found there; give another --on")
    pictures = {f"tree-{k + 1}.png": draw_tree_on_body(forest, k, views[0], levels) for k in range(len(forest.trees))}
    title = f"probes of {len(forest.trees)} trees, information in {len(views)} frames"
    pictures["probes.png"] = draw_probe_map(probe_map(_traffic(forest, views), forest.offsets), title)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        replace_file(folder / name, cv2.imencode(".png", picture)[1].tobytes())
        yield folder / name


def _traffic(forest: DepthForest, views: list[PersonView]) -> list[TreeTraffic]:
    """Pixels of all views at the nodes of each tree."""
    import numpy as np

    from posepipe.learn.depth_pictures.tree_traffic import TreeTraffic

    leaves = np.concatenate(
        [
            forest.find_leaves(view.depth_m, view.mask, np.argwhere(view.mask).astype(np.int32), view.intrinsics)
            for view in views
        ]
    )
    return [TreeTraffic.of(tree, leaves[:, k]) for k, tree in enumerate(forest.trees)]


def _views(model: PoseModel, source: str) -> list[PersonView]:
    """People of a source as the pipeline finds them: the pixels of a frame that it labels."""
    from posepipe.learn.depth_pictures.tree_on_body import PersonView
    from posepipe.pipeline import Pipeline
    from posepipe.sources import open_source

    pipeline, views = Pipeline.from_model(model, tracking=False), []
    with open_source(source) as opened:
        step = max(1, -(-(opened.frame_count or 1) // MAX_FRAMES))
        for number, frame in enumerate(opened):
            if number % step == 0 and (labels := pipeline.step(frame).parts).any():
                views.append(PersonView(frame.depth_m, labels > 0, frame.intrinsics))
            if len(views) == MAX_FRAMES:
                break
    return views
