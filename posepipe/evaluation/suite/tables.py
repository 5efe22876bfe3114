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
from posepipe.evaluation.suite.fit_table import fit_table
from posepipe.evaluation.suite.markdown import markdown_table, number
from posepipe.evaluation.suite.sets import SuiteFigures, damaged_figures
from posepipe.io.files import disk_errors, replace_file

REAL_FRAMES = "real-frames"
"""Name of the figures of labelled packs, which the suite is given and does not render."""
BONE_ERRORS = "bone errors"
"""Of these figures, the error that bones of varying length imply."""
REAL_ROOMS, EMPTY_ROOMS = "real-rooms", "empty-rooms"
"""Names of the figures of real frames whose people are labelled by boxes, and of real frames without people."""
STILL, STILL_S = "-still", 2.0
"""End of the names of the same frames as a still camera would see them after so many seconds, with tracking."""
OF_PACKS = (REAL_FRAMES, REAL_ROOMS, EMPTY_ROOMS, REAL_ROOMS + STILL, EMPTY_ROOMS + STILL)
_BLOCK = re.compile(r"<!-- suite: (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end of suite: (?P=name) -->", re.DOTALL)

#: column of a table of one set -> where it stands among the figures
CUT_OUT_COLUMNS = {
    "part accuracy": "mean part accuracy",
    "joint mAP": "joint mAP at 10 cm",
    "visible joints within 10 cm": "visible joints within 10 cm",
    "within 15 cm": "visible joints within 15 cm",
    "all joints within 10 cm": "all joints within 10 cm",
    "hidden joints within 15 cm": "hidden joints within 15 cm",
    "left and right swapped": "people with left and right swapped",
    "facing the wrong way": "people taken to face the wrong way",
    "calibration error": "calibration error",
}
WHOLE_FRAME_COLUMNS = {
    "people missed": "people missed",
    "false people per frame": "false people a frame",
    "room pixels taken for people": "room pixels taken for people",
    "visible joints within 10 cm": "visible joints within 10 cm",
    "hidden joints within 15 cm": "hidden joints within 15 cm",
    "joint mAP": "joint mAP at 10 cm",
    "left and right swapped": "people with left and right swapped",
    "facing the wrong way": "people taken to face the wrong way",
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
        **{name: ((name,), _set_table(name, CUT_OUT_COLUMNS)) for name in ("held-out-clips", "embedded-clips")},
        **{name: ((name,), _set_table(name, CUT_OUT_COLUMNS)) for name in ("upside-down", "near", "from-above")},
        "by-sensor": (("held-out-clips", *SENSOR_SETS), _by_sensor),
        **{
            name: ((name,), _set_table(name, WHOLE_FRAME_COLUMNS))
            for name in ("rooms", "furnished-rooms", "seated", "lying", "bending", "rooms-from-above")
        },
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
        "readme": (("held-out-clips", "rooms", "lying", REAL_FRAMES), _readme),
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


def _headline(own: Mapping[str, Any], name: str, column: str, title: str = "model") -> float | None:
    return own[name]["scores"][title]["headline"][column]


def _set_table(name: str, columns: Mapping[str, str]) -> Callable[[Mapping[str, Any]], str]:
    def make(own: Mapping[str, Any]) -> str:
        values = [number(_headline(own, name, column)) for column in columns.values()]
        row = [str(own[name]["frames"]), *values, own[name]["content"]]
        return markdown_table(["frames", *columns, "content"], [row])

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
        [sensor, str(own[name]["frames"]), *(number(_headline(own, name, CUT_OUT_COLUMNS[c])) for c in SENSOR_COLUMNS)]
        for name, sensor in named.items()
    ]
    return markdown_table(["sensor", "frames", *SENSOR_COLUMNS], rows)


def _oracle(own: Mapping[str, Any]) -> str:
    titles = {"oracle labels": "oracle labels", "model": "the model's labels", "shuffled labels": "shuffled labels"}
    rows = [
        [name, *(number(_headline(own, "held-out-clips", CUT_OUT_COLUMNS[name], title)) for title in titles)]
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


def _readme(own: Mapping[str, Any]) -> str:
    clips = CUT_OUT_COLUMNS

    def share(name: str, column: str) -> str:
        return number(_headline(own, name, column))

    def percent(name: str, column: str, digits: int = 0) -> str:
        value = _headline(own, name, column)
        return "-" if value is None else f"{100 * value:.{digits}f} %"

    swapped = [percent("held-out-clips", clips[c], 1) for c in ("left and right swapped", "facing the wrong way")]
    missed, false = percent("rooms", "people missed"), number(_headline(own, "rooms", "false people a frame"), 2)
    lying = f"{percent('lying', 'people missed')}; {share('lying', 'visible joints within 10 cm')}"
    rows = [
        *_real_frames_in_short(own[REAL_FRAMES]),
        [
            "rendered, held-out clips, one person cut out, any direction, 1 to 4 m",
            "visible joints within 10 cm",
            share("held-out-clips", "visible joints within 10 cm"),
        ],
        ["", "joint mAP at 10 cm", share("held-out-clips", "joint mAP at 10 cm")],
        ["", "left and right swapped; facing the wrong way", "; ".join(swapped)],
        ["", "hidden joints within 15 cm", share("held-out-clips", "hidden joints within 15 cm")],
        [
            "rendered rooms with furniture, one to three people, partly hidden",
            "people missed; false people per frame",
            f"{missed}; {false}",
        ],
        ["rendered rooms, one person lying on a bed or the floor", "people missed; visible joints within 10 cm", lying],
        *_real_rooms_in_short(own),
    ]
    return markdown_table(["frames", "figure", "value"], rows)


def _real_frames_in_short(real: Mapping[str, Any]) -> list[list[str]]:
    """Rows of a pack with another tracker's joints; of a single subject no offsets are removed."""
    shares, frames = "joints within 10 cm; 15 cm", f"real Kinect v1, {real['frames']} frames of "

    def within(title: str) -> str:
        return f"{number(real['scores'][title]['within 10 cm'])}; {number(real['scores'][title]['within 15 cm'])}"

    if "offsets removed" not in real["scores"]:
        return [[f"{frames}1 person", f"{shares}, as they come", within("as found")]]
    removed = f"{shares}, constant offsets between joint definitions removed (cross-validated)"
    first = [f"{frames}{real['subjects']} people", removed, within("offsets removed")]
    return [first, ["", "the same, as they come", within("as found")]]


def _real_rooms_in_short(own: Mapping[str, Any]) -> list[list[str]]:
    """Rows of real rooms with people and without; none for sets that were not scored."""
    rows = []
    if REAL_ROOMS in own:
        figures = own[REAL_ROOMS]["scores"]["people"]
        frames = f"real rooms, {figures['frames']} frames with {figures['people']} people"
        found = f"{number(figures['recall'], 2)}; {number(figures['precision'], 2)}"
        rows.append([frames, "people found; share of the found who are people", found])
    if EMPTY_ROOMS in own:
        figures = own[EMPTY_ROOMS]["scores"]["people"]
        share = f"{100 * figures['share of frames with a false person']:.0f} %"
        rows.append([f"real rooms, {figures['frames']} frames without people", "frames with a false person", share])
    return rows
