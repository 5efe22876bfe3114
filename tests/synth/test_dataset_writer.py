"""Datasets: the same bytes with any number of workers and after interruptions, and resumed by their own recipe only."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from posepipe.datasets.dataset import MANIFEST_NAME, Dataset
from posepipe.errors import PosepipeError
from synth import dataset_writer
from synth.body.creatures import read_creature
from synth.motion.motions import Motions
from synth.motion.poses.clips import embedded_motion
from synth.recipe import Recipe
from synth.renderer import make_renderer
from synth.scene.subjects import Creatures
from synth.sequences import render_sequence
from tests.support.paths import EXAMPLES
from tests.support.rendered_people import people_of, recipe_of, render_people, renderer_of

SMALL = Recipe(frames=12, seed=3)


def recordings(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.mcap"))}


@pytest.fixture
def short_recordings(monkeypatch):
    monkeypatch.setattr(dataset_writer, "RECORDING_FRAMES", 4)


def test_one_worker_and_two_make_the_same_bytes(tmp_path, short_recordings):
    render_people(tmp_path / "one", SMALL, workers=1)
    render_people(tmp_path / "two", SMALL, workers=2)
    assert len(recordings(tmp_path / "one")) == 3
    assert recordings(tmp_path / "one") == recordings(tmp_path / "two")


def test_an_interrupted_run_is_resumed_to_the_same_bytes(tmp_path, short_recordings):
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


def test_recordings_that_a_power_failure_left_are_rendered_anew(tmp_path, short_recordings):
    render_people(tmp_path, SMALL, workers=1)
    whole = recordings(tmp_path)
    empty, headed, damaged = sorted(whole)
    (tmp_path / empty).write_bytes(b"")
    (tmp_path / headed).write_bytes(whole[headed][:200])
    (tmp_path / damaged).write_bytes(bytes(len(whole[damaged])))
    render_people(tmp_path, SMALL, workers=1)
    assert recordings(tmp_path) == whole


@pytest.mark.parametrize("begun", [1, 4, 6])
def test_a_dataset_grows_by_any_number_of_frames(tmp_path, short_recordings, begun):
    render_people(tmp_path / "whole", SMALL, workers=1)
    render_people(tmp_path / "begun", replace(SMALL, frames=begun), workers=1)
    render_people(tmp_path / "begun", SMALL, workers=1)
    assert recordings(tmp_path / "begun") == recordings(tmp_path / "whole")
    with Dataset.open(tmp_path / "begun") as dataset:
        assert len(dataset) == 12
    with pytest.raises(PosepipeError, match="is a dataset of 12 frames; give at least so many"):
        render_people(tmp_path / "begun", replace(SMALL, frames=begun), workers=1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folder")
def test_a_second_writer_is_refused_and_harms_nothing(tmp_path, short_recordings):
    refused = []

    def begin_another(frames):
        if not refused:
            with pytest.raises(PosepipeError, match="another program is writing this folder"):
                render_people(tmp_path, SMALL, workers=1)
            refused.append(True)

    render_people(tmp_path, SMALL, workers=1, on_frames=begin_another)
    assert len(recordings(tmp_path)) == 3


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
def test_ctrl_c_while_workers_start_is_for_the_parent_alone(tmp_path, short_recordings, capfd):
    dataset_writer.write_dataset(tmp_path / "data", Pressing(renderer_of(SMALL)), workers=2)
    assert len(recordings(tmp_path / "data")) == 3
    assert "Traceback" not in capfd.readouterr().err


SEQUENCES = recipe_of(frames=9, seed=5, poses="all", sequence_frames=3)


def test_every_sequence_depends_on_its_number_alone(tmp_path):
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


def test_sequences_are_resumed_with_the_same_motions_only(tmp_path):
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


def test_creatures_have_no_motions():
    creature = read_creature(EXAMPLES / "quadruped.toml")
    with pytest.raises(ValueError, match="only people have motions"):
        make_renderer(SEQUENCES, Creatures(creature))


def test_a_recipe_that_fails_at_once_leaves_its_folder_free(tmp_path, short_recordings):
    out_of_view = recipe_of(frames=4, camera_height_m=(-100.0, -90.0))
    with pytest.raises(PosepipeError):
        render_people(tmp_path, out_of_view, workers=1)
    assert not list(tmp_path.iterdir())
    render_people(tmp_path, SMALL, workers=1)
    assert len(recordings(tmp_path)) == 3


def test_a_folder_takes_no_other_recipe(tmp_path):
    render_people(tmp_path, Recipe(frames=1, seed=1), workers=1)
    with pytest.raises(PosepipeError, match="seed"):
        render_people(tmp_path, Recipe(frames=1, seed=2), workers=1)


def test_a_dataset_older_than_a_field_resumes_with_its_default(tmp_path, short_recordings):
    render_people(tmp_path, Recipe(frames=4, seed=1), workers=1)
    manifest = json.loads((tmp_path / MANIFEST_NAME).read_text())
    for section, field in (("camera", "pitch_deg"), ("camera", "aim_limits_deg"), ("pose", "random_rotation_share")):
        del manifest["recipe"][section][field]
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest))
    with pytest.raises(PosepipeError, match="pitch_deg"):
        render_people(tmp_path, recipe_of(frames=8, seed=1, pitch_deg=(0, 10)))
    render_people(tmp_path, Recipe(frames=8, seed=1), workers=1)
    with Dataset.open(tmp_path) as dataset:
        assert len(dataset) == 8


FLAT = {  # a manifest of the version before recipes had sections
    "frames": 4,
    "seed": 1,
    "sensor": "kinect-v1-320",
    "poses": "train",
    "only_clips": [],
    "leave_out_clips": [],
    "distance_m": [1.0, 4.0],
    "camera_height_m": [0.4, 2.2],
    "roll_deg": [-5.0, 5.0],
    "aim_height_m": [0.6, 1.3],
    "aim_limits_deg": [-25.0, 35.0],
    "pitch_deg": None,
    "aside": [-0.35, 0.35],
    "facing_share": 0.0,
    "facing_spread_deg": 35.0,
    "mirror_share": 0.5,
    "recombine_share": 0.2,
    "relax_share": 0.3,
    "jitter_deg": 4.0,
    "tumble_share": 0.05,
    "seated_share": 0.1,
    "lying_share": 0.1,
    "support_share": 0.8,
    "clothes": True,
    "wardrobe": "plain",
    "carried_share": 0.15,
    "people": [1, 1],
    "room_share": 0.0,
    "noise": True,
    "sequence_frames": 0,
}


def test_a_dataset_with_a_flat_recipe_and_old_names_is_resumed(tmp_path, short_recordings):
    recipe = Recipe.from_dict(FLAT)
    render_people(tmp_path / "new", replace(recipe, frames=8))
    render_people(tmp_path / "old", recipe)
    manifest = json.loads((tmp_path / "old" / MANIFEST_NAME).read_text())
    assert manifest["recipe"]["pose"]["random_rotation_share"] == 0.05
    manifest["recipe"] = {**FLAT, "pose_bank": manifest["recipe"]["pose_bank"]}
    (tmp_path / "old" / MANIFEST_NAME).write_text(json.dumps(manifest))
    with pytest.raises(PosepipeError, match="differs in lateral_offset"):
        render_people(tmp_path / "old", Recipe.from_dict({**FLAT, "frames": 8, "aside": [-0.2, 0.2]}))
    render_people(tmp_path / "old", replace(recipe, frames=8))
    assert recordings(tmp_path / "old") == recordings(tmp_path / "new")
    with Dataset.open(tmp_path / "old") as old, Dataset.open(tmp_path / "new") as new:
        assert old.content == new.content
        assert old.recipe == new.recipe


def test_a_damaged_recipe_in_a_manifest_names_its_file(tmp_path):
    render_people(tmp_path, Recipe(frames=1, seed=1))
    manifest = json.loads((tmp_path / MANIFEST_NAME).read_text())
    manifest["recipe"]["pose"] = 3
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest))
    with pytest.raises(PosepipeError, match=r"dataset.json.*pose is a section"):
        render_people(tmp_path, Recipe(frames=1, seed=1))
