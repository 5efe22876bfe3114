"""``posepipe info``: describe a model, dataset, recording, pose bank, results file or label images."""

from __future__ import annotations

import argparse
import datetime
import json
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.terminal.plain_text import plain_line, show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.datasets.dataset import Dataset
    from posepipe.sources import FrameSource

CUT_OUT = Path(__file__).parent / "data" / "cut_out.mcap"
DEFAULT_LEVELS = 4
LINE_LENGTH = 120
HELP = "describe a model, dataset, recording, source, pose bank or results file"
EXAMPLES = (
    "posepipe info person",
    "posepipe info data/validation",
    "posepipe info walk.bag                       # its depth streams, for --topic, and their calibration",
    "posepipe info results.jsonl",
    "posepipe info person --draw pictures         # its trees on a body, and where its probes look",
    "posepipe info my_model.npz --draw pictures --on data/validation --levels 5",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("path", metavar="PATH", help="a file, a folder, camera:NAME, or the name of a shipped model")
    parser.add_argument("--topic", metavar="NAME", help="depth stream of a recording to describe (default: all)")
    parser.add_argument("--camera", metavar="PRESET|FILE", help="calibration of a source instead of its own")
    drawing = parser.add_argument_group("pictures of a model's forest")
    drawing.add_argument("--draw", type=Path, metavar="DIR", help="draw the trees and the map of probes")
    drawing.add_argument(
        "--on",
        metavar="SOURCE",
        help="frames whose people go down the trees (default: shipped ones)",
    )
    drawing.add_argument(
        "--levels",
        type=int,
        choices=range(1, 6),
        help=f"levels of a tree that are drawn (default: {DEFAULT_LEVELS})",
    )


def run(args: argparse.Namespace) -> None:
    """Print the description of whatever the path is."""
    from posepipe.datasets.dataset import MANIFEST_NAME
    from posepipe.errors import PosepipeError
    from posepipe.models.model_file import is_model_file
    from posepipe.models.registry import model_names, model_path
    from posepipe.sinks.files.results_reader import is_results
    from posepipe.sinks.masks.mask_folder import is_mask_folder
    from synth.motion.poses.clips import is_pose_bank

    path = Path(args.path)
    if args.draw is None and (args.levels is not None or args.on is not None):
        raise PosepipeError("--on and --levels say what is drawn; add --draw DIR, or leave them out")
    if args.path in model_names() or (path.is_file() and is_model_file(path)):
        _refuse_source_options(args, "is a model")
        show(_model(model_path(args.path)))
        if args.draw is not None:
            from apps.pictures.forest_pictures import draw_forest

            for picture in draw_forest(
                model_path(args.path), args.on or str(CUT_OUT), args.draw, args.levels or DEFAULT_LEVELS
            ):
                show(f"picture -> {picture}")
    elif args.draw is not None and path.exists():
        raise PosepipeError(f"--draw draws the forest of a model, and {args.path} is none; leave it out")
    elif (path / MANIFEST_NAME).is_file():
        _refuse_source_options(args, "is a dataset")
        show(_dataset(path))
    elif path.is_file() and (path.suffix == ".jsonl" or is_results(path)):
        _refuse_source_options(args, "are results")
        show(_results(path))
    elif is_mask_folder(path):
        _refuse_source_options(args, "are label images")
        show(_masks(path))
    elif path.is_file() and is_pose_bank(path):
        _refuse_source_options(args, "are poses")
        show(_poses(path))
    else:
        show(_recording(args))


def _refuse_source_options(args: argparse.Namespace, kind: str) -> None:
    from posepipe.errors import PosepipeError

    if given := [option for option, value in (("--topic", args.topic), ("--camera", args.camera)) if value]:
        raise PosepipeError(f"{args.path} {kind}; {given[0]} applies to depth frames only, leave it out")


def _model(path: Path) -> str:
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_identity

    model = PoseModel.load(path)
    lines = [
        f"model {model_identity(path)}, {path.stat().st_size / 1e6:.1f} MB",
        f"body {model.body.name}: {len(model.body.parts)} parts, {len(model.body.joints)} joints",
    ]
    for k, tree in enumerate(model.forest.trees, start=1):
        lines.append(
            f"tree {k}: {counted(tree.n_nodes, 'node')}, {counted(tree.n_leaves, 'leaf', 'leaves')}, "
            f"{counted(tree.depth(), 'level')}"
        )
    history = dict(model.metadata)
    if "figures" in history:  # the card has those of single joints
        history["figures"] = {title: figures["headline"] for title, figures in history["figures"].items()}
    if (card := path.with_suffix(".md")).is_file():  # recipes take a thousand lines
        lines.append(f"its recipes are in {card}; the rest of its history:")
        history = _without_recipes(history)
    return "\n".join([*lines, _json(history)])


def _without_recipes(history: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the card tells better; stages have tables of their own."""
    return {
        name: _without_recipes(value) if isinstance(value, Mapping) else value
        for name, value in history.items()
        if not name.endswith("recipes")
    }


def _brief_recipe(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the fields of sections that have their default, as recipe files do."""
    from posepipe.models.card import differing_fields
    from synth.recipe import Recipe

    defaults = json.loads(json.dumps(Recipe().to_dict()))  # lists, as in recipe
    told = {
        name: differing_fields(value, defaults[name]) if isinstance(defaults.get(name), dict) else value
        for name, value in recipe.items()
    }
    return {name: value for name, value in told.items() if value != {}}


def _json(value: object, indent: int = 0) -> str:
    """Return JSON with each list or table on one line where it fits, and as many short ones on a line as fit."""
    flat = json.dumps(value)
    if len(flat) + indent <= LINE_LENGTH or not isinstance(value, dict | list):
        return flat
    inner = indent + 1
    if isinstance(value, dict):
        rows = [f"{json.dumps(name)}: {_json(each, inner)}" for name, each in value.items()]
    else:
        rows = [_json(each, inner) for each in value]
    lines = [""]
    for row in rows:
        beside = f"{lines[-1]}, {row}" if lines[-1] else row
        if lines[-1] and ("\n" in beside or len(beside) + inner > LINE_LENGTH):
            lines.append(row)
        else:
            lines[-1] = beside
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(" " * inner + line for line in lines) + f"\n{' ' * indent}{closing}"


def _dataset(path: Path) -> str:
    from posepipe.datasets.dataset import Dataset

    with Dataset.open(path) as dataset:
        lines = [
            f"dataset of {counted(len(dataset), 'labelled frame')} in {_recordings(dataset)}, body {dataset.body.name}",
            f"made by posepipe {dataset.source_revision}",
            "recipe; fields of its tables that are not here have their default:",
            _json(_brief_recipe(dataset.recipe)),
        ]
    return "\n".join(lines)


def _recordings(dataset: Dataset) -> str:
    """Return how many recordings there are, or how many sequences, of how many frames and of which scenes."""
    entries = dataset.recordings
    has_sequences = bool(dataset.recipe.get("sequence_frames"))  # older manifests list no scenes
    if not entries or not (has_sequences or all(entry.scene is not None for entry in entries)):
        return counted(len(entries), "recording")
    lengths = sorted({entry.frames for entry in entries})
    each = counted(lengths[0], "frame") if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]} frames"
    scenes = Counter(entry.scene for entry in entries if entry.scene)
    shown = ", ".join(f"{count} {scene}" for scene, count in scenes.items())
    return f"{counted(len(entries), 'sequence')} of {each}" + (f" ({shown})" if shown else "")


