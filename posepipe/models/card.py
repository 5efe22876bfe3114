"""Model cards: Markdown with blocks that are generated from the model file; the rest is written by hand.

A block stands between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` and is replaced whenever the card is written.
Block ``made`` describes the origin of the model, ``figures`` its accuracy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.io.files import name_text, read_regular, replace_file
from posepipe.joints.joint_parameters import JointParameters
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_classifier.person_classifier import MIN_PROBABILITY

HEADINGS = {"made": "How it was made", "figures": "Figures"}
"""Blocks in the order of a new card, with their headings."""
PURPOSE_PLACEHOLDER = "*Write here what this model is for, and what it is not for.*"


def write_card(model: str | Path, figures: Mapping[str, Mapping[str, Any]] | None = None) -> Path:
    """Write the card of a model file: a new one, or the blocks of an existing one.

    Parameters
    ----------
    model : path of the model file, which is only read
    figures : `Report.summary` by title of the frames; None = those in the model's header

    Returns
    -------
    Path
        The card, beside the model.

    Raises
    ------
    FormatError
        When the file is no model, or the card is not UTF-8 or lacks one end of a block.
    """
    model = Path(model)
    stored = PoseModel.load(model)
    card = model.with_suffix(".md")
    if figures is None:
        figures = stored.metadata.get("figures", {})
    text = _read(card) if card.is_file() else f"# {model.stem}\n\n{PURPOSE_PLACEHOLDER}\n"
    try:
        made = describe_origin(stored, model.stat().st_size)
        tables = figure_tables(figures)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(model, f"history or figures in its header are damaged ({error!r:.200})") from error
    text = _with_block(card, text, "made", made)
    text = _with_block(card, text, "figures", tables)
    replace_file(card, name_text(text).encode())
    return card


def _read(card: Path) -> str:
    content = read_regular(card)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(card, f"wanted a card in UTF-8, or none, got other bytes ({error.reason})") from None


def _with_block(card: Path, text: str, name: str, content: str) -> str:
    """Replace the content of a block, or append the block where it is missing."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    block = f"{start}\n\n{content}\n\n{end}" if content else f"{start}\n{end}"
    if start not in text and end not in text:
        return f"{text.rstrip()}\n\n## {HEADINGS[name]}\n\n{block}\n"
    before, _, rest = text.partition(start)
    _, ended, after = rest.partition(end)
    if not ended:
        raise FormatError(card, f"wanted a line {start} and after it a line {end}, got one of the two; add the other")
    return before + block + after


