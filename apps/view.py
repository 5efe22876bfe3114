"""``posepipe view``: a dataset or a recording as one picture of many frames."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apps.arguments import picture_file, positive

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.frames import DepthFrame, LabelledFrame

HELP = "see a dataset or a recording: a contact sheet, many frames in one picture"
EXAMPLES = (
    "posepipe view data/train --sheet train.png                 # 100 frames, evenly spread",
    "posepipe view frames/ --sheet frames.png --every 10 --whole",
)
MOST_TILES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="dataset, recording, folder of PNGs, TUM folder or NPZ pack")
    parser.add_argument("--sheet", type=picture_file, metavar="FILE.png", help="write a contact sheet")
    parser.add_argument("--frames", type=positive, default=100, metavar="N", help="most frames on it (default: 100)")
    parser.add_argument(
        "--every", type=positive, metavar="K", help="every K-th frame from the first on, instead of evenly spread"
    )
    parser.add_argument("--whole", action="store_true", help="whole frames, instead of the person with a margin")
    parser.add_argument("--camera", metavar="PRESET|FILE", help="calibration instead of the source's own")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.sinks.contact_sheet import draw_sheet, draw_tile, write_sheet

    if args.sheet is None:
        raise PosepipeError(f"view {args.source}: a live view is not there yet; give --sheet FILE.png")
    if args.frames > MOST_TILES:
        raise PosepipeError(f"--frames {args.frames}: a contact sheet has room for {MOST_TILES}; give fewer")
    _refuse_to_mix(Path(args.source), args.sheet)
    with _open(args.source, args.camera) as shown:
        rows = _rows(shown.count, args.frames, args.every)
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
    from posepipe.dataset import Dataset
    from posepipe.recording import RecordingReader
    from posepipe.sources import open_source
    from posepipe.sources.dataset_folder import DatasetFolder
    from posepipe.sources.recording import RecordingSource

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