def _poses(path: Path) -> str:
    from synth.motion.poses.clips import read_pose_bank
    from synth.motion.poses.pose_kinds import pose_shares

    bank = read_pose_bank(path)
    held_out = len(bank.split("validation").clips)
    poses, clips = counted(len(bank.clips), "pose"), counted(len(set(bank.clips)), "clip")
    lines = [f"{poses} of {clips}, {held_out} of them held out for validation"]
    lines += [f"{kind:18s}{share:7.1%}" for kind, share in pose_shares(bank).items()]
    return "\n".join(lines)


def _results(path: Path) -> str:
    from posepipe.sinks.files.results_reader import ResultsReader

    frames = people = 0
    with ResultsReader(path) as results:
        for frame in results:
            frames += 1
            people += bool(frame.people)
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    header = _json(asdict(results.header))
    return f"results of {counted(frames, 'frame')}, {people} with people in view\n{header}"


def _masks(path: Path) -> str:
    """Describe the label images of ``posepipe run --masks``."""
    from posepipe.io.files import read_json_object
    from posepipe.sinks.masks.mask_folder import NAMES, PARTS, PEOPLE

    count = len(list((path / PEOPLE).glob("*.png")))
    codes = {str(part): code for part, code in read_json_object(path / NAMES).items()}
    return (
        f"label images of {counted(count, 'frame')}, without their depth: {PEOPLE}/ has people's ids, {PARTS}/ the"
        f" codes of parts\n{json.dumps(codes, indent=1)}"
    )


