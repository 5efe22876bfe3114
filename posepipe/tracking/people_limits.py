"""Limits of the people in a result: how many, and how confident."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from posepipe.results import Track


def within_limits(tracks: Sequence[Track], max_people: int | None, min_confidence: float) -> list[bool]:
    """Tell who is in the result.

    Parameters
    ----------
    tracks : of one frame
    max_people : how many of highest confidence are; None = all
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
    ranking = sorted(range(len(tracks)), key=lambda row: -confidences[row])[:max_people]
    return [row in ranking and confidences[row] >= min_confidence for row in range(len(tracks))]
