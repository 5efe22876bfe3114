"""``posepipe view``: people found live on a page in the browser, or many frames on a contact sheet."""

from __future__ import annotations

import argparse
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.input_files import refuse_to_replace
from apps.options.page_options import add_page_options, leaves_at_end, page_server, plays_for_guests
from apps.options.pipeline_options import add_pipeline_options, pipeline_maker, pipeline_options
from apps.options.source_options import add_source_options, open_named, play_as_asked, refuse_source_options
from apps.options.value_types import png_file, positive
from apps.terminal.interrupts import stop_if_interrupted
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.datasets.dataset import Dataset
    from posepipe.frames import DepthFrame, LabelledFrame
    from posepipe.recording import RecordingReader
    from posepipe.sources import FrameSource

HELP = "show the people found in a source live in the browser, or draw many frames on a contact sheet (--sheet)"
EXAMPLES = (
    "posepipe view walk.mcap                    # play, step, seek, adjust thresholds; docs/guides/live-view.md",
    "posepipe view camera:realsense --open      # and open the browser",
    "posepipe view results.jsonl                # written by `posepipe run`; without depth",
    "posepipe view data/train --sheet train.png                 # 100 evenly spaced frames",
    "posepipe view frames/ --sheet frames.png --frame-step 10 --whole --rotate 90",
)
DEFAULT_TILES, MAX_TILES = 100, 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser)
    parser.set_defaults(frame_step=None)  # a sheet without it spaces its frames evenly
    add_pipeline_options(parser)
    add_page_options(parser)
    group = parser.add_argument_group("a contact sheet instead of the page")
    group.add_argument("--sheet", type=png_file, metavar="FILE.png", help="image to write")
    group.add_argument(
        "--frames", type=positive, metavar="N", help=f"at most N frames, evenly spaced (default: {DEFAULT_TILES})"
    )
    group.add_argument("--whole", action="store_true", help="show whole frames instead of the person with a margin")


def run(args: argparse.Namespace) -> None:
    """Show the source as the options ask."""
    from posepipe.errors import PosepipeError

    if args.sheet is not None:
        _write_sheet(args)
    elif args.frames or args.whole:
        raise PosepipeError("--frames and --whole apply to a contact sheet; add --sheet FILE.png")
    elif _is_results(args.source):
        _play_results(args)
    else:
        _play_source(args)


def _play_source(args: argparse.Namespace) -> None:
    """Find the people of every frame, and show them as they are found."""
    from apps.terminal.compilation import kernels_compiled
    from posepipe.io.files import name_text
    from posepipe.models.pose_model import PoseModel
    from posepipe.sources.cameras import LiveSource
    from posepipe.viewer.playback.analysis import Analysis
    from posepipe.viewer.session import play_source

    args.frame_step = args.frame_step or 1
    opened = open_named(args)
    live = isinstance(opened, LiveSource)
    title = args.source if live else name_text(Path(args.source).resolve().name)
    played = play_as_asked(opened, args)
    with kernels_compiled(live):
        model = PoseModel.load(args.model)
        analysis = Analysis(*pipeline_maker(args, model))
    with played as source, page_server(args) as server:
        play_source(
            server,
            source,
            analysis,
            model.body,
            title,
            live,
            dropped=lambda: getattr(opened, "dropped", 0),
            on_end=lambda: leaves_at_end(args) if live else args.close_at_end,
            on_poll=stop_if_interrupted,
            for_guests=not live and plays_for_guests(args),
        )


def _play_results(args: argparse.Namespace) -> None:
    """Show the joints that `run` wrote."""
    from posepipe.errors import PosepipeError
    from posepipe.io.files import name_text
    from posepipe.sinks.files.results_reader import read_results
    from posepipe.viewer.session import play_results

    refuse_source_options(args, args.source)
    if given := pipeline_options(args):
        raise PosepipeError(f"{args.source} are results; {given[0]} says how people are found, leave it out")
    results = read_results(args.source)
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    with page_server(args) as server:
        name, for_guests = name_text(Path(args.source).name), plays_for_guests(args)
        play_results(server, results, name, lambda: args.close_at_end, stop_if_interrupted, for_guests)


def _is_results(source: str) -> bool:
    """Return whether the content begins as JSON does, after the mark of an editor; no source of frames does."""
    from posepipe.io.files import disk_errors, open_regular

    path = Path(source)
    with disk_errors(path):
        if not path.is_file():
            return False
        with open_regular(path) as file:
            return file.read(len(BOM_UTF8) + 1).removeprefix(BOM_UTF8).startswith(b"{")