def describe_origin(model: PoseModel, file_bytes: int) -> str:
    """Describe the origin of a model in Markdown; rows without metadata are left out."""
    header, forest, trees = model.metadata, model.forest, model.forest.trees
    size = (
        f"{len(trees)} tree{'s' if len(trees) > 1 else ''} of up to {max(tree.depth() for tree in trees)} levels,"
        f"{' walked as their mirror images too,' if forest.symmetric else ''}"
        f" {sum(tree.n_nodes for tree in trees):,} nodes, {sum(tree.n_leaves for tree in trees):,} leaves;"
        f" body {forest.body.name}: {len(forest.body.parts)} parts, {len(forest.body.joints)} joints;"
        f" {file_bytes / 1e6:.1f} MB."
    )
    paragraphs = [size, _changes(header), _joints_from(model.joint_parameters), _second_pass(model), _origins(header)]
    if "out_of_bag" in header and not header.keys() & {"trees_kept", "pruned"}:  # it is that of whole trees, of all
        paragraphs.append(f"{describe_out_of_bag(header['out_of_bag'])}.")
    of_segmentation, of_filter = header.get("segmentation", {}), header.get("person_filter", {})
    of_background, of_second_pass = header.get("background", {}), _about_second_pass(model)
    of_views = header.get("view_choice", {})
    paragraphs += [_segmentation(model, of_segmentation), _background(of_background), _person_filter(model, of_filter)]
    paragraphs.append(_view_choice(model, of_views))
    typed = (
        header.get("command"),
        header.get("joint_command"),
        *(own.get("command") for own in (of_second_pass, of_segmentation, of_background, of_filter, of_views)),
    )
    commands = dict.fromkeys(line for line in typed if line)
    if commands:
        paragraphs += ["By command (folders left out):", _fenced("sh", "\n".join(commands))]
    if "training" in header:
        paragraphs += ["Parameters of the trees:", _fenced("toml", _toml(header["training"]))]
    paragraphs += _recipes(
        {
            "trees": header.get("recipes", []),
            "joint parameters": header.get("joint_recipes", []),
            "second pass": of_second_pass.get("recipes", []),
            "segmentation": of_segmentation.get("recipes", []),
            "weight of class 0": of_background.get("recipes", []),
            "person filter": of_filter.get("recipes", []),
            "choice of views": of_views.get("recipes", []),
        }
    )
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _recipes(used: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Paragraphs of the recipes that stages were trained on, each once.

    Of several recipes for the same stages, the first is written whole, and the others by what differs from it.
    """
    stages: dict[str, list[str]] = {}
    for stage, recipes in used.items():
        for recipe in filter(None, recipes):  # a recording by itself has none
            named = stages.setdefault(json.dumps(recipe), [])
            named += [stage] if stage not in named else []
    paragraphs: list[str] = []
    first: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for text, named in stages.items():
        fields = json.loads(text)
        title = f"Recipe of the frames for the {' and the '.join(named)}{_taken_out(fields)}"
        whole = first.setdefault(tuple(named), fields)
        if whole is not fields and whole.keys() == fields.keys():
            title, fields = f"{title}, as the first of these but for", differing_fields(fields, whole)
        paragraphs += [f"{title}:", _fenced("toml", _toml(fields))]
    return paragraphs


def _taken_out(fields: dict[str, Any]) -> str:
    """Take out what `posepipe synth` tells beside its recipe, which --recipe would refuse, and name it."""
    told = {name: fields.pop(name, None) for name in ("pose_bank", "furniture_bank", "backgrounds", "creature")}
    if told["creature"]:
        told["creature"] = told["creature"]["name"]
    return "".join(f", {name.replace('_', ' ')} {str(value)[:16]}" for name, value in told.items() if value)


def differing_fields(fields: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields, also of tables inside, that are not those of ``whole``."""
    differing = {}
    for name, value in fields.items():
        known = whole.get(name)
        if isinstance(value, dict) and isinstance(known, dict):
            value = differing_fields(value, known)
        if value not in (known, {}):
            differing[name] = value
    return differing


def _changes(header: Mapping[str, Any]) -> str:
    """What was done to the trees after they were grown."""
    told = {
        "trees_kept": "trees kept",
        "background_weight": "weight of class 0 in the leaves",
        "pruned": "share of the leaves kept, at most",
        "leaf_steps": "steps of the posteriors of leaves",
    }
    done = [f"{text}: {header[name]:g}" for name, text in told.items() if name in header]
    return f"Changed after training: {', '.join(done)}." if done else ""


def _joints_from(parameters: JointParameters) -> str:
    sources = {"parts": "surfaces", "votes": "votes", "both": "surfaces and votes"}
    return f"Joints follow from {sources[parameters.method]}{_network(parameters)}."


def _network(parameters: JointParameters) -> str:
    network = parameters.refinement
    size = 0 if network is None else sum(weight.size for weight in network.weights)
    return f", corrected by a network of {size:,} weights" if size else ""


def _second_pass(model: PoseModel) -> str:
    if model.second_pass is None:
        return ""
    return (
        "Given these joints, pixels are labelled anew, and joints found from them once more"
        f"{_network(model.second_pass.joint_parameters)}{_trained_on(_about_second_pass(model))}."
    )


def _about_second_pass(model: PoseModel) -> Mapping[str, Any]:
    """Its history; a program that knows no second pass may have kept that alone."""
    return {} if model.second_pass is None else model.metadata.get("second_pass", {})


def _segmentation(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.segmentation is None:
        return ""
    nodes = sum(tree.n_nodes for tree in model.segmentation.trees)
    return f"People in whole frames are found by a segmentation forest of {nodes:,} nodes{_trained_on(about)}."


def _background(about: Mapping[str, Any]) -> str:
    """How the weight of class 0 was found, by `posepipe.training.fit_background_weight`."""
    if not about:
        return ""
    return (
        f"In {about['candidates']:,} candidates of people, of {about['frames']:,} frames (content {about['identity']}),"
        f" class 0 has a share of {about['share']:.3f} of the pixels; before it was weighed, its mean probability was"
        f" {about['mean_probability']:.3f}."
    )


def _person_filter(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.person_classifier is None:
        return ""
    trees = len(model.person_classifier.trees.roots)
    of = f" ({about['people']:,} people among {about['candidates']:,} candidates)" if "people" in about else ""
    judged = f"Candidates are judged by a person filter of {trees} trees{_trained_on(about)}{of}."
    minimum = model.person_classifier.min_probability
    if minimum != MIN_PROBABILITY:
        judged += f" It takes them for people from a probability of {minimum:g} on."
    return judged + _left_out(about["left_out"], about.get("folds_of")) if about.get("left_out") else judged


def _view_choice(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.view_choice is None:
        return ""
    of = f" ({about['people']:,} choices)" if "people" in about else ""
    chosen = (
        f"Among rotated views of people who lie, bend or are upside down, {len(model.view_choice.trees.roots)} trees"
        f" choose{_trained_on(about)}{of}."
    )
    if not about.get("left_out"):
        return chosen
    unseen = _unseen(about.get("folds_of"))
    shares = about["left_out"]
    return chosen + (
        f" On {unseen}, {shares['right']:.3f} of these people's visible joints are right at first, instead of"
        f" {shares['by_rule']:.3f} by the rule of models without such trees, and {shares['at_best']:.3f} at best."
    )


def _unseen(folds_of: str | None) -> str:
    return "thirds of these datasets that were left out in turn" if folds_of == "frames" else "datasets left out"


def _left_out(point: Mapping[str, float], folds_of: str | None) -> str:
    """Describe a filter on frames that it has not seen, `posepipe.training.fit_person_classifier.OperatingPoint`."""
    return (
        f" At a probability of {point['min_probability']:.2f}, on {_unseen(folds_of)}, it accepts {point['found']:.3f}"
        f" of the candidates that are people, and somebody in {point['false_frames']:.3f} of the frames without people."
    )


def _trained_on(about: Mapping[str, Any]) -> str:
    if "frames" not in about:
        return ""
    took = f" in {_duration(about['seconds'])}" if "seconds" in about else ""
    return (
        f", trained on {_count(about['frames'])} frames (content {about['identity']}){took} by posepipe"
        f" {about['source_revision']}"
    )


def describe_out_of_bag(about: Mapping[str, Any]) -> str:
    """Describe the out-of-bag accuracy of a forest, `posepipe.training.out_of_bag.OutOfBagAccuracy.to_dict`."""
    alone = ", ".join("-" if value is None else f"{value:.3f}" for value in about["of_trees"])
    together = "-" if about["part_accuracy"] is None else f"{about['part_accuracy']:.3f}"
    return (
        f"Out-of-bag part accuracy {together} ({_count(about['frames'])} training frames, each classified by the trees"
        f" that were not grown on it; single trees {alone})"
    )


def _origins(header: Mapping[str, Any]) -> str:
    """Table of origins, one column for the trees and one for the joint parameters."""
    rows = {
        "frames": [_count(header.get("training_frames")), _count(header.get("joint_frames"))],
        "their content": [header.get(f"{of}frames_identity", "") for of in ("", "joint_")],
        "they were made by posepipe": [_unique(header.get(f"{of}frames_revisions", ())) for of in ("", "joint_")],
        "learned by posepipe": [header.get(f"{of}source_revision", "") for of in ("", "joint_")],
        "which took": [_duration(header.get(f"{of}seconds")) for of in ("", "joint_")],
    }
    if header.get("resumed"):
        rows["which took"][0] += " since it was resumed"
    lines = [f"| {name} | {trees} | {joints} |" for name, (trees, joints) in rows.items() if trees or joints]
    return "\n".join(["| origin | trees | joint parameters |", "|---|---|---|", *lines]) if lines else ""


def figure_tables(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Format figures of a model (`Report.summary`), by title of the frames, in Markdown; None is left out."""
    return "\n\n".join(f"### {title}\n\n{_table(summary)}" for title, summary in figures.items())


def _table(summary: Mapping[str, Any]) -> str:
    lines = ["| figure | value |", "|---|---|"]
    lines += [f"| {name} | {value:.3f} |" for name, value in summary["headline"].items() if value is not None]
    titles = {
        "ap": "AP at 10 cm",
        "within_10cm": "visible within 10 cm",
        "hidden_within_15cm": "hidden within 15 cm",
    }
    joints = {joint: row for joint, row in summary["joints"].items() if any(row[c] is not None for c in titles)}
    columns = [c for c in titles if any(row[c] is not None for row in joints.values())]
    if not columns:
        return "\n".join(lines)
    lines += ["", f"| joint |{''.join(f' {titles[c]} |' for c in columns)}", "|---" * (len(columns) + 1) + "|"]
    for joint, row in joints.items():
        lines.append(f"| {joint} |" + "".join(" |" if row[c] is None else f" {row[c]:.2f} |" for c in columns))
    return "\n".join(lines)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _unique(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _toml(fields: Mapping[str, Any], table: str = "") -> str:
    """Format plain data as TOML; fields that are None or empty are left out."""
    own = {name: value for name, value in fields.items() if value not in (None, [], (), {}, "")}
    lines = [f"{_key(name)} = {json.dumps(value)}" for name, value in own.items() if not isinstance(value, dict)]
    for name, value in own.items():
        if isinstance(value, dict):
            lines += ["", f"[{table}{_key(name)}]", _toml(value, f"{table}{_key(name)}.")]
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
