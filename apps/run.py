"""``posepipe run``: people's joints in a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from apps.live_view import add_pipeline_arguments, add_watch_arguments, pipeline_maker, watched
from apps.sink_arguments import add_sink_arguments, check_files, is_standard_output, make_sinks, what_was_written
from apps.source_arguments import add_source_arguments, open_named, play_as_asked

if TYPE_CHECKING:
    from posepipe.pipeline import Pipeline
    from posepipe.sinks import FrameSink

HELP = "find people's 3D joints in depth frames and write, record or stream them"
EXAMPLES = (
    "posepipe run frames/ --out results.jsonl           # a folder of 16-bit PNGs with camera.json",
    "posepipe run pack.npz --out results.jsonl --video results.mp4",
    "posepipe run pack.npz --people 1 --no-tracking     # each frame by itself, and one person in it",
    "posepipe run rgbd_dataset/ --camera camera.json --model my_model.npz",
    "posepipe run walk.mcap --out walk.csv --bvh walk.bvh --record found.mcap",
    "posepipe run camera:realsense --view              # and watch it in the browser",
    "posepipe run camera:realsense --stream osc://:9000 --stream tcp://:5000",
    "posepipe run walk.bag --topic /camera/depth/image_rect_raw --start 10 --end 20 --rotate 90",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    add_pipeline_arguments(parser)
    add_sink_arguments(parser)
    add_watch_arguments(parser)


def run(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.models.registry import model_identity, model_path

    if args.bvh and args.no_tracking and args.people != 1:
        raise PosepipeError("--bvh needs to know who is who from frame to frame; leave out --no-tracking")
    check_files(Path(args.source), args)
    path = model_path(args.model)
    forest = DepthForest.load(path)
    pipeline = pipeline_maker(args, forest)()
    pipeline.smoother = pipeline.smoother if args.smooth else None
    with watched(args, forest.body) as watchers:
        _find_people(args, pipeline, model_identity(path), watchers)


def _find_people(args: argparse.Namespace, pipeline: Pipeline, model: str, watchers: list[FrameSink]) -> None:
    """Results of the whole source to all the sinks, and lines that say how many and where they are."""
    from apps.progress import ProgressBar
    from posepipe.sinks.files.json_lines import ResultsHeader
    from posepipe.sinks.many import CountingSink, ManySinks
    from posepipe.sources.cameras import LiveSource
    from posepipe.sources.playback import NeverEmptySource

    opened = open_named(args)
    source = NeverEmptySource(play_as_asked(opened, args))
    header = ResultsHeader(pipeline.parts.body.joints, str(args.source), model, start_time_ns=source.start_time_ns)
    sinks = make_sinks(args, header, pipeline.parts.body)
    bar = ProgressBar(source.frame_count, "run", "frames")
    counter = CountingSink(bar.update)
    told_on = sys.stderr if is_standard_output(args.out) else sys.stdout
    try:
        with bar:
            pipeline.run(source, ManySinks([*sinks, *watchers, counter]))
    finally:  # a camera is ended by Ctrl-C, or by being unplugged
        if counter.frames:
            lost = f" ({opened.dropped} dropped)" if isinstance(opened, LiveSource) else ""
            count = f"{counter.frames} frames{lost}, {counter.with_people} with somebody in view -> {args.out}"
            for line in (count, *what_was_written(args, sinks)):
                print(line, file=told_on)
