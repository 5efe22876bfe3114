"""Labelled pixels and detected people are counted by their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.evaluation.metrics.part_metrics import DetectionScores, cut_out_people
from posepipe.frames import DepthFrame, LabelledFrame


def test_detection_figures_are_shares_of_what_was_shown():
    background, parts = np.array([[True, True, True, True, False]]), np.array([[0, 3, 0, 0, 7]], np.uint8)
    first, second = DetectionScores(), DetectionScores()
    first.add(1, 2, 3, background, parts)
    first.add(0, 2, 0, background, np.zeros_like(parts))
    second.add(0, 0, 0, ~background, parts)
    assert (first + second).figures() == pytest.approx(
        {"people missed": 1 / 4, "false people a frame": 3 / 3, "room pixels taken for people": 2 / 9}
    )


def test_without_anything_to_count_detection_figures_are_unknown():
    assert np.isnan(list(DetectionScores().figures().values())).all()


def test_a_person_is_cut_out_at_any_distance():
    depth = DepthFrame(np.array([[0.5, 0.0, 3.0, 3.0]], np.float32), Intrinsics(2.0, 2.0, 1.5, 0.0))
    people, parts = np.array([[1, 1, 1, 2]], np.uint8), np.array([[4, 5, 6, 7]], np.uint8)
    frame = LabelledFrame(depth, parts, people, np.zeros((2, 1, 3), np.float32), np.ones((2, 1), bool))
    (first, labels), (second, others) = cut_out_people(frame)
    assert (first.tolist(), labels.tolist()) == ([[True, False, True, False]], [[4, 0, 6, 0]])
    assert (second.tolist(), others.tolist()) == ([[False, False, False, True]], [[0, 0, 0, 7]])
