"""``posepipe explain``: why a pixel gets its body part, probe by probe."""

from __future__ import annotations

import argparse
from itertools import islice
from typing import TYPE_CHECKING

from apps.options.input_files import refuse_to_replace
from apps.options.source_options import add_source_options, open_as_asked
from apps.options.value_types import not_negative, svg_file
from apps.terminal.plain_text import show

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from posepipe.frames import DepthFrame
    from posepipe.inference.person_estimate import PersonEstimate
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.pipeline import Pipeline

MAX_FRAMES = 600
"""Maximum number of frames in which somebody is sought: twenty seconds. Many recordings begin with the empty room."""
HELP = "say why the forest gives a pixel its body part: every probe, in words and drawn on the person"
EXAMPLES = (
    "posepipe explain walk.mcap --part left_hand",
    "posepipe explain walk.mcap --at 120 85 --start 2",
    "posepipe explain walk.mcap --part left_hand --draw hand.svg",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser)
    pixel = parser.add_mutually_exclusive_group(required=True)
    pixel.add_argument("--at", nargs=2, type=not_negative, metavar=("ROW", "COLUMN"), help="pixel of the first frame")
    pixel.add_argument(
        "--part",
        metavar="PART",
        help="the pixel that is most probably this part, such as left_hand, in the first frame that shows somebody",
    )
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument(
        "--foreground",
        choices=["auto", "none"],
        default="auto",
        help="as in posepipe run; none: all pixels with a reading are one person (default: auto)",
    )
    parser.add_argument("--draw", type=svg_file, metavar="FILE", help="draw the probes on the person, as .svg")


def run(args: argparse.Namespace) -> None:
    """Print the path of one pixel through the forest: of the first frame, or of the first that shows the part."""
    from posepipe.io.files import replace_file
    from posepipe.learn.depth.explanation.pixel_path import explain_pixel
    from posepipe.learn.depth.explanation.probe_drawing import draw_probes
    from posepipe.models.pose_model import PoseModel
    from posepipe.pipeline import Pipeline

    if args.draw:
        refuse_to_replace(args, [("--draw", args.draw)])
    model = PoseModel.load(args.model)
    pipeline = Pipeline.from_model(model, tracking=False, foreground=args.foreground)
    with open_as_asked(args) as source:
        frame, people = _first_with_people(args, pipeline, islice(source, 1 if args.at else MAX_FRAMES))
    mask = _mask_at(args, frame, people) if args.at else max(people, key=lambda each: each.pose.confidence).mask
    pixel = tuple(args.at) if args.at else _pixel_of(args.part, model.forest, frame, mask)
    explained = explain_pixel(model.forest, frame.depth_m, mask, pixel, frame.intrinsics)
    show(str(explained))
    if args.draw:
        replace_file(args.draw, draw_probes(explained, frame.depth_m, mask).encode())
        show(f"-> {args.draw}")


def _first_with_people(
    args: argparse.Namespace, pipeline: Pipeline, frames: Iterable[DepthFrame]
) -> tuple[DepthFrame, list[PersonEstimate]]:
    """Return the first frame in which somebody is found, and who; name it where it is another than the first."""
    from apps.terminal.progress import ProgressBar
    from posepipe.errors import PosepipeError

    count = 0
    with ProgressBar(None, "explain", "frames without people") as bar:
        for count, frame in enumerate(frames, start=1):
            candidates = pipeline.foreground.update(frame)
            estimates = [pipeline.estimate(frame, mask, candidates.floor) for mask in candidates.masks()]
            if people := [person for person in estimates if person is not None]:
                if count > 1:
                    bar.write(f"frame {frame.index}, at {frame.timestamp_s:.2f} s, the first that shows somebody")
                return frame, people
            bar.update()
    if not count:
        raise PosepipeError(f"no frame of {args.source} can be read from {args.start:g} s on; give another --start")
    where = "frame" if count == 1 else f"{count} frames"
    raise PosepipeError(f"nobody found in the first {where} of {args.source}; give another with --start")


def _mask_at(args: argparse.Namespace, frame: DepthFrame, people: list[PersonEstimate]) -> np.ndarray:
    """Mask of the person who holds the pixel of --at."""
    from posepipe.errors import PosepipeError

    row, col = args.at
    height, width = frame.depth_m.shape
    if row >= height or col >= width:
        raise PosepipeError(f"--at must lie in the image of {height} rows and {width} columns, got {row} {col}")
    holding = [person.mask for person in people if person.mask[row, col]]
    if not holding:
        raise PosepipeError(f"--at {row} {col} lies on no person of the first frame; see posepipe run --video")
    return holding[0]


def _pixel_of(part: str, forest: DepthForest, frame: DepthFrame, mask: np.ndarray) -> tuple[int, int]:
    """Row and column of the pixel that is most probably a part."""
    import numpy as np

    from posepipe.errors import PosepipeError

    try:
        code = forest.body.part_code(part)
    except ValueError as problem:
        raise PosepipeError(f"--part: {problem}") from None
    parts = forest.predict(frame.depth_m, mask, frame.intrinsics)
    row, col = parts.pixels[int(np.argmax(parts.probabilities[:, code]))]
    return int(row), int(col)