def _write_sheet(args: argparse.Namespace) -> None:
    from apps.terminal.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.sinks.images.contact_sheet import draw_sheet, draw_tile, write_sheet

    _check_sheet(args)
    with _open(args) as shown:
        rows = _rows(shown.count, args.frames or DEFAULT_TILES, args.frame_step)
        tiles = []
        with ProgressBar(len(rows), "view", "frames") as bar:
            for frame in shown.pick(rows):
                tiles.append(draw_tile(frame, shown.body, args.whole))
                bar.update()
    if not tiles:
        raise PosepipeError(f"{args.source}: all chosen frames are damaged; {args.sheet} was not written")
    drawn = f"{len(tiles)} of {counted(shown.count, 'frame')}"
    write_sheet(args.sheet, draw_sheet(tiles, f"{shown.about}; {drawn}"))
    show(f"{drawn} -> {args.sheet}")


def _check_sheet(args: argparse.Namespace) -> None:
    """Refuse cameras, options that do not apply to a sheet, too many frames, and a sheet among what is read."""
    from posepipe.errors import PosepipeError
    from posepipe.sources.cameras import is_camera_name

    if is_camera_name(args.source):
        raise PosepipeError(f"--sheet shows files and folders; first: posepipe record {args.source} FILE.mcap")
    if _is_results(args.source):
        raise PosepipeError(f"{args.source} are results, and --sheet shows depth; give the source that they are of")
    if args.colour is not None or args.realtime:
        raise PosepipeError("--sheet shows depth, all frames at once; leave out --colour and --realtime")
    if given := pipeline_options(args):
        raise PosepipeError(f"--sheet shows depth without the people found; leave out {given[0]}")
    if args.frames and args.frames > MAX_TILES:
        raise PosepipeError(f"--frames {args.frames}: a contact sheet has room for {MAX_TILES}; give fewer")
    source, sheet = Path(args.source), args.sheet
    if source.resolve() in (sheet.resolve(), *sheet.resolve().parents):
        raise PosepipeError(f"--sheet {sheet} would lie among the frames of the source; give another folder")
    refuse_to_replace(args, [("--sheet", sheet)])


def _rows(count: int, max_rows: int, frame_step: int | None) -> Sequence[int]:
    """Return the indices of the frames to show, in order: every K-th, or evenly spaced."""
    if frame_step is not None:
        return range(0, count, frame_step)[:max_rows]
    max_rows = min(max_rows, count)
    return [i * (count - 1) // max(max_rows - 1, 1) for i in range(max_rows)]


@dataclass(frozen=True)
class _Shown:
    """Frames to choose from."""

    about: str
    count: int
    frames: FrameSource | RecordingReader | Dataset  #: with random access
    body: BodyDefinition | None = None  #: body of the labels, if there are labels

    def pick(self, rows: Sequence[int]) -> Iterator[DepthFrame | LabelledFrame]:
        """Yield the frames of these increasing indices; damaged ones are left out, with a warning."""
        from posepipe.sources.base.indexed_source import undamaged_frames

        return undamaged_frames(self.frames, rows)


@contextmanager
def _open(args: argparse.Namespace) -> Iterator[_Shown]:
    """Open labelled frames if there are labels; otherwise depth frames, to be played as the arguments say."""
    from posepipe.datasets.dataset import Dataset
    from posepipe.recording import RecordingReader
    from posepipe.sources.formats.dataset_folder import DatasetFolder
    from posepipe.sources.formats.recording_file import RecordingSource

    name, about = args.source, Path(args.source).resolve().name
    with open_named(args) as source:
        lens = f"{about}, f {source.intrinsics.fx:.1f} px"
        if args.camera is None and isinstance(source, DatasetFolder):
            _check_shown_as_they_are(args)
            with Dataset.open(name) as dataset:
                sensor = dataset.recipe.get("sensor")
                sensor = sensor.get("name") if isinstance(sensor, dict) else sensor
                about = f"{about}, sensor {sensor}" if sensor else lens
                yield _Shown(about, len(dataset), dataset, dataset.body)
                return
        if args.camera is None and isinstance(source, RecordingSource):
            with RecordingReader(name, depth_topic=args.topic) as reader:
                if reader.labelled:
                    _check_shown_as_they_are(args)
                    yield _Shown(lens, len(reader), reader, reader.body)
                    return
        played = play_as_asked(source, argparse.Namespace(**{**vars(args), "frame_step": 1}))
        assert played.frame_count is not None  # `_check_sheet` refuses cameras
        yield _Shown(lens, played.frame_count, played)


def _check_shown_as_they_are(args: argparse.Namespace) -> None:
    """Refuse options that change which frames are played, or how: labels are shown as they were rendered."""
    from posepipe.errors import PosepipeError

    given = {"--start": args.start, "--end": args.end, "--mirror": args.mirror, "--rotate": args.rotate}
    if asked := [option for option, value in given.items() if value]:
        raise PosepipeError(f"{args.source}: a sheet shows labelled frames as they are; leave out {asked[0]}")
