"""``posepipe evaluate --suite DIR``: render the frozen test sets, score models, fill tables."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.evaluation.people_sets import PeopleSet, people_sets
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.evaluation.suite.sets import SuiteFigures, SuiteSet
    from posepipe.models.pose_model import PoseModel

FIGURES = "figures.json"
"""File of the suite's folder that holds all figures; scored sets are not scored again."""


def add_suite_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the suite."""
    suite = parser.add_argument_group("suite")
    suite.add_argument(
        "--suite",
        type=Path,
        metavar="DIR",
        help="render the frozen test sets into DIR, score every model on them, and write DIR/figures.json; what is"
        " there already is kept",
    )
    suite.add_argument(
        "--set", action="append", dest="sets", metavar="NAME", help="only this set of the suite; may be given again"
    )
    suite.add_argument(
        "--mocap",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="pose bank or captures for the sets of single frames that need more poses than the embedded ones",
    )
    suite.add_argument("--motions", nargs="+", type=Path, metavar="PATH", help="motions or captures for the sequences")
    suite.add_argument(
        "--pack",
        type=Path,
        metavar="PACK.npz",
        help="real frames with another tracker's joints, scored with the offsets between joint definitions"
        " cross-validated over subjects",
    )
    suite.add_argument(
        "--rooms",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="real frames of rooms, scored by the boxes of --labels; with --empty SOURCE also those without people",
    )
    suite.add_argument(
        "--fill",
        nargs="+",
        type=Path,
        default=(),
        metavar="FILE.md",
        help="write the tables of the first model into the blocks <!-- suite: NAME --> of these documents",
    )
    suite.add_argument("--figure", type=Path, metavar="FILE.png", help="draw the sets of single frames as bars")


def suite_options(args: argparse.Namespace) -> list[str]:
    """Return the options given that apply to the suite alone."""
    given = {
        "--set": args.sets,
        "--mocap": args.mocap,
        "--motions": args.motions,
        "--pack": args.pack,
        "--rooms": args.rooms,
        "--fill": args.fill,
        "--figure": args.figure,
    }
    return [option for option, value in given.items() if value]


def run_suite(args: argparse.Namespace) -> None:
    """Render, score and fill, as far as poses and packs for it are given."""
    from posepipe.evaluation.suite.figure_names import OF_PACKS, REAL_FRAMES
    from posepipe.evaluation.suite.sets import SETS, SuiteFigures
    from posepipe.models.header import answer_hash
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_path

    _check_options(args, [*(each.name for each in SETS), *OF_PACKS])
    names = args.model or ["person"]
    models = {name: PoseModel.load(name) for name in names}
    identities = {name: answer_hash(model_path(name)) for name in names}
    figures = SuiteFigures.read(args.suite / FIGURES)
    _tell_of_changed_models(args.suite / FIGURES, figures, identities)
    chosen = args.sets or [*(each.name for each in SETS), *OF_PACKS]
    for suite_set in SETS:
        if suite_set.name not in chosen:
            continue
        mocap = {"embedded": (), "bank": args.mocap, "motions": args.motions}[suite_set.poses]
        if mocap is None:
            option = "--mocap" if suite_set.poses == "bank" else "--motions"
            show(f"{suite_set.name}: left out; it needs {option}")
            continue
        figures = _score_set(args, suite_set, mocap, models, identities, figures)
    if args.pack is not None and REAL_FRAMES in chosen:
        figures = _score_pack(args, models, identities, figures)
    for set_name, people in people_sets(args).items():
        if set_name in chosen:
            figures = _score_people(args, set_name, people, models, identities, figures)
    show(f"figures -> {args.suite / FIGURES}")
    if args.card:
        _fill_cards(names, figures)
    _fill_documents(args.fill, figures, names[0])
    if args.figure is not None:
        _draw(args.figure, figures, names[0])


def _tell_of_changed_models(path: Path, figures: SuiteFigures, identities: Mapping[str, str]) -> None:
    for name, identity in identities.items():
        if figures.identities.get(name, identity) != identity:
            show(f"{path}: its figures are of another {name}, and are dropped; score all sets to show again")


def _check_options(args: argparse.Namespace, known: list[str]) -> None:
    from posepipe.errors import PosepipeError

    unwanted = {
        "DATASET": args.datasets,
        "--json": args.json,
        "--report": args.report,
        "--oracle": args.oracle,
        "--tracks": args.tracks,
        "--whole-frames": args.whole_frames is not None,
        "--repeat": args.repeat is not None,
        "--min-confidence": args.min_confidence is not None,
        "--thresholds": args.thresholds,
        "--camera": args.camera,
        "--topic": args.topic,
    }
    if idle := [option for option, value in unwanted.items() if value]:
        raise PosepipeError(f"{idle[0]} does not go with --suite, which scores its own sets; leave out one of the two")
    if (args.rooms is None) != (args.labels is None):
        raise PosepipeError("--rooms SOURCE and --labels FILE.jsonl go together in the suite; give both or neither")
    if args.empty == []:
        raise PosepipeError("--empty: the suite wants the sources in which nobody is, got none")
    if unknown := sorted(set(args.sets or ()) - set(known)):
        raise PosepipeError(f"--set: the suite has no set {unknown[0]!r}; it has {', '.join(known)}")
    if args.frames and (args.fill or args.card or args.figure):
        raise PosepipeError("--fill, --card and --figure need the whole sets; leave out --frames")
    if args.figure and args.figure.suffix.lower() != ".png":
        raise PosepipeError(f"--figure: wanted a name that ends on .png, got {args.figure}")


def _score_set(
    args: argparse.Namespace,
    suite_set: SuiteSet,
    mocap: tuple[Path, ...],
    models: Mapping[str, PoseModel],
    identities: Mapping[str, str],
    figures: SuiteFigures,
) -> SuiteFigures:
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.evaluation.suite.sets import frames_to_score, score_set, scored_as

    folder = args.suite / suite_set.name
    _render(suite_set, folder, mocap, args.frames)
    frames = open_datasets([folder])
    command = suite_set.command(" ".join(path.name for path in mocap))
    about = {"command": command, "frames": len(frames), "content": frames.identity}
    for name, model in models.items():
        if figures.has(suite_set.name, frames.identity, name, identities[name], scored_as(suite_set)):
            continue
        with ProgressBar(frames_to_score(suite_set, frames), f"{suite_set.name}, {name}", "frames") as bar:
            scores = score_set(suite_set, frames, model, bar.update)
        figures = figures.with_scores(suite_set.name, about, name, identities[name], scores)
        figures.write(args.suite / FIGURES)
    show(f"{suite_set.name}: {counted(len(frames), 'frame')}, content {frames.identity}")
    return figures


def _render(suite_set: SuiteSet, folder: Path, mocap: tuple[Path, ...], frames: int | None) -> None:
    """Render a set; recordings that are whole are kept."""
    from apps import synth

    parser = argparse.ArgumentParser()
    synth.add_arguments(parser)
    typed = [str(folder), "--recipe", suite_set.recipe]
    typed += ["--mocap", *map(str, mocap)] if mocap else []
    typed += ["--sensor", suite_set.sensor] if suite_set.sensor else []
    typed += ["--frames", str(frames or suite_set.frames)] if frames or suite_set.frames else []
    synth.run(parser.parse_args(typed))


def _score_pack(
    args: argparse.Namespace, models: Mapping[str, PoseModel], identities: Mapping[str, str], figures: SuiteFigures
) -> SuiteFigures:
    from apps.terminal.progress import ProgressBar
    from posepipe.evaluation.labelled.labelled_pack import open_labelled
    from posepipe.evaluation.labelled.reference_joints import compare_with_reference
    from posepipe.evaluation.suite.figure_names import BONE_ERRORS, REAL_FRAMES

    for name, model in models.items():
        frames = open_labelled([args.pack], model.body)
        if figures.has(REAL_FRAMES, frames.identity, name, identities[name], (BONE_ERRORS,)):
            continue
        with ProgressBar(len(frames), f"{args.pack.name}, {name}", "frames") as bar:
            compared = compare_with_reference(model, args.pack, bar.update)
        about: dict[str, Any] = {
            "command": f"posepipe evaluate --suite DIR --pack {args.pack.name}",
            "frames": len(frames),
            "content": frames.identity,
            "subjects": len(compared.counted_subjects),
        }
        scores = compared.figures() | {BONE_ERRORS: compared.bone_errors()}
        figures = figures.with_scores(REAL_FRAMES, about, name, identities[name], scores)
        figures.write(args.suite / FIGURES)
    return figures


def _score_people(
    args: argparse.Namespace,
    set_name: str,
    people: PeopleSet,
    models: Mapping[str, PoseModel],
    identities: Mapping[str, str],
    figures: SuiteFigures,
) -> SuiteFigures:
    from apps.terminal.progress import ProgressBar
    from posepipe.evaluation.people.evaluate_people import evaluate_people
    from posepipe.pipeline import Pipeline

    content = people.frames.identity
    about = {"command": people.command, "frames": len(people.frames), "content": content}
    for name, model in models.items():
        if figures.has(set_name, content, name, identities[name]):
            continue
        with ProgressBar(len(people.frames), f"{set_name}, {name}", "frames") as bar:
            pipeline = Pipeline.from_model(model, tracking=people.repeat_s > 0)
            report = evaluate_people(pipeline, people.frames, repeat_s=people.repeat_s, on_frame=bar.update)
        figures = figures.with_scores(set_name, about, name, identities[name], {"people": report.to_dict()})
        figures.write(args.suite / FIGURES)
    show(f"{set_name}: {counted(len(people.frames), 'frame')}, content {content}")
    return figures


def _fill_cards(names: Sequence[str], figures: SuiteFigures) -> None:
    """Write the figures of every set of single frames into each model's card; the model file stays as it is."""
    from posepipe.models.card import write_card
    from posepipe.models.registry import model_path

    for name in names:
        card = write_card(model_path(name), figures.of_single_frames(name))
        show(f"figures of {name} -> {card}")


def _draw(path: Path, figures: SuiteFigures, model: str) -> None:
    import cv2

    from posepipe.evaluation.suite.bar_chart import draw_suite
    from posepipe.io.files import replace_file

    replace_file(path, cv2.imencode(".png", draw_suite(figures, model))[1].tobytes())
    show(f"figure -> {path}")


def _fill_documents(paths: list[Path], figures: SuiteFigures, model: str) -> None:
    from posepipe.evaluation.suite.tables import fill_document, suite_tables

    tables = suite_tables(figures, model)
    for path in paths:
        show(f"{path}: filled {', '.join(fill_document(path, tables)) or 'nothing: its sets were not scored'}")
