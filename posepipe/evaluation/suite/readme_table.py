"""The table of the README: the most important figures, one a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posepipe.evaluation.suite.figure_names import CUT_OUT_FIGURES, EMPTY_ROOMS, REAL_FRAMES, REAL_ROOMS, headline
from posepipe.evaluation.suite.markdown import markdown_table, number

CLIPS = "rendered, held-out clips: one person cut out, any direction, 1 to 4 m"
ROOMS = "rendered rooms with furniture, one to three people, partly hidden"
LYING = "rendered rooms, one person lying on a bed or the floor"


def readme_table(own: Mapping[str, Any]) -> str:
    """Make the table; real rooms that were not scored are left out."""

    def share(name: str, key: str) -> str:
        return number(headline(own, name, key))

    of_clips = ("visible joints within 10 cm", "hidden joints within 15 cm", "joint mAP")
    sides = ("left and right swapped", "facing the wrong way")
    clips = [[title, share("held-out-clips", CUT_OUT_FIGURES[title])] for title in (*of_clips, *sides)]
    rooms = [
        ["people missed", share("rooms", "people missed")],
        ["false people per frame", share("rooms", "false people a frame")],
    ]
    lying = [
        ["people missed", share("lying", "people missed")],
        ["visible joints within 10 cm", share("lying", "visible joints within 10 cm")],
    ]
    groups = [_real_frames(own[REAL_FRAMES]), (CLIPS, clips), (ROOMS, rooms), (LYING, lying), *_real_rooms(own)]
    rows = [[frames if k == 0 else "", *row] for frames, of_group in groups for k, row in enumerate(of_group)]
    return markdown_table(["frames", "figure", "value"], rows)


def _real_frames(real: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """Rows of a pack with another tracker's joints; of a single subject no offsets are removed."""
    several = "offsets removed" in real["scores"]
    shown = {"offsets removed": ", constant offsets between definitions of joints removed"} if several else {}
    rows = [
        [f"joints within {radius}{how}", number(real["scores"][title][f"within {radius}"])]
        for title, how in {**shown, "as found": ", as they come"}.items()
        for radius in ("10 cm", "15 cm")
    ]
    people = f"{real['subjects']} people" if several else "1 person"
    return f"real Kinect v1, {real['frames']} frames of {people}", rows


def _real_rooms(own: Mapping[str, Any]) -> list[tuple[str, list[list[str]]]]:
    """Rows of real rooms with people and without; none for sets that were not scored."""
    groups = []
    if REAL_ROOMS in own:
        figures = own[REAL_ROOMS]["scores"]["people"]
        rows = [["people found", number(figures["recall"])], ["precision", number(figures["precision"])]]
        groups.append((f"real rooms, {figures['frames']} frames with {figures['people']} people", rows))
    if EMPTY_ROOMS in own:
        figures = own[EMPTY_ROOMS]["scores"]["people"]
        share = number(figures["share of frames with a false person"])
        groups.append(
            (f"real rooms, {figures['frames']} frames without people", [["frames with a false person", share]])
        )
    return groups
