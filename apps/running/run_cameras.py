"""``posepipe run SOURCE SOURCE...``: several cameras that see the same people."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from apps.options.each_source import each_source
from apps.options.page_options import watched
from apps.options.pipeline_options import pipeline_maker
from apps.options.sink_options import check_outputs, is_standard_output, make_sinks, what_was_written
from apps.options.source_options import open_together
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.models.pose_model import PoseModel
    from posepipe.multiview.joined_pipeline import JoinedPipeline
    from posepipe.sinks import FrameSink
    from posepipe.sources import FrameSource


def run_cameras(args: argparse.Namespace) -> None:
    """Find the people that several cameras see, and send them to all sinks.

    Raises
    ------
    PosepipeError
        If a source has no extrinsics, or an option is of one source alone.
    """
    from apps.terminal.compilation import kernels_compiled
    from posepipe.camera.extrinsics_file import read_time_offset_s
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_identity, model_path

    _check(args)
    each = each_source(args)
    check_outputs(args)
    offsets_s = [read_time_offset_s(one.extrinsics) for one in each]
    sources = open_together(each, offsets_s)
    path = model_path(args.model)
    with kernels_compiled(live=sources[0].frame_count is None):
        model = PoseModel.load(path)
        joined = _joined(each, model)
    with watched(args, model.body) as watchers:
        _find_people(args, each, sources, offsets_s, joined, model_identity(path), watchers)


def _check(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    sources = 1 + len(args.further)
    poses = len(getattr(args, "given_for_sources", {}).get("extrinsics", []))
    if poses != sources:
        raise PosepipeError(
            f"{sources} sources are joined by the poses of their cameras: wanted --extrinsics FILE for each, got"
            f" {poses}; `posepipe calibrate` finds them"
        )
    if args.cluster:
        raise PosepipeError("--cluster runs each recording of one folder on its own; leave it out, or give one SOURCE")


def _joined(each: list[argparse.Namespace], model: PoseModel) -> JoinedPipeline:
    """Pipeline of all cameras."""
    from posepipe.multiview.joined_pipeline import JoinedPipeline

    cameras, smooth = [], False
    for one in each:
        make, smooth = pipeline_maker(one, model)
        cameras.append(make())
    joined = JoinedPipeline.of(cameras)
    joined.smoother = joined.smoother if smooth else None
    return joined


def _find_people(
    args: argparse.Namespace,
    each: list[argparse.Namespace],
    sources: list[FrameSource],
    offsets_s: list[float],
    joined: JoinedPipeline,
    model: str,
    watchers: list[FrameSink],
) -> None:
    """Send the results of all sources to all sinks, then print how many there are and where."""
    from apps.running.common_view_check import CommonViewCheck
    from apps.running.completed_sinks import CompletedSinks
    from apps.terminal.progress import ProgressBar
    from posepipe.sinks.counting import CountingSink
    from posepipe.sinks.files.json_lines import ResultsHeader

    body, names = joined.fusion.body, tuple(str(one.source) for one in each)
    start_time_ns = sources[0].start_time_ns
    header = ResultsHeader(
        body.joints,
        " + ".join(names),
        model,
        start_time_ns=start_time_ns,
        fitted=joined.body_fitter is not None,
        cameras=names,
        tracked=not args.no_tracking,
    )
    sinks = make_sinks(args, header, body)
    bar = ProgressBar(sources[0].frame_count, "run", "frames")
    counter = CountingSink(bar.update)
    summary_file = sys.stderr if is_standard_output(args.out) else sys.stdout
    try:
        with bar:
            joined.run(sources, CompletedSinks([*sinks, *watchers, CommonViewCheck(), counter]), offsets_s)
    finally:
        if counter.frames:
            seen = f"{counter.frames_with_people} with people in view of {len(sources)} cameras"
            for line in (f"{counted(counter.frames, 'frame')}, {seen} -> {args.out}", *what_was_written(args, sinks)):
                show(line, file=summary_file)
