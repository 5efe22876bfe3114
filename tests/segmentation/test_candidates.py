"""Candidates: whether a frame shows one person who was cut out."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.candidates import Candidates

SHAPE = 48, 64


def candidates(rows: int, number: int = 1, person_sized: bool = True) -> Candidates:
    labels = np.zeros(SHAPE, np.uint8)
    labels[:rows, :40] = 1
    labels[0, 0] = number
    return Candidates(labels, (labels > 0) & person_sized)


def depth(rows: int) -> np.ndarray:
    depth_m = np.zeros(SHAPE, np.float32)
    depth_m[:rows] = 2.0
    depth_m[:, 40:] = 0
    return depth_m


@pytest.mark.parametrize(
    ("found", "depth_m", "cut_out"),
    [
        (candidates(20), depth(20), True),
        (candidates(20), depth(21), True),  # a few readings beside it
        (candidates(20), depth(48), False),  # a wall behind it
        (candidates(20, number=2), depth(20), False),
        (candidates(20, person_sized=False), depth(20), False),
        (candidates(48), np.full(SHAPE, 2.0, np.float32), False),  # all of the image
        (candidates(0, number=0), np.zeros(SHAPE, np.float32), True),
    ],
)
def test_one_person_alone_is_cut_out(found, depth_m, cut_out):
    assert found.are_cut_out(depth_m) is cut_out
