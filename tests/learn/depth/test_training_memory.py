"""Memory of training: estimated before, bounded on demand, and without effect on the trees."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.errors import PosepipeError
from posepipe.io.scratch_array import ScratchArray
from posepipe.learn.depth import training_memory
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting import responses
from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
from posepipe.learn.depth.train_forest import train_tree
from posepipe.learn.depth.training_memory import MemoryPlan, plan_memory
from posepipe.learn.growing import GrowthRules
from tests.support.toy_person import TOY, toy_frame, toy_frames


class ManyFrames:
    """A hundred thousand frames, each the same toy person."""

    def __init__(self) -> None:
        self._frame = toy_frame(1)

    def __len__(self):
        return 100_000

    def __getitem__(self, row):
        return self._frame


def test_images_on_disk_grow_the_same_tree(monkeypatch):
    frames, rules = toy_frames(9), GrowthRules(max_depth=7, candidates=70, min_samples=8, split_samples=200)
    parameters = ForestParameters(trees=1, pixels_per_person=60, growth=rules)
    tree, offsets = train_tree(frames, parameters, TOY, 0)
    monkeypatch.setattr(responses, "READ_PIXELS", 1500)  # fewer than two images
    on_disk = MemoryPlan(memory=0, disk=1, batch_samples=150)
    again, same_offsets = train_tree(frames, parameters, TOY, 0, memory=on_disk)
    assert tree.n_leaves > 5
    assert offsets.tobytes() == same_offsets.tobytes()
    for name in ("feature", "threshold", "first_child", "leaf_statistics"):
        assert getattr(tree, name).tobytes() == getattr(again, name).tobytes()


def test_a_scratch_array_returns_what_was_appended(tmp_path):
    images = [np.arange(k, 3 * k, dtype=np.int16) for k in (5, 1, 40)]
    file = ScratchArray(tmp_path / "new")
    for image in images:
        file.append(image)
    whole = np.concatenate(images)
    np.testing.assert_array_equal(file.read(0, len(whole)), whole)
    np.testing.assert_array_equal(file.read(7, 30), whole[7:30])
    assert list((tmp_path / "new").iterdir()) == []  # the file has no name that a killed process could leave


def test_images_leave_memory_only_where_they_must():
    whole = plan_memory(ManyFrames(), 1, 5)
    assert whole.disk == 0
    assert plan_memory(ManyFrames(), 1, 5, limit=whole.memory) == whole
    tight = plan_memory(ManyFrames(), 1, 5, limit=whole.memory - 1)
    image = sample_pixels([(0, toy_frame(1))], 5, (0,)).images
    assert tight.disk == 100_000 * (image.nbytes + 16)  # with its place and shape
    limit = tight.memory - 5_000_000
    tighter = plan_memory(ManyFrames(), 1, 5, limit=limit)
    assert tighter.batch_samples < tight.batch_samples
    assert limit - 1000 < tighter.memory <= limit
    assert plan_memory(ManyFrames(), 2, 5).memory < whole.memory


def test_a_limit_too_small_is_refused_with_what_is_needed():
    with pytest.raises(PosepipeError, match=r"needs at least \d+\.\d GB .* the limit is 0\.5 GB; raise it"):
        plan_memory(ManyFrames(), 1, 300, limit=500_000_000)
    assert training_memory.MIN_BATCH_SAMPLES < training_memory.BATCH_SAMPLES


def test_memory_of_this_machine_is_known(monkeypatch):
    assert 10**8 < training_memory.installed_memory() < 10**14
    monkeypatch.delattr(training_memory.os, "sysconf")
    assert training_memory.installed_memory() is None