def _recording(args: argparse.Namespace) -> str:
    """Describe every depth stream that may be meant."""
    from posepipe.errors import PosepipeError
    from posepipe.recording import SeveralTopicsError
    from posepipe.sources import open_source

    try:
        return _source(open_source(args.path, args.camera, args.topic))
    except SeveralTopicsError as several:
        blocks = [f"{len(several.topics)} depth streams; choose one with --topic"]
        for topic in several.topics:
            try:
                about = _source(open_source(args.path, args.camera, topic), alone=False)
            except PosepipeError as problem:
                about = plain_line(str(problem))
            blocks.append(f"--topic {plain_line(topic)}\n{about}")
        return "\n\n".join(blocks)


def _source(source: FrameSource, alone: bool = True) -> str:
    """Describe length, image and calibration; of the only stream that may be meant also its topic."""
    from posepipe.sources.base.plausibility import JUDGED_FRAMES

    with source:
        # of a file as many as a warning of implausible depth needs; of a camera the first that comes
        frames = list(islice(source, 1 if source.frame_count is None else JUDGED_FRAMES))
        lines = ["live: frames as they come" if source.frame_count is None else _length(source), _lens(source)]
        lines += _streams(source) if alone else []
        if frames:
            depth_m = frames[0].depth_m
            (height, width), measured_m = depth_m.shape, depth_m[depth_m > 0]
            span = f", from {measured_m.min():.2f} to {measured_m.max():.2f} m" if measured_m.size else ""
            share = measured_m.size / depth_m.size
            lines.insert(1, f"{width} x {height} pixels; {share:.0%} of the first frame have a usable reading{span}")
        if unit := getattr(source, "depth_unit", ""):
            lines.append(f"a grey level is {unit}")
    return "\n".join(lines)


def _lens(source: FrameSource) -> str:
    """Describe the calibration: its numbers, where they come from, and presets that are equal."""
    from posepipe.camera.presets import CAMERA_PRESETS
    from posepipe.sources.base.indexed_source import IndexedSource

    lens = source.intrinsics
    origin = source.intrinsics_from if isinstance(source, IndexedSource) else "the camera"
    presets = [
        name
        for name, preset in CAMERA_PRESETS.items()
        if (preset.height, preset.width) == source.shape and preset.intrinsics == lens and name not in (origin, "ideal")
    ]
    known = f", that of preset {' and '.join(presets)}" if presets else ""
    by = f"; from {'preset ' if origin in CAMERA_PRESETS else ''}{origin}" if origin else ""
    return plain_line(f"fx {lens.fx:.2f}, fy {lens.fy:.2f}, cx {lens.cx:.2f}, cy {lens.cy:.2f}{by}{known}")


def _streams(source: FrameSource) -> list[str]:
    """Return the topic that is read, and the other image topics of the recording."""
    from posepipe.sources.formats.recording_file import IMAGE_KINDS, MessageSource

    if not isinstance(source, MessageSource):
        return []
    pictures = [topic for topic in source.topics.values() if topic.kind in IMAGE_KINDS]
    others = [plain_line(str(topic)) for topic in pictures if topic.name != source.topic.name]
    lines = [plain_line(f"read is --topic {source.topic}")]
    if source.accelerometer is not None:
        lines.append(plain_line(f"the accelerometer {source.accelerometer.name} says where up is"))
    return lines + ([f"other pictures: {', '.join(sorted(others))}"] if others else [])


def _length(source: FrameSource) -> str:
    """Return the number of frames, the duration, the rate and the time of the recording, as far as known."""
    import numpy as np

    from posepipe.frames import EARLIEST_DATE_NS

    text = counted(source.frame_count or 0, "depth frame")
    if source.frame_count is not None and source.frame_count > 1:
        times = source.timestamps_s
        step = float(np.median(np.diff(times)))
        rate = f", {1 / step:.1f} a second" if step > 0 else ""
        text += f" in {np.ptp(times):.2f} s{rate}"  # times may go back
    if source.start_time_ns >= EARLIEST_DATE_NS:
        start = datetime.datetime.fromtimestamp(source.start_time_ns / 1e9, datetime.UTC)
        text += f", from {start:%Y-%m-%d %H:%M:%S} UTC"
    return text
