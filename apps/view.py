"""``posepipe view``: people found before your eyes, on a page; or many frames in one picture."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apps.arguments import picture_file, positive
from apps.live_view import (
    add_page_arguments,
    add_pipeline_arguments,
    leaves_at_end,
    page_server,
    pipeline_maker,
    stop_if_interrupted,
)
from apps.source_arguments import add_source_arguments, open_named, play_as_asked

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.frames import DepthFrame, LabelledFrame

HELP = "see people found in a source, live in the browser; or, with --sheet, many frames in one picture"
EXAMPLES = (
    "posepipe view walk.mcap                    # play, step, scrub, turn thresholds; docs/guides/live-view.md",
    "posepipe view camera:realsense --open      # and open the browser",
    "posepipe view results.jsonl                # what `run` found; no depth",
    "posepipe view data/train --sheet train.png                 # 100 frames, evenly spread",
    "posepipe view frames/ --sheet frames.png --every 10 --whole",
)
USUAL_TILES, MOST_TILES = 100, 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    parser.set_defaults(every=None)
    add_pipeline_arguments(parser)
    add_page_arguments(parser)
    group = parser.add_argument_group("instead of a page, a contact sheet")
    group.add_argument("--sheet", type=picture_file, metavar="FILE.png", help="write it here")
    group.add_argument("--frames", type=positive, metavar="N", help="most frames on it, evenly spread (default: 100)")
    group.add_argument("--whole", action="store_true", help="whole frames, instead of the person with a margin")


def run(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    if args.sheet is not None:
        _write_sheet(args)
    elif args.frames or args.whole:
        raise PosepipeError("--frames and --whole are about a contact sheet; add --sheet FILE.png")
    elif _is_results(args.source):
        _play_results(args)
    else:
        _play_source(args)


def _play_source(args: argparse.Namespace) -> None:
    """Every frame as it comes, analysed on the way."""
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.models.registry import model_path
    from posepipe.sources.cameras import LiveSource
    from posepipe.viewer.playback.analysis import Analysis
    from posepipe.viewer.session import play_source

    args.every = args.every or 1
    opened = open_named(args)
    live = isinstance(opened, LiveSource)
    title = args.source if live else Path(args.source).resolve().name
    with play_as_asked(opened, args) as source:
        forest = DepthForest.load(model_path(args.model))
        analysis = Analysis(pipeline_maker(args, forest), args.smooth)
        with page_server(args) as server:
            play_source(
                server,
                source,
                analysis,
                forest.body,
                title,
                live,
                dropped=lambda: getattr(opened, "dropped", 0),
                on_end=lambda: leaves_at_end(args),
                on_turn=stop_if_interrupted,
            )


def _play_results(args: argparse.Namespace) -> None:
    """What `run` has written."""
    from posepipe.sinks.files.json_lines import read_results
    from posepipe.viewer.session import play_results

    results = read_results(args.source)
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    with page_server(args) as server:
        play_results(server, results, Path(args.source).name, lambda: leaves_at_end(args), stop_if_interrupted)


def _is_results(source: str) -> bool:
    """Told from the content: no source of frames is a file that begins like JSON."""
    from posepipe.io.files import disk_errors

    path = Path(source)
    with disk_errors(path):
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(1) == b"{"


def _write_sheet(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.sinks.images.contact_sheet import draw_sheet, draw_tile, write_sheet

    if args.start or args.end is not None or args.mirror or args.rotate or args.topic:
        raise PosepipeError("--sheet shows a source as it is; leave out --start, --end, --mirror, --rotate and --topic")
    most = args.frames or USUAL_TILES
    if most > MOST_TILES:
        raise PosepipeError(f"--frames {args.frames}: a contact sheet has room for {MOST_TILES}; give fewer")
    _refuse_to_mix(Path(args.source), args.sheet)
    with _open(args.source, args.camera) as shown:
        rows = _rows(shown.count, most, args.every)
        tiles = []
        with ProgressBar(len(rows), "view", "frames") as bar:
            for frame in shown.pick(rows):
                tiles.append(draw_tile(frame, shown.body, args.whole))
                bar.update()
    write_sheet(args.sheet, draw_sheet(tiles, f"{shown.about}; {len(tiles)} of {shown.count} frames"))
    print(f"{len(tiles)} of {shown.count} frames -> {args.sheet}")


def _refuse_to_mix(source: Path, sheet: Path) -> None:
    """A sheet must not take the place of a frame, nor lie among frames as one more PNG."""
    from posepipe.errors import PosepipeError

    if source.resolve() in (sheet.resolve(), *sheet.resolve().parents):
        raise PosepipeError(f"--sheet {sheet} would lie among the frames of the source; give another place")


def _rows(count: int, most: int, every: int | None) -> Sequence[int]:
    """Which frames to show, in order."""
    if every is not None:
        return range(0, count, every)[:most]
    most = min(most, count)
    return [i * (count - 1) // max(most - 1, 1) for i in range(most)]


@dataclass(frozen=True)
class _Shown:
    """Frames to choose from."""

    about: str
    count: int
    frames: Iterable[DepthFrame | LabelledFrame]
    frame_at: Callable[[int], DepthFrame | LabelledFrame] | None = None  #: at once; None = only by going through all
    body: BodyDefinition | None = None  #: of the labels, where there are some

    def pick(self, rows: Sequence[int]) -> Iterator[DepthFrame | LabelledFrame]:
        """The frames of these indices, which rise."""
        if self.frame_at is not None:
            yield from map(self.frame_at, rows)
            return
        wanted = set(rows)
        for i, frame in enumerate(self.frames):
            if i in wanted:
                yield frame
            if i >= rows[-1]:
                return


@contextmanager
def _open(name: str, camera: str | None) -> Iterator[_Shown]:
    """Labelled frames where there are labels, depth frames otherwise."""
    from posepipe.datasets.dataset import Dataset
    from posepipe.recording import RecordingReader
    from posepipe.sources import open_source
    from posepipe.sources.formats.dataset_folder import DatasetFolder
    from posepipe.sources.formats.recording_file import RecordingSource

    about = Path(name).resolve().name
    with open_source(name, camera) as source:
        lens = f"{about}, f {source.intrinsics.fx:.1f} px"
        if camera is None and isinstance(source, DatasetFolder):
            with Dataset.open(name) as dataset:
                sensor = dataset.recipe.get("sensor")
                sensor = sensor.get("name") if isinstance(sensor, dict) else sensor
                about = f"{about}, sensor {sensor}" if sensor else lens
                yield _Shown(about, len(dataset), dataset, dataset.__getitem__, dataset.body)
        elif camera is None and isinstance(source, RecordingSource):
            with RecordingReader(name) as reader:
                if not reader.complete:
                    warnings.warn(reader.missing, stacklevel=2)
                body = reader.body if reader.labelled else None
                yield _Shown(lens, len(reader), reader, reader.__getitem__ if reader.seekable else None, body)
        else:
            count = sum(1 for _ in source) if source.frame_count is None else source.frame_count
            yield _Shown(lens, count, source)
