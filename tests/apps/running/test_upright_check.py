"""A camera that hangs upside down is warned of; upright people, and furniture that does not move, are not."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from apps.running.upright_check import FRAME_STEP, MAX_FRAMES, MIN_FRAMES, UprightCheck
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult, Pose, Track
from tests.support.paths import DEMO

SHAPE = 24, 32
LENS = Intrinsics(30.0, 30.0, 15.5, 11.5)
DEPTH_M = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE) / 1000 + 1


ROTATIONS = [(0, "give --rotate 180"), (90, "give --rotate 270"), (180, "leave out --rotate")]


class FoundWhen:
    """Stands in for a pipeline: finds somebody in pictures that are turned, or in those that are not."""

    def __init__(self, turned: float, as_they_come: float = 0.0, speed_m: float = 0.1) -> None:
        self._confidences, self._speed_m, self.frames = (as_they_come, turned), speed_m, 0

    def step(self, frame: DepthFrame) -> FrameResult:
        self.frames += 1
        confidence = self._confidences[int(frame.depth_m[0, 0] > frame.depth_m[-1, -1])]
        pose = Pose(("head",), np.array([[self._speed_m * self.frames, 0, 2]]), np.array([confidence]))
        people = (Track(1, pose),) if confidence else ()
        return FrameResult(frame, np.zeros(SHAPE, bool), np.zeros(SHAPE, np.uint8), (), people)


def play(pipeline: FoundWhen, frames: int = FRAME_STEP * MAX_FRAMES, rotate: int = 0, up=None) -> None:
    check = UprightCheck(pipeline, "camera", rotate)
    frame = DepthFrame(DEPTH_M, LENS, up=up)
    for _ in range(frames):
        check.write(FrameResult(frame, np.zeros(SHAPE, bool), np.zeros(SHAPE, np.uint8), ()))


@pytest.mark.parametrize(
    ("rotate", "told"), [(0, "give --rotate 180"), (90, "give --rotate 270"), (180, "leave out --rota")]
)
def test_people_found_when_turned_are_told_once(caplog, rotate, told):
    play(FoundWhen(turned=0.9, as_they_come=0.3), rotate=rotate)
    assert len(caplog.messages) == 1
    assert f"({MIN_FRAMES} of {MIN_FRAMES} frames)" in caplog.text
    assert told in caplog.text


@pytest.mark.parametrize(
    "pipeline",
    [
        FoundWhen(turned=0.9, as_they_come=0.9),
        FoundWhen(turned=0.4),
        FoundWhen(turned=0.9, speed_m=0.0),
        FoundWhen(0.0),
    ],
    ids=["found either way", "poor poses", "does not move", "nobody"],
)
def test_other_pictures_are_not_told_of(caplog, pipeline):
    play(pipeline)
    assert not caplog.messages


def test_poses_without_a_joint_are_nobody(caplog):
    class NoJoints(FoundWhen):
        def step(self, frame):
            return replace(super().step(frame), people=(Track(1, Pose.of({})),))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(NoJoints(turned=0.9))
    assert not caplog.messages


def test_a_known_direction_up_is_left_to_the_source(caplog):
    pipeline = FoundWhen(turned=0.9)
    play(pipeline, up=(0.0, 1.0, 0.0))
    assert not caplog.messages
    assert pipeline.frames == 0


def test_judging_ends():
    nobody, upright = FoundWhen(0.0), FoundWhen(turned=0.0, as_they_come=0.9)
    play(nobody, 2 * FRAME_STEP * MAX_FRAMES)
    play(upright)
    assert nobody.frames == 2 * MAX_FRAMES
    assert upright.frames == 2 * MIN_FRAMES


@pytest.mark.parametrize(("rotate", "told"), [("180", True), ("0", False)])
def test_run_tells_of_a_recording_that_is_turned(tmp_path, caplog, rotate, told):
    out = tmp_path / "results.jsonl"
    assert main(["run", str(DEMO), "--rotate", rotate, "--end", "0.7", "--out", str(out)]) == 0
    assert ("if heads are down, leave out --rotate" in caplog.text) is told
