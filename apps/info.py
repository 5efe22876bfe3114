"""``posepipe info``: what a model, dataset, recording or results file holds."""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posepipe.sources import FrameSource

HELP = "say what a model, dataset, recording, source, pose bank or results file holds"
EXAMPLES = ("posepipe info person", "posepipe info data/validation", "posepipe info results.jsonl")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file, a folder, or the name of a shipped model")


def run(args: argparse.Namespace) -> None:
    from posepipe.dataset import MANIFEST_NAME
    from posepipe.learn.forest_file import is_forest_file
    from posepipe.models import model_names, model_path
    from synth.clips import is_pose_bank

    path = Path(args.path)
    if args.path in model_names() or (path.is_file() and is_forest_file(path)):
        print(_model(model_path(args.path)))
    elif (path / MANIFEST_NAME).is_file():
        print(_dataset(path))
    elif path.is_file() and path.suffix == ".jsonl":
        print(_results(path))
    elif path.is_file() and is_pose_bank(path):
        print(_poses(path))
    else:
        print(_source(args.path))


def _model(path: Path) -> str:
    from posepipe.learn.depth_forest import DepthForest
    from posepipe.models import model_identity

    forest = DepthForest.load(path)
    lines = [
        f"model {model_identity(path)}, {path.stat().st_size / 1e6:.1f} MB",
        f"body {forest.body.name}: {len(forest.body.parts)} parts, {len(forest.body.joints)} joints",
    ]
    for k, tree in enumerate(forest.trees, start=1):
        lines.append(f"tree {k}: {tree.n_nodes} nodes, {tree.n_leaves} leaves, {tree.depth()} levels")
    history = {k: v for k, v in forest.header.items() if k not in ("body", "format", "version", "trees")}
    if "figures" in history:  # of the single joints, the card tells
        history["figures"] = {title: figures["headline"] for title, figures in history["figures"].items()}
    return "\n".join([*lines, json.dumps(history, indent=1)])


def _dataset(path: Path) -> str:
    from posepipe.dataset import Dataset

    with Dataset.open(path) as dataset:
        lines = [
            f"dataset of {len(dataset)} labelled frames in {len(dataset.recordings)} recordings,"
            f" body {dataset.body.name}",
            f"made by posepipe {dataset.source_revision}",
            json.dumps(dataset.recipe, indent=1),
        ]
    return "\n".join(lines)


def _poses(path: Path) -> str:
    from synth.clips import read_pose_bank
    from synth.pose_kinds import pose_shares

    bank = read_pose_bank(path)
    held_out = len(bank.split("validation").clips)
    lines = [f"{len(bank.clips)} poses of {len(set(bank.clips))} clips, {held_out} of them held out for validation"]
    lines += [f"{kind:18s}{share:7.1%}" for kind, share in pose_shares(bank).items()]
    return "\n".join(lines)


def _results(path: Path) -> str:
    from posepipe.sinks.json_lines import read_results

    results = read_results(path)
    people = sum(bool(frame.people) for frame in results.frames)
    header = json.dumps(results.header, indent=1)
    return f"results of {len(results.frames)} frames, {people} with somebody in view\n{header}"


def _source(name: str) -> str:
    from posepipe.sources import open_source

    with open_source(name) as source:
        count = "unknown" if source.frame_count is None else source.frame_count
        first = next(iter(source), None)
        lens = source.intrinsics
        lines = [
            f"{count} depth frames{_times(source)}",
            f"fx {lens.fx:.2f}, fy {lens.fy:.2f}, cx {lens.cx:.2f}, cy {lens.cy:.2f}",
        ]
        if first is not None:
            height, width = first.depth_m.shape
            seen = first.depth_m[first.depth_m > 0]
            share = seen.size / first.depth_m.size
            lines.append(f"{width} x {height} pixels; {share:.0%} of the first frame have a reading")
            if seen.size:
                lines.append(f"from {seen.min():.2f} to {seen.max():.2f} m")
    return "\n".join(lines)


def _times(source: FrameSource) -> str:
    """How long a recording is, how fast, and when it was made, as far as that is known."""
    import numpy as np

    text = ""
    if source.frame_count is not None and source.frame_count > 1:
        times = source.timestamps_s
        step = float(np.median(np.diff(times)))
        rate = f", {1 / step:.1f} a second" if step > 0 else ""
        text = f" in {times[-1] - times[0]:.2f} s{rate}"
    if source.start_time_ns:
        began = datetime.datetime.fromtimestamp(source.start_time_ns / 1e9, datetime.UTC)
        text += f", from {began:%Y-%m-%d %H:%M:%S} UTC"
    return text
