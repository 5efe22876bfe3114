"""Limits of the people in a result: how many, and how confident."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from posepipe.results import Track

LEAD = 0.1
"""Lead in mean confidence by which somebody newer takes the place of another: people who are found equally well would
take turns from frame to frame."""


def within_limits(tracks: Sequence[Track], max_people: int | None, min_confidence: float) -> list[bool]:
    """Tell who is in the result: those of highest confidence, and of people of about equal confidence who came first.

    Parameters
    ----------
    tracks : of one frame; who came later has a higher id
    max_people : how many are; None = all
    min_confidence : mean confidence of their joints, from 0 to 1

    Returns
    -------
    one value for each track

    Raises
    ------
    ValueError
        When no number of people is fewer than one, which as the end of a slice would pass; or for a confidence outside
        0 to 1: one in percent would leave everybody out.
    """
    if max_people is not None and not (isinstance(max_people, Integral) and max_people >= 1):
        raise ValueError(f"max_people: wanted a whole number from 1 up, or None for all, got {max_people}")
    if not 0 <= min_confidence <= 1:
        raise ValueError(f"min_confidence: wanted a number from 0 to 1, got {min_confidence}")
    confidences = [track.pose.confidence for track in tracks]
    waiting = sorted(range(len(tracks)), key=lambda row: tracks[row].id)
    chosen: set[int] = set()
    while waiting and len(chosen) != max_people:
        best = waiting[0]
        for row in waiting:
            best = row if confidences[row] > confidences[best] + LEAD else best
        waiting.remove(best)
        chosen.add(best)
    return [row in chosen and confidences[row] >= min_confidence for row in range(len(tracks))]
