"""From candidate to pose: which stages run, in which order, and on what."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.views.view import View

VIEW = View(np.full((80, 60), 2, np.float32), np.ones((80, 60), bool), Intrinsics(100, 100, 30, 40))
ORDER = ["classified", "weighted", "proposed", "estimated"]


def stages(calls: list[tuple]) -> JointStages:
    """Stages that write down what they are given, and answer with the name of what they do."""

    def stage(method: str, answer: str) -> SimpleNamespace:
        return SimpleNamespace(**{method: lambda *given: calls.append((answer, *given)) or answer})

    return JointStages(
        stage("predict", "classified"),
        stage("weigh", "weighted"),
        stage("find", "proposed"),
        stage("estimate", "estimated"),
    )


def test_every_stage_gets_what_the_one_before_it_found():
    calls = []
    assert PoseInference(stages(calls), VIEW).pose == "estimated"
    assert calls == [
        ("classified", VIEW.depth_m, VIEW.mask, VIEW.intrinsics, stride_for(VIEW.mask)),
        ("weighted", VIEW.depth_m, VIEW.intrinsics, "classified"),
        ("proposed", "weighted"),
        ("estimated", "proposed"),
    ]


@pytest.mark.parametrize(("result", "count"), [("parts", 1), ("points", 2), ("proposals", 3), ("pose", 4)])
def test_a_stage_runs_when_it_is_read_and_once(result, count):
    calls = []
    found = PoseInference(stages(calls), VIEW)
    assert calls == []
    assert getattr(found, result) == getattr(found, result) == ORDER[count - 1]
    assert [call[0] for call in calls] == ORDER[:count]


@pytest.mark.parametrize(("known", "skipped"), [("parts", 1), ("points", 2), ("proposals", 3)])
def test_a_known_result_takes_the_place_of_its_stages(known, skipped):
    calls = []
    found = PoseInference(stages(calls), VIEW, **{known: "known"})
    assert (getattr(found, known), found.pose) == ("known", "estimated")
    assert [call[0] for call in calls] == ORDER[skipped:]
    assert calls[0][-1] == "known"


def test_parts_and_points_need_a_view():
    with pytest.raises(ValueError, match="started without a view"):
        PoseInference(stages([])).pose  # noqa: B018 - reading it runs the stages
