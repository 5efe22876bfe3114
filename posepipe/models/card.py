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

from posepipe.errors import FormatError, counted
from posepipe.io.files import name_text, read_regular, replace_file
from posepipe.models.card_stages import STAGES, about_second_pass, count, describe_filters, describe_joints, duration
from posepipe.models.pose_model import PoseModel

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
        f"{counted(len(trees), 'tree')} of up to {max(tree.depth() for tree in trees)} levels,"
        f"{' walked as their mirror images too,' if forest.symmetric else ''}"
        f" {sum(tree.n_nodes for tree in trees):,} nodes, {sum(tree.n_leaves for tree in trees):,} leaves;"
        f" body {forest.body.name}: {len(forest.body.parts)} parts, {len(forest.body.joints)} joints;"
        f" {file_bytes / 1e6:.1f} MB."
    )
    paragraphs = [size, _changes(header), *describe_joints(model), _origins(header)]
    if "out_of_bag" in header and not header.keys() & {"trees_kept", "pruned"}:  # it is that of whole trees, of all
        paragraphs.append(f"{describe_out_of_bag(header['out_of_bag'])}.")
    paragraphs += describe_filters(model)
    of_stages = {title: header.get(name, {}) for name, title in STAGES}
    of_stages["second pass"] = about_second_pass(model)
    typed = (
        header.get("command"),
        header.get("joint_command"),
        *(own.get("command") for own in of_stages.values()),
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
            **{title: own.get("recipes", []) for title, own in of_stages.items()},
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


def describe_out_of_bag(about: Mapping[str, Any]) -> str:
    """Describe the out-of-bag accuracy of a forest, `posepipe.training.out_of_bag.OutOfBagAccuracy.to_dict`."""
    alone = ", ".join("-" if value is None else f"{value:.3f}" for value in about["of_trees"])
    together = "-" if about["part_accuracy"] is None else f"{about['part_accuracy']:.3f}"
    return (
        f"Out-of-bag part accuracy {together} ({count(about['frames'])} training frames, each classified by the trees"
        f" that were not grown on it; single trees {alone})"
    )


def _origins(header: Mapping[str, Any]) -> str:
    """Table of origins, one column for the trees and one for the joint parameters."""
    rows = {
        "frames": [count(header.get("training_frames")), count(header.get("joint_frames"))],
        "their content": [header.get(f"{of}frames_identity", "") for of in ("", "joint_")],
        "they were made by posepipe": [_unique(header.get(f"{of}frames_revisions", ())) for of in ("", "joint_")],
        "learned by posepipe": [header.get(f"{of}source_revision", "") for of in ("", "joint_")],
        "which took": [duration(header.get(f"{of}seconds")) for of in ("", "joint_")],
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


def _unique(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


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
