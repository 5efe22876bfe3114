"""``posepipe run``: find people's joints in a source, and write, record or stream them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from apps.options.cluster_option import add_cluster_option
from apps.options.page_options import add_watch_options, watched
from apps.options.pipeline_options import add_pipeline_options, pipeline_maker
from apps.options.sink_options import (
    add_sink_options,
    check_outputs,
    is_standard_output,
    what_was_written,
)
from apps.options.source_options import add_source_options, open_named
from apps.running.run_cameras import run_cameras
from apps.running.run_folder import run_folder
from apps.running.source_run import SourceRun
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from posepipe.models.pose_model import PoseModel
    from posepipe.pipeline import Pipeline
    from posepipe.sinks import FrameSink
    from posepipe.sources import FrameSource

NOBODY_FRAMES = 30
NOBODY = (
    "nobody was found; if there is somebody: is the picture upright (--rotate), do `posepipe info` and a tape measure"
    " agree on distances, is the whole body in view? (docs/getting-started/first-recording.md)"
)
"""What to try where that many frames show nobody."""
HELP = "find people's 3D joints in depth frames, and write, record or stream them"
EXAMPLES = (
    "posepipe run frames/ --out results.jsonl           # a folder of 16-bit PNGs with camera.json",
    "posepipe run pack.npz --out results.jsonl --video results.mp4",
    "posepipe run pack.npz --max-people 1 --no-tracking # one person a frame, every frame alone",
    "posepipe run walk.mcap --min-confidence 0.4        # only people whose joints have this mean confidence",
    "posepipe run walk.mcap --background empty.mcap     # what a recording of the empty scene shows is no person",
    "posepipe run rgbd_dataset/ --camera camera.json --model my_model.npz",
    "posepipe run walk.mcap --out walk.csv --bvh walk.bvh --record found.mcap",
    "posepipe run walk.mcap --motion walk.c3d --motion walk.glb  # for biomechanics, for animation",
    "posepipe run walk.mcap --masks masks              # whose pixel each is, and which part, as PNGs",
    "posepipe run camera:realsense --view               # also shown in the browser",
    "posepipe run camera:realsense --stream osc://:9000 --stream tcp://:5000",
    "posepipe run recordings/ --out results/ --cluster local   # every recording of a folder, on all cores",
    "posepipe run recordings/ --out results/ --cluster local --resume   # those without results, as after Ctrl-C",
    "posepipe run left.mcap right.mcap --extrinsics left.json --extrinsics right.json  # two cameras",
    "posepipe run walk.bag --topic /camera/depth/image_rect_raw --start 10 --end 20 --rotate 90",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser, several=True)
    add_pipeline_options(parser)
    add_sink_options(parser)
    add_watch_options(parser)
    add_cluster_option(parser, "run every recording of the folder SOURCE, with a file of results for each in --out,")
    parser.add_argument(
        "--resume", action="store_true", help="with --cluster: leave out recordings that have results in --out"
    )


def run(args: argparse.Namespace) -> None:
    """Check the options and the source, then find the people of the whole source."""
    from apps.terminal.compilation import kernels_compiled
    from posepipe.errors import PosepipeError

    if (args.bvh or args.motion) and args.no_tracking and args.max_people != 1:
        option = "--bvh" if args.bvh else "--motion"
        raise PosepipeError(
            f"{option} follows each person over time and needs tracking; leave out --no-tracking, or add --max-people 1"
        )
    if args.resume and not args.cluster:
        raise PosepipeError("--resume leaves out recordings of a folder that --cluster has run; leave it out")
    _refuse_results([args.source, *args.further])
    if args.further:
        run_cameras(args)
        return
    if args.cluster:
        run_folder(args)
        return
    check_outputs(args)
    opened = open_named(args)  # before the model: its errors come at once

    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_identity, model_path

    path = model_path(args.model)
    with kernels_compiled(live=opened.frame_count is None):
        model = PoseModel.load(path)
        make, smooth = pipeline_maker(args, model)
        pipeline = make()
    pipeline.smoother = pipeline.smoother if smooth else None
    with watched(args, model.body) as watchers:
        _find_people(args, opened, pipeline, model, model_identity(path), watchers)


def _refuse_results(sources: Sequence[str]) -> None:
    """Refuse results of an earlier run, before the outputs are checked: the default one may be the same file."""
    from posepipe.errors import SourceError
    from posepipe.sinks.files.results_reader import is_results
    from posepipe.sources import RESULTS_HOLD_NO_DEPTH

    for source in sources:
        if is_results(source):
            raise SourceError(source, RESULTS_HOLD_NO_DEPTH)


def _find_people(
    args: argparse.Namespace,
    opened: FrameSource,
    pipeline: Pipeline,
    model: PoseModel,
    identity: str,
    watchers: Sequence[FrameSink],
) -> None:
    """Send the results of the whole source to all sinks, then print how many there are and where."""
    from apps.running.upright_check import UprightCheck
    from apps.terminal.progress import ProgressBar
    from posepipe.pipeline import Pipeline
    from posepipe.sinks.counting import CountingSink
    from posepipe.sources.cameras import LiveSource

    alone = Pipeline.from_model(model, tracking=False, foreground=args.foreground, fit=False)
    alone.rotated_views = None  # they find some of the people who are upside down, and miss the others
    of_source = SourceRun(args, opened, pipeline, identity)  # a camera begins
    if args.extrinsics is None and args.background is None:  # both are of the camera as it hangs
        watchers = [*watchers, UprightCheck(alone, opened.name, args.rotate, of_source.source.frame_count)]
    bar = ProgressBar(of_source.source.frame_count, "run", "frames")
    counter = CountingSink(bar.update)
    summary_file = sys.stderr if is_standard_output(args.out) else sys.stdout
    try:
        with bar:
            of_source.play([*watchers, counter])
    finally:  # a camera ends with Ctrl-C, or when it is unplugged
        if counter.frames:
            lost = f" ({opened.dropped} dropped)" if isinstance(opened, LiveSource) else ""
            seen = f"{counted(counter.frames, 'frame')}{lost}, {counter.frames_with_people} with people in view"
            for line in (f"{seen} -> {args.out}", *what_was_written(args, of_source.sinks)):
                show(line, file=summary_file)
        if counter.frames >= NOBODY_FRAMES and not counter.frames_with_people:
            show(NOBODY, file=summary_file)
