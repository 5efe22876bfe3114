"""Datasets: the same bytes whatever happens on the way, and labels that agree with the depth."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.datasets.dataset import MANIFEST_NAME, Dataset
from posepipe.errors import PosepipeError
from synth import dataset_writer as generate_module
from synth.body.creatures import read_creature
from synth.motion.motions import Motions
from synth.motion.poses.clips import embedded_motion, embedded_pose_bank
from synth.recipe import Recipe
from synth.scene.subjects import Creatures
from synth.sequences import render_sequence
from tests.support.paths import EXAMPLES
from tests.support.rendered_people import people_of, render_people, renderer_of

SMALL = Recipe(frames=12, seed=3)


@pytest.fixture(scope="module")
def renderer():
    return renderer_of(Recipe(seed=9))


def recordings(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.mcap"))}


@pytest.fixture
def short_recordings(monkeypatch):
    monkeypatch.setattr(generate_module, "RECORDING_FRAMES", 4)


def test_one_worker_and_two_make_the_same_bytes(tmp_path, short_recordings):
    render_people(tmp_path / "one", SMALL, workers=1)
    render_people(tmp_path / "two", SMALL, workers=2)
    assert len(recordings(tmp_path / "one")) == 3
    assert recordings(tmp_path / "one") == recordings(tmp_path / "two")


def test_a_frame_depends_on_its_index_alone(renderer):
    alone = renderer.render(7)
    for index in (2, 5):
        renderer.render(index)
    again = renderer.render(7)
    np.testing.assert_array_equal(alone.depth.depth_m, again.depth.depth_m)
    np.testing.assert_array_equal(alone.parts, again.parts)


def test_a_run_that_was_broken_off_goes_on_to_the_same_bytes(tmp_path, short_recordings):
    render_people(tmp_path / "whole", SMALL, workers=1)

    class Killed(Exception):
        pass

    seen = 0

    def kill_after_six(frames):
        nonlocal seen
        seen += frames
        if seen >= 6:
            raise Killed

    with pytest.raises(Killed):
        render_people(tmp_path / "broken", SMALL, workers=1, on_frames=kill_after_six)
    with Dataset.open(tmp_path / "broken") as dataset:
        assert len(dataset) == 4  # what was finished is a dataset already
    render_people(tmp_path / "broken", SMALL, workers=1)
    assert recordings(tmp_path / "broken") == recordings(tmp_path / "whole")


@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path):
    """A synth process is killed at random moments, as by a power cut, until it gets through."""
    command = [sys.executable, "-m", "apps.cli", "synth", "--frames", "1500", "--seed", "4", "--workers", "2"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        process = subprocess.Popen([*command, str(tmp_path / "killed")], start_new_session=True)
        time.sleep(rng.uniform(0.5, 8))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, str(tmp_path / "killed")], check=True)
    assert recordings(tmp_path / "killed") == recordings(tmp_path / "whole")


class Pressing:
    """A renderer whose arrival in a worker is the moment at which Ctrl-C is pressed there."""

    def __init__(self, renderer):
        self._renderer = renderer

    def __getattr__(self, name):
        return getattr(self._renderer, name)

    def __getstate__(self):
        return self._renderer

    def __setstate__(self, renderer):
        signal.raise_signal(signal.SIGINT)
        self._renderer = renderer


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows holds no signals back")
def test_ctrl_c_while_workers_start_is_the_parent_s_business(tmp_path, short_recordings, renderer, capfd, monkeypatch):
    monkeypatch.setattr(generate_module, "make_renderer", lambda *arguments: Pressing(renderer_of(SMALL)))
    generate_module.generate(tmp_path / "data", SMALL, renderer.cast, workers=2)
    assert len(recordings(tmp_path / "data")) == 3
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows holds no signals back")
def test_ctrl_c_waits_until_the_workers_are_started_and_is_not_lost():
    started = []

    def start():
        with generate_module._interrupts_held():
            signal.raise_signal(signal.SIGINT)
            started.append("worker")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert started == ["worker"]


SEQUENCES = Recipe(frames=9, seed=5, poses="all", sequence_frames=3)


def test_every_recording_is_a_sequence_that_depends_on_its_number_alone(tmp_path):
    render_people(tmp_path / "one", SEQUENCES, workers=1)
    render_people(tmp_path / "two", SEQUENCES, workers=2)
    assert recordings(tmp_path / "one") == recordings(tmp_path / "two")
    with Dataset.open(tmp_path / "one") as dataset:
        assert [(s.scene, s.rows) for s in dataset.sequences] == [
            ("standing", range(3)),
            ("crossing", range(3, 6)),
            ("walking", range(6, 9)),
        ]
        assert dataset.recipe["sequence_frames"] == 3
        np.testing.assert_allclose(dataset.timestamps_s, np.tile(np.arange(3) / 30, 3))
        alone = list(render_sequence(people_of(SEQUENCES), SEQUENCES, 1, 3))
        for row, frame in enumerate(alone, start=3):
            np.testing.assert_array_equal(dataset[row].depth.depth_m, frame.depth.depth_m)
            np.testing.assert_array_equal(dataset[row].people, frame.people)
            np.testing.assert_array_equal(dataset[row].joints_m, frame.joints_m)


def test_sequences_go_on_where_they_stopped_with_the_same_motions_alone(tmp_path):
    render_people(tmp_path / "whole", SEQUENCES)
    render_people(tmp_path / "broken", replace(SEQUENCES, frames=6))
    (tmp_path / "broken" / "frames-00000.mcap").unlink()
    render_people(tmp_path / "broken", SEQUENCES)
    assert recordings(tmp_path / "broken") == recordings(tmp_path / "whole")
    with pytest.raises(PosepipeError, match="differs in sequence_frames"):
        render_people(tmp_path / "whole", replace(SEQUENCES, frames=10, sequence_frames=5))
    walk = embedded_motion("humanoid3d_walk")
    with pytest.raises(PosepipeError, match="differs in pose_bank"):
        render_people(tmp_path / "whole", SEQUENCES, motions=Motions((walk,), (walk,)))


def test_creatures_have_no_motions(tmp_path):
    creature = read_creature(EXAMPLES / "quadruped.toml")
    with pytest.raises(ValueError, match="only people have motions"):
        generate_module.generate(tmp_path / "data", SEQUENCES, Creatures(creature))
    assert not (tmp_path / "data").exists()


def test_a_folder_takes_no_other_recipe(tmp_path):
    render_people(tmp_path, Recipe(frames=1, seed=1), workers=1)
    with pytest.raises(PosepipeError, match="seed"):
        render_people(tmp_path, Recipe(frames=1, seed=2), workers=1)


def test_a_dataset_from_before_a_field_goes_on_while_the_field_has_its_default(tmp_path, short_recordings):
    render_people(tmp_path, Recipe(frames=4, seed=1), workers=1)
    manifest = json.loads((tmp_path / MANIFEST_NAME).read_text())
    for field in ("pitch_deg", "aim_limits_deg", "tumble_share"):
        del manifest["recipe"][field]
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest))
    with pytest.raises(PosepipeError, match="pitch_deg"):
        render_people(
            tmp_path,
            Recipe(frames=8, seed=1, pitch_deg=(0, 10)),
            workers=1,
        )
    render_people(tmp_path, Recipe(frames=8, seed=1), workers=1)
    with Dataset.open(tmp_path) as dataset:
        assert len(dataset) == 8


MOUNTINGS = {
    "near": {"distance_m": (0.5, 1.0)},
    "far": {"distance_m": (4.0, 8.0)},
    "ceiling": {"distance_m": (0.0, 1.5), "camera_height_m": (2.2, 3.2), "pitch_deg": (60, 90)},
    "robot": {"distance_m": (0.6, 4.0), "camera_height_m": (0.3, 0.8), "pitch_deg": (-35, 0)},
}


@pytest.mark.parametrize("mounting", MOUNTINGS)
def test_people_are_seen_from_every_mounting(mounting):
    renderer = renderer_of(Recipe(seed=4, **MOUNTINGS[mounting]))
    for index in range(6):
        frame = renderer.render(index)
        assert np.count_nonzero(frame.parts) >= generate_module.MIN_PERSON_PIXELS
        assert frame.visible.any()


def test_a_camera_that_looks_past_everybody_says_so():
    renderer = renderer_of(Recipe(pitch_deg=(-90, -90), distance_m=(3.0, 3.0)))
    with pytest.raises(PosepipeError, match="pitch_deg"):
        renderer.render(0)


def test_validation_poses_come_from_clips_that_training_never_sees():
    bank = embedded_pose_bank()
    train, held_out = bank.split("train"), bank.split("validation")
    assert not set(train.clips) & set(held_out.clips)
    assert len(train.rotations) + len(held_out.rotations) == len(bank.rotations)


def test_a_recipe_chooses_clips():
    bank = embedded_pose_bank()
    assert set(bank.select(only=("humanoid3d_walk",)).clips) == {"humanoid3d_walk"}
    assert set(bank.select(leave_out=("humanoid3d_walk",)).clips) == set(bank.clips) - {"humanoid3d_walk"}
    with pytest.raises(PosepipeError, match="leaves no validation clips"):
        renderer_of(Recipe(poses="validation", only_clips=("humanoid3d_walk",)), bank)


def test_labels_and_readings_cover_the_same_pixels(renderer):
    for index in range(20):
        frame = renderer.render(index)
        np.testing.assert_array_equal(frame.parts > 0, frame.depth.depth_m > 0)
        np.testing.assert_array_equal(frame.parts > 0, frame.people == 1)


def test_visible_joints_lie_within_a_hand_of_their_own_pixels(renderer):
    classes = HUMAN.joint_classes()
    for index in range(20):
        frame = renderer.render(index)
        points = frame.depth.intrinsics.deproject(frame.depth.depth_m)
        for joint in np.nonzero(frame.visible[0] & classes.any(axis=1))[0]:
            own = points[classes[joint][frame.parts]]
            assert np.linalg.norm(own - frame.joints_m[0, joint], axis=1).min() < 0.15


def test_a_person_who_faces_the_camera_has_the_left_hand_at_larger_x():
    recipe = Recipe(seed=1, facing_share=1.0, facing_spread_deg=0.0, relax_share=1.0, recombine_share=0.0)
    renderer = renderer_of(recipe)
    left, right = HUMAN.joint_index("left_shoulder"), HUMAN.joint_index("right_shoulder")
    gaps = [np.subtract(*renderer.render(i).joints_m[0][[left, right], 0]) for i in range(30)]
    assert np.mean(np.array(gaps) > 0) > 0.9  # somebody may stand with the back turned in the clip
