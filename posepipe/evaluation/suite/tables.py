"""Tables of the suite in Markdown, and the marked blocks of documents that they fill.

A block begins with ``<!-- suite: NAME -->`` and ends with ``<!-- end of suite: NAME -->``. No figure in it is typed by
hand: `posepipe evaluate --suite DIR --fill FILE` writes what stands between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.evaluation.suite.figure_names import (
    BONE_ERRORS,
    CUT_OUT_FIGURES,
    EMPTY_ROOMS,
    REAL_FRAMES,
    REAL_ROOMS,
    STILL,
    WHOLE_FRAME_FIGURES,
    headline,
)
from posepipe.evaluation.suite.fit_table import fit_table
from posepipe.evaluation.suite.markdown import markdown_table, number
from posepipe.evaluation.suite.readme_table import readme_table
from posepipe.evaluation.suite.sets import SuiteFigures, damaged_figures
from posepipe.io.files import disk_errors, replace_file

_BLOCK = re.compile(r"<!-- suite: (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end of suite: (?P=name) -->", re.DOTALL)

#: set -> its title
CUT_OUT_SETS = {
    "embedded-clips": "embedded clips",
    "upside-down": "upside down",
    "near": "near",
    "from-above": "from above",
}
SETS_IN_ROOMS = {
    "rooms": "rooms",
    "furnished-rooms": "furnished rooms",
    "seated": "seated",
    "lying": "lying",
    "bending": "bending",
    "rooms-from-above": "rooms from above",
}
SENSOR_SETS = ("kinect-v2", "azure-nfov", "d435")
"""Sets of the same recipe as the held-out clips, with the noise of other cameras."""
SENSOR_COLUMNS = ("part accuracy", "joint mAP", "visible joints within 10 cm", "hidden joints within 15 cm")
ORACLE_ROWS = (
    *("part accuracy", "joint mAP", "visible joints within 10 cm", "all joints within 10 cm"),
    "hidden joints within 15 cm",
)
_TRACKER_TITLES = {"tracker": "`Tracker`", "nearest pose": "nearest pose"}
_PLAYED_TITLES = {
    "all": "all",
    "frame step 3": "`--frame-step 3`",
    "gap 0.5 s": "`--gap 0.5`",
    "gap 0.9 s": "`--gap 0.9`",
}


def suite_tables(figures: SuiteFigures, model: str) -> dict[str, str]:
    """Make the tables of one model, by the name of their block; tables whose sets were not scored are absent.

    Raises FormatError for damaged figures.
    """
    sets = {name: own for name, own in figures.sets.items() if model in own["models"]}
    makers: dict[str, tuple[Sequence[str], Callable[[Mapping[str, Any]], str]]] = {
        "held-out-clips": (("held-out-clips",), _sets({"held-out-clips": "held-out clips"}, CUT_OUT_FIGURES)),
        "cut-out-sets": (tuple(CUT_OUT_SETS), _sets(CUT_OUT_SETS, CUT_OUT_FIGURES)),
        "by-sensor": (("held-out-clips", *SENSOR_SETS), _by_sensor),
        "sets-in-rooms": (tuple(SETS_IN_ROOMS), _sets(SETS_IN_ROOMS, WHOLE_FRAME_FIGURES)),
        "by-turn": (("held-out-clips",), _by("within_10cm_by_yaw", "turned away by", " deg", "°")),
        "by-distance": (("held-out-clips",), _by("within_10cm_by_distance", "distance", "", "")),
        "oracle": (("held-out-clips",), _oracle),
        "sequences": (("sequences",), _tracking("sequences", {"id switches": 0, "MOTA": 3, "IDF1": 3})),
        "sequences-in-rooms": (
            ("sequences-in-rooms",),
            _tracking(
                "sequences-in-rooms",
                {
                    "people, summed over frames": 0,
                    "missed": 0,
                    "false people": 0,
                    "id switches": 0,
                    "MOTA": 3,
                    "IDF1": 3,
                },
            ),
        ),
        "fit-choice": (("exercises",), fit_table),
        "sequences-gaps": (("sequences",), _gaps),
        "sequences-jitter": (("sequences",), _jitter),
        "real-frames": ((REAL_FRAMES,), _real_frames),
        "real-bones": ((REAL_FRAMES,), _real_bones),
        "real-rooms": ((REAL_ROOMS,), _real_rooms),
        "real-rooms-by-state": ((REAL_ROOMS,), _real_rooms_by_state),
        "empty-rooms": ((EMPTY_ROOMS,), _empty_rooms),
        "still-camera": ((REAL_ROOMS + STILL, EMPTY_ROOMS + STILL), _still_camera),
        "readme": (("held-out-clips", "rooms", "lying", REAL_FRAMES), readme_table),
    }
    own = {name: {**about, "scores": about["models"][model]} for name, about in sets.items()}
    with damaged_figures(f"suite tables of {model}"):
        return {block: make(own) for block, (needed, make) in makers.items() if set(needed) <= set(own)}


def fill_document(path: Path, tables: Mapping[str, str]) -> tuple[str, ...]:
    """Write tables into the marked blocks of a document.

    Returns
    -------
    names of the blocks that were filled; a block without a table stays as it is

    Raises
    ------
    FormatError
        For a document without any block, or with one that has no end.
    """
    with disk_errors(path):
        text = path.read_text(encoding="utf-8")
    begun = re.findall(r"<!-- suite: ([\w-]+) -->", text)
    whole = [match["name"] for match in _BLOCK.finditer(text)]
    if not begun or begun != whole:
        missing = next((name for name in begun if name not in whole), None)
        problem = "no block <!-- suite: NAME -->" if missing is None else f"no line <!-- end of suite: {missing} -->"
        raise FormatError(path, f"has {problem}; nothing was filled")

    def filled(match: re.Match[str]) -> str:
        name = match["name"]
        body = f"\n{tables[name]}\n\n" if name in tables else match["body"]
        return f"<!-- suite: {name} -->\n{body}<!-- end of suite: {name} -->"

    replace_file(path, _BLOCK.sub(filled, text).encode())
    return tuple(name for name in whole if name in tables)


def _sets(titles: Mapping[str, str], figures: Mapping[str, str]) -> Callable[[Mapping[str, Any]], str]:
    """Table of sets: a column a set, a row a figure."""

    def make(own: Mapping[str, Any]) -> str:
        rows = [
            ["frames", *(str(own[name]["frames"]) for name in titles)],
            *([title, *(number(headline(own, name, key)) for name in titles)] for title, key in figures.items()),
            ["content", *(own[name]["content"] for name in titles)],
        ]
        return markdown_table(["figure", *titles.values()], rows)

    return make


def _by(key: str, title: str, unit: str, sign: str) -> Callable[[Mapping[str, Any]], str]:
    def make(own: Mapping[str, Any]) -> str:
        shares = own["held-out-clips"]["scores"]["model"][key]
        known = {name.removesuffix(unit) + sign: share for name, share in shares.items() if share is not None}
        row = ["visible joints within 10 cm", *(number(share, 2) for share in known.values())]
        return markdown_table([title, *known], [row])

    return make


def _by_sensor(own: Mapping[str, Any]) -> str:
    named = {"held-out-clips": "kinect-v1-320", **{name: name for name in SENSOR_SETS}}
    rows = [
        [sensor, str(own[name]["frames"]), *(number(headline(own, name, CUT_OUT_FIGURES[c])) for c in SENSOR_COLUMNS)]
        for name, sensor in named.items()
    ]
    return markdown_table(["sensor", "frames", *SENSOR_COLUMNS], rows)


def _oracle(own: Mapping[str, Any]) -> str:
    titles = {"oracle labels": "oracle labels", "model": "the model's labels", "shuffled labels": "shuffled labels"}
    rows = [
        [name, *(number(headline(own, "held-out-clips", CUT_OUT_FIGURES[name], title)) for title in titles)]
        for name in ORACLE_ROWS
    ]
    return markdown_table(["figure", *titles.values()], rows)


def _track_figures(own: Mapping[str, Any], name: str, tracker: str, played: str = "all") -> Mapping[str, float | None]:
    return own[name]["scores"][played][tracker]["all"]


def _tracking(name: str, columns: Mapping[str, int]) -> Callable[[Mapping[str, Any]], str]:
    def make(own: Mapping[str, Any]) -> str:
        rows = [
            [title, *(number(_track_figures(own, name, tracker)[c], digits) for c, digits in columns.items())]
            for tracker, title in _TRACKER_TITLES.items()
        ]
        return markdown_table(["tracker", *columns], rows)

    return make


def _gaps(own: Mapping[str, Any]) -> str:
    header, rows = ["frames"], []
    for title in _TRACKER_TITLES.values():
        header += [f"id switches, {title}", f"IDF1, {title}"]
    for played, shown in _PLAYED_TITLES.items():
        row = [shown]
        for tracker in _TRACKER_TITLES:
            scores = _track_figures(own, "sequences", tracker, played)
            row += [number(scores["id switches"], 0), number(scores["IDF1"])]
        rows.append(row)
    return markdown_table(header, rows)


def _jitter(own: Mapping[str, Any]) -> str:
    columns = {
        "spread at rest, mm": ("spread at rest, mm", 1),
        "step at rest, mm": ("step at rest, mm", 1),
        "median error of visible joints, mm": ("median error, mm", 0),
        "visible joints within 10 cm": ("joints within 10 cm", 3),
    }
    rows = [
        [title, *(number(_track_figures(own, "sequences", tracker)[key], digits) for key, digits in columns.values())]
        for tracker, title in {"tracker": "as found", "tracker, smoothed": "smoothed"}.items()
    ]
    return markdown_table(["tracks", *columns], rows)


_REAL_ROWS = {
    "offsets removed": "offsets removed, cross-validated",
    "as found": "as they come",
    "offsets removed, all joints": "offsets removed, also joints that fail the check",
}


def _real_frames(own: Mapping[str, Any]) -> str:
    scores = own[REAL_FRAMES]["scores"]
    rows = [
        [shown, number(scores[title]["within 10 cm"]), number(scores[title]["within 15 cm"])]
        for title, shown in _REAL_ROWS.items()
        if title in scores
    ]
    return markdown_table(["compared", "within 10 cm", "within 15 cm"], rows)


def _real_bones(own: Mapping[str, Any]) -> str:
    errors = own[REAL_FRAMES]["scores"].get(BONE_ERRORS, {})  # older figures have none
    shown = {"reference": "the reference", "as found": "posepipe"}
    rows = [[name, f"{100 * errors[title]:.1f} cm"] for title, name in shown.items() if title in errors]
    return markdown_table(["joints of", "error of a joint, at least"], rows)


def _real_rooms(own: Mapping[str, Any]) -> str:
    figures, content = own[REAL_ROOMS]["scores"]["people"], own[REAL_ROOMS]["content"]
    shares = {
        "found": figures["recall"],
        "of those in full view": figures["by visible"].get("full", {}).get("recall"),
        "of upper bodies": figures["by visible"].get("upper", {}).get("recall"),
        "precision": figures["precision"],
        "false people per frame": figures["false people a frame"],
    }
    row = [str(figures["frames"]), str(figures["people"]), *map(number, shares.values()), content]
    return markdown_table(["frames", "people", *shares, "content"], [row])


def _real_rooms_by_state(own: Mapping[str, Any]) -> str:
    states = own[REAL_ROOMS]["scores"]["people"]["by state"]
    rows = [[state, str(each["people"]), number(each["recall"])] for state, each in states.items()]
    return markdown_table(["state", "people", "found"], rows)


def _empty_rooms(own: Mapping[str, Any]) -> str:
    figures, content = own[EMPTY_ROOMS]["scores"]["people"], own[EMPTY_ROOMS]["content"]
    shares = [figures["share of frames with a false person"], figures["false people a frame"]]
    row = [str(figures["frames"]), *map(number, shares), content]
    return markdown_table(["frames", "frames with a false person", "false people per frame", "content"], [row])


def _still_camera(own: Mapping[str, Any]) -> str:
    people, empty = (own[name + STILL]["scores"]["people"] for name in (REAL_ROOMS, EMPTY_ROOMS))
    row = [people["recall"], people["precision"], empty["share of frames with a false person"]]
    columns = ["found", "precision", "empty frames with a false person"]
    return markdown_table(columns, [list(map(number, row))])
