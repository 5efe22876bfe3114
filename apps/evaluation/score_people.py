"""``posepipe evaluate SOURCE... --labels FILE`` and ``--empty``: people found, missed and false."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from apps.evaluation.run_suite import suite_options
from apps.options.pipeline_options import fit_of, told_fit
from apps.options.value_types import seconds, share
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.evaluation.people.evaluate_people import PeopleReport
    from posepipe.evaluation.people.people_frames import PeopleFrames
    from posepipe.models.pose_model import PoseModel
    from posepipe.pipeline import Pipeline


def add_people_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of frames whose people are labelled, and of frames without people."""
    people = parser.add_argument_group("people found, missed and false, in any source of frames")
    people.add_argument(
        "--labels",
        type=Path,
        metavar="FILE.jsonl",
        help="boxes of the people in some or all frames of the DATASETs, which may be any source that `run` reads"
        " (docs/reference/formats.md); each frame is judged alone, or with --tracks as part of its sequence",
    )
    people.add_argument(
        "--empty",
        nargs="*",
        type=Path,
        metavar="SOURCE",
        help="nobody is in these sources, nor in the DATASETs: count false people",
    )
    people.add_argument(
        "--repeat",
        type=seconds,
        metavar="S",
        help="show each frame for S seconds as a still camera would, with noise and tracking, and judge the last",
    )
    people.add_argument(
        "--min-confidence", type=share, metavar="C", help="leave people of mean confidence below C out, as run does"
    )
    people.add_argument("--thresholds", type=Path, metavar="FILE", help="thresholds of the stages, as run takes them")
    people.add_argument("--topic", metavar="NAME", help="depth stream of all sources, where files hold several")


def asks_for_people(args: argparse.Namespace) -> bool:
    """Return whether the arguments ask for people by boxes, and not for joints, parts or tracks."""
    return args.labels is not None or args.empty is not None


def people_options(args: argparse.Namespace) -> list[str]:
    """Return the options given that apply to people by boxes alone."""
    given = {
        "--repeat": args.repeat is not None,
        "--min-confidence": args.min_confidence is not None,
        "--thresholds": args.thresholds,
        "--topic": args.topic,
    }
    return [option for option, value in given.items() if value]


def score_people(args: argparse.Namespace) -> None:
    """Score every model, print the figures, and write them where the arguments say."""
    from apps.terminal.progress import ProgressBar
    from posepipe.evaluation.figures import write_figures
    from posepipe.evaluation.people.evaluate_people import evaluate_people
    from posepipe.evaluation.people.people_report import write_people_report
    from posepipe.models.pose_model import PoseModel

    _check_options(args)
    models = {name: PoseModel.load(name) for name in args.model or ["person"]}
    frames = _open(args)
    title = f"{_names(args)}: {counted(len(frames), 'frame')}, content {frames.identity}{_told_pipeline(args)}"
    show(title)
    reports: dict[str, PeopleReport] = {}
    for name, model in models.items():
        pipeline = make_pipeline(args, model)
        with ProgressBar(len(frames), name, "frames") as bar:
            reports[name] = evaluate_people(pipeline, frames, args.tracks, args.repeat or 0.0, bar.update)
        show(f"\n{name}\n{reports[name].text()}")
    _warn_of_torsos(reports)
    if args.json:
        write_figures(args.json, title, reports)
        show(f"figures -> {args.json}")
    if args.report:
        write_people_report(args.report, title, reports, next(iter(models.values())).body)
        show(f"report -> {args.report}")


def make_pipeline(args: argparse.Namespace, model: PoseModel) -> Pipeline:
    """Make the pipeline of whole frames that `run` would have; frames by themselves are not tracked."""
    from posepipe.pipeline import Pipeline
    from posepipe.thresholds import read_thresholds

    pipeline = Pipeline.from_model(model, tracking=bool(args.tracks or args.repeat), fit=fit_of(args))
    if args.thresholds is not None:
        read_thresholds(args.thresholds).apply(pipeline)
    pipeline.min_confidence = args.min_confidence or 0.0
    return pipeline


def _check_options(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    unwanted = {
        "--card": args.card,
        "--oracle": args.oracle,
        "--whole-frames": args.whole_frames is not None,
        "--frames": args.frames,
        "--smooth": args.smooth,
        "--frame-step": args.frame_step,
        "--gap": args.gap,
    }
    asked = "--labels" if args.labels is not None else "--empty"
    if args.labels is not None and args.empty is not None:
        raise PosepipeError("--labels says where people are, --empty that nobody is there; leave out one of the two")
    if idle := [option for option, value in unwanted.items() if value]:
        raise PosepipeError(f"{idle[0]} does not go with {asked}, which counts people in whole frames; leave it out")
    if given := suite_options(args):
        raise PosepipeError(f"{given[0]} applies to the suite; add --suite DIR, or leave it out")
    if args.tracks and args.repeat is not None:
        raise PosepipeError("--tracks plays sequences, --repeat single frames; leave out one of the two")
    if not (args.datasets or args.empty):
        raise PosepipeError(f"wanted sources to score beside {asked}, got none")


def _open(args: argparse.Namespace) -> PeopleFrames:
    from posepipe.errors import PosepipeError
    from posepipe.evaluation.people.people_frames import PeopleFrames

    if args.labels is not None:
        frames = PeopleFrames.labelled(args.datasets, args.labels, args.camera, args.topic)
    else:
        frames = PeopleFrames.without_people([*args.datasets, *args.empty], args.camera, args.topic)
    if args.tracks and (single := frames.unplayable()):
        raise PosepipeError(
            f"{single}: its frames do not follow one another, and --tracks wants sequences: a recording, a folder of"
            " PNGs, or an NPZ pack with `name` or `timestamp_s`; or judge each frame by itself, without --tracks"
        )
    return frames


def _names(args: argparse.Namespace) -> str:
    names = ", ".join(path.absolute().name for path in (*args.datasets, *(args.empty or ())))
    played = ", played" if args.tracks else f", each for {args.repeat:g} s" if args.repeat else ""
    return names + ("" if args.empty is None else ", nobody in it") + played


def _told_pipeline(args: argparse.Namespace) -> str:
    """What differs from how `run` finds people unless told otherwise; empty for nothing."""
    told = told_fit(args)
    told += f", thresholds of {args.thresholds.name}" if args.thresholds is not None else ""
    return told + (f", mean confidence from {args.min_confidence:g}" if args.min_confidence else "")


def _warn_of_torsos(reports: Mapping[str, PeopleReport]) -> None:
    count = max(report.unmatchable for report in reports.values())
    if count:
        warnings.warn(
            f"{count} labelled people count as missed, because their torso pixel has no reading; move it to one,"
            " or set ignore",
            stacklevel=2,
        )
