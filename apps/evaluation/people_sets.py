"""Sets of the suite that are given, not rendered: real frames of rooms, with people and without."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from posepipe.evaluation.people.people_frames import PeopleFrames


class PeopleSet(NamedTuple):
    """Frames of the suite whose people are labelled, or that have none."""

    frames: PeopleFrames
    command: str  #: that scores them
    repeat_s: float = 0.0  #: each frame is shown for so long as a still camera would; 0 = once, without tracking


def people_sets(args: argparse.Namespace) -> dict[str, PeopleSet]:
    """Open the frames that the suite is given, by the name of their set.

    They are judged one by one, and a second time as a still camera would see them after STILL_S seconds.
    """
    from posepipe.evaluation.people.people_frames import PeopleFrames
    from posepipe.evaluation.suite.figure_names import EMPTY_ROOMS, REAL_ROOMS, STILL, STILL_S

    sets = {}
    if args.rooms is not None:
        command = f"posepipe evaluate {_listed(args.rooms)} --labels {args.labels.name}"
        sets[REAL_ROOMS] = PeopleSet(PeopleFrames.labelled(args.rooms, args.labels), command)
    if args.empty:
        command = f"posepipe evaluate {_listed(args.empty)} --empty"
        sets[EMPTY_ROOMS] = PeopleSet(PeopleFrames.without_people(args.empty), command)
    still = {
        name + STILL: own._replace(command=f"{own.command} --repeat {STILL_S:g}", repeat_s=STILL_S)
        for name, own in sets.items()
    }
    return sets | still


def _listed(paths: Sequence[Path]) -> str:
    return " ".join(path.absolute().name for path in paths)
