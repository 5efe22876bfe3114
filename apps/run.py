"""``posepipe run``: people's joints in a recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from apps.arguments import positive, video_file
from apps.source_arguments import add_source_arguments, open_as_asked

HELP = "find people's 3D joints in depth frames and write them as JSON lines"
EXAMPLES = (
    "posepipe run frames/ --out results.jsonl           # a folder of 16-bit PNGs with camera.json",
    "posepipe run pack.npz --out results.jsonl --video results.mp4",
    "posepipe run pack.npz --people 1 --no-tracking     # each frame by itself, and one person in it",
    "posepipe run rgbd_dataset/ --camera camera.json --model my_model.npz",
    "posepipe run walk.bag --topic /camera/depth/image_rect_raw --start 10 --end 20 --rotate 90",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument(
        "--out", type=Path, default=Path("results.jsonl"), metavar="FILE", help="default: results.jsonl"
    )
    parser.add_argument(
        "--foreground",
        choices=["auto", "none"],
        default="auto",
        help="auto: find people before floor and walls, or cut out; none: all that reads is one person (default: auto)",
    )
    parser.add_argument("--people", type=positive, metavar="N", help="keep the N surest people of a frame")
    parser.add_argument("--no-tracking", action="store_true", help="treat every frame alone; ids count from 1")
    parser.add_argument(
        "--smooth", action="store_true", help="smooth the joints of each track; what that costs: docs/tracking.md"
    )
    parser.add_argument("--video", type=video_file, metavar="FILE.mp4", help="also write an annotated video")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="also write an annotated picture a frame")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.learn.depth_forest import DepthForest
    from posepipe.models import model_identity, model_path
    from posepipe.pipeline import Pipeline
    from posepipe.sinks.json_lines import JsonLinesSink
    from posepipe.sinks.many import CountingSink, ManySinks
    from posepipe.sinks.pictures import PictureSink, VideoSink
    from posepipe.smoothing import OneEuroSmoother

    if args.smooth and args.no_tracking:
        raise PosepipeError("--smooth needs to know who is who from frame to frame; leave out --no-tracking")
    _refuse_to_overwrite(Path(args.source), args.out)
    path = model_path(args.model)
    forest = DepthForest.load(path)
    source = open_as_asked(args)
    sinks: list = [
        JsonLinesSink(
            args.out,
            forest.body.joints,
            source=str(args.source),
            model=model_identity(path),
            start_time_ns=source.start_time_ns,
        )
    ]
    if args.video:
        sinks.append(VideoSink(args.video, forest.body))
    if args.pictures:
        sinks.append(PictureSink(args.pictures, forest.body))
    with ProgressBar(source.frame_count, "run", "frames") as bar:
        counter = CountingSink(bar.update)
        pipeline = Pipeline.from_forest(forest, not args.no_tracking, args.foreground)
        pipeline.most_people = args.people
        pipeline.smoother = OneEuroSmoother() if args.smooth else None
        pipeline.run(source, ManySinks([*sinks, counter]))
    print(f"{counter.frames} frames, {counter.with_people} with somebody in view -> {args.out}")


def _refuse_to_overwrite(source: Path, out: Path) -> None:
    """Results must not take the place of the frames they come from."""
    from posepipe.errors import PosepipeError

    inside = source.resolve() in out.resolve().parents and out.suffix != ".jsonl"
    if out.resolve() == source.resolve() or (out.exists() and inside):
        raise PosepipeError(f"--out {out} would replace a file of the source; give another name")
