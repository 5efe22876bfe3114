"""``posepipe run FOLDER --cluster``: every recording of a folder on its own, on the workers of a cluster.

Results take their name once the recording has been played to its end, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from apps.options.cluster_option import opened_cluster
from apps.options.pipeline_options import pipeline_maker
from apps.options.source_options import open_named
from apps.running.source_run import SourceRun
from apps.terminal.kept_warnings import kept_warnings
from apps.terminal.plain_text import show, show_beside_bars
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.models.pose_model import PoseModel

RESULTS_SUFFIX = ".jsonl"


class _Outcome(NamedTuple):
    recording: str
    frames: int
    frames_with_people: int
    warnings: list[str]
    problem: str | None = None  #: that ended the run

    def lines(self) -> list[str]:
        """What to tell the user, with the name of the recording."""
        lines = [self._named(warning) for warning in self.warnings]
        return lines if self.problem is None else [*lines, f"error: {self._named(self.problem)}"]

    def _named(self, line: str) -> str:
        return line if line.startswith(self.recording) else f"{self.recording}: {line}"


def run_folder(args: argparse.Namespace) -> None:
    """Find the people of every recording of the folder; the results of each are a file in --out.

    Raises
    ------
    PosepipeError
        When the source is no folder of recordings, --out is no folder, an option names a single output, or the results
        to keep are of another model; after all others, when a recording fails.
    """
    from apps.terminal.progress import ProgressBar
    from posepipe.errors import PosepipeError

    _check(args)
    every_job = _jobs(args)
    jobs = [job for job in every_job if not (args.resume and _has_results(job))]
    kept = f" ({len(every_job) - len(jobs)} had results)" if len(jobs) < len(every_job) else ""
    if not jobs:
        show(f"no recording is left{kept} -> {args.out}")
        return
    args.out.mkdir(parents=True, exist_ok=True)
    with opened_cluster(args) as cluster, ProgressBar(None, "run", "frames") as bar:
        assert cluster is not None
        whole = []
        for outcome in cluster.run(_find_people, jobs, bar.update):
            for line in outcome.lines():
                show_beside_bars(f"posepipe: {line}")
            if outcome.problem is None:
                whole.append(outcome)
    frames, with_people = sum(each.frames for each in whole), sum(each.frames_with_people for each in whole)
    played = f"{counted(len(whole), 'recording')}{kept}, {counted(frames, 'frame')}"
    show(f"{played}, {with_people} with people in view -> {args.out}")
    if failed := len(jobs) - len(whole):
        raise PosepipeError(f"{len(whole)} of {counted(len(jobs), 'recording')}; {failed} failed")


def _check(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    single = {
        "--bvh": args.bvh,
        "--motion": args.motion,
        "--masks": args.masks,
        "--record": args.record,
        "--video": args.video,
        "--pictures": args.pictures,
        "--stream": args.stream,
        "--view": args.view,
        "--realtime": args.realtime,
    }
    if given := [option for option, value in single.items() if value]:
        raise PosepipeError(f"{given[0]} is of one recording, and --cluster runs a folder of them; leave out one")
    if args.out.is_file() or args.out.suffix in (RESULTS_SUFFIX, ".csv"):
        raise PosepipeError(f"--out {args.out}: with --cluster every recording has a file of results; name a folder")


def _jobs(args: argparse.Namespace) -> list[argparse.Namespace]:
    """Arguments of one run for each recording."""
    from posepipe.errors import SourceError
    from posepipe.sources import recordings_in

    # the header of results names the source as it was typed; a worker elsewhere needs the whole path
    recordings = recordings_in(Path(args.source).absolute() if args.cluster.scheduler else args.source)
    results = [args.out.absolute() / _results_name(recording) for recording in recordings]
    if len(set(results)) < len(results):
        twice = next(each for each in results if results.count(each) > 1)
        both = " and ".join(recordings[k].name for k, each in enumerate(results) if each == twice)
        raise SourceError(args.source, f"{both} would all write {twice.name}; rename all but one of them")
    given = {name: _found_anywhere(value) if name in _FILES else value for name, value in vars(args).items()}
    return [
        argparse.Namespace(**{**given, "source": str(recording), "out": out})
        for recording, out in zip(recordings, results, strict=True)
    ]


def _results_name(recording: Path) -> str:
    """Name of the file of results: a folder has no suffix, so that 2026.03.01 and 2026.03.02 are two names."""
    return f"{recording.name if recording.is_dir() else recording.stem}{RESULTS_SUFFIX}"


def _has_results(job: argparse.Namespace) -> bool:
    """Whether a recording has results of this model from an earlier run. Raises PosepipeError for those of another."""
    from posepipe.errors import PosepipeError
    from posepipe.models.registry import model_identity, model_path
    from posepipe.sinks.files.results_reader import ResultsReader

    if not job.out.exists():
        return False
    with ResultsReader(job.out) as results:
        header = results.header
    wanted = model_identity(model_path(job.model)), not job.no_tracking
    if (header.model, header.tracked) != wanted:
        have = f"{header.model}{'' if header.tracked else ' without tracking'}"
        raise PosepipeError(f"{job.out} is of {have}; leave out --resume to replace it, or name another --out")
    return True


_FILES = ("model", "camera", "background", "extrinsics", "thresholds", "body_model")


def _found_anywhere(value: str | Path | None) -> str | Path | None:
    """Whole path of what names a file; other values, such as presets, stay."""
    return type(value)(Path(value).absolute()) if value is not None and Path(value).exists() else value


def _find_people(args: argparse.Namespace, on_frames: Callable[[int], None]) -> _Outcome:
    """Find the people of one recording, on a worker; one that cannot be read does not end the work on others."""
    from posepipe.errors import PosepipeError
    from posepipe.io.files import disk_errors
    from posepipe.models.registry import model_identity, model_path
    from posepipe.sinks.counting import CountingSink

    path = model_path(args.model)
    make, smooth = pipeline_maker(args, _model(path))
    pipeline = make()
    pipeline.smoother = pipeline.smoother if smooth else None
    counter, problem = CountingSink(lambda: on_frames(1)), None
    unfinished = args.out.with_name(f"{args.out.stem}.unfinished{RESULTS_SUFFIX}")
    one = argparse.Namespace(**{**vars(args), "out": unfinished})
    with kept_warnings() as warnings:
        try:
            SourceRun(one, open_named(args), pipeline, model_identity(path)).play([counter])
            with disk_errors(args.out):
                os.replace(unfinished, args.out)
        except PosepipeError as error:
            problem = str(error)
    return _Outcome(args.source, counter.frames, counter.frames_with_people, warnings, problem)


@lru_cache(maxsize=1)
def _model(path: Path) -> PoseModel:
    """Model of a file, read once by a worker."""
    from posepipe.models.pose_model import PoseModel

    return PoseModel.load(path)
