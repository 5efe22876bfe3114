"""Training that is broken off and taken up again grows the tree that it would have grown."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from posepipe.errors import PosepipeError
from posepipe.learn.depth.checkpoints import Checkpoints, remove_checkpoints
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from tests.support.toy_person import TOY, toy_frames

PARAMETERS = ForestParameters(
    trees=2,
    pixels_per_person=100,
    growth=GrowthRules(max_depth=5, candidates=30, min_gain=0.005, min_samples=10),
    seed=1,
)
DATA = "toy frames 0 to 5"


class Killed(Exception):
    """Stands in for a power cut."""


@pytest.fixture(scope="module")
def frames():
    return toy_frames(6)


@pytest.fixture(scope="module")
def uninterrupted(frames):
    return bits(train_forest(frames, PARAMETERS, TOY))


def bits(forest) -> list[bytes]:
    arrays = [getattr(tree, name) for tree in forest.trees for name in type(tree).__dataclass_fields__]
    return [array.tobytes() for array in [*arrays, *forest.offsets]]


def open_checkpoints(folder, resume=True, parameters=PARAMETERS, data=DATA) -> Checkpoints:
    return Checkpoints(folder, asdict(parameters), data, resume)


def train_until_killed(frames, folder, after: int) -> None:
    """Train until that many levels, over all trees, are done."""
    seen = []

    def on_level(progress):
        seen.append(progress)
        if len(seen) == after:
            raise Killed

    with pytest.raises(Killed):
        train_forest(frames, PARAMETERS, TOY, on_level, open_checkpoints(folder, resume=False))


def levels_of(frames, folder, **options) -> int:
    """Levels that training from these checkpoints still grows."""
    seen = []
    train_forest(frames, PARAMETERS, TOY, seen.append, open_checkpoints(folder, **options))
    return len(seen)


def test_a_run_killed_after_any_level_goes_on_to_the_same_forest(frames, uninterrupted, tmp_path):
    total = levels_of(frames, tmp_path / "whole", resume=False)
    assert total > 8
    for after in range(1, total + 1):
        folder = tmp_path / f"after {after}"
        train_until_killed(frames, folder, after)
        seen = []
        forest = train_forest(frames, PARAMETERS, TOY, seen.append, open_checkpoints(folder))
        assert bits(forest) == uninterrupted
        assert len(seen) == total - after  # no level twice


def test_a_run_killed_twice_still_grows_the_same_forest(frames, uninterrupted, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    seen = []

    def on_level(progress):
        seen.append(progress)
        if len(seen) == 2:
            raise Killed

    with pytest.raises(Killed):
        train_forest(frames, PARAMETERS, TOY, on_level, open_checkpoints(tmp_path / "run"))
    assert bits(train_forest(frames, PARAMETERS, TOY, checkpoints=open_checkpoints(tmp_path / "run"))) == uninterrupted


def test_a_finished_tree_needs_no_frames_again(frames, uninterrupted, tmp_path):
    train_forest(frames, PARAMETERS, TOY, checkpoints=open_checkpoints(tmp_path / "run", resume=False))

    class NoFrames:
        def __len__(self):
            return len(frames)

        def __getitem__(self, index):
            raise AssertionError("a finished tree was trained again")

    assert (
        bits(train_forest(NoFrames(), PARAMETERS, TOY, checkpoints=open_checkpoints(tmp_path / "run"))) == uninterrupted
    )


def halve(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip_a_byte_of_every_hundred(content: bytes) -> bytes:
    damaged = bytearray(content)
    damaged[::100] = bytes(byte ^ 0xFF for byte in damaged[::100])
    return bytes(damaged)


def bare_array(content: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }" + b" " * 60 + b"\n1234"


@pytest.mark.parametrize(
    "damage",
    [halve, flip_a_byte_of_every_hundred, lambda content: b"", lambda content: b"\0" * len(content), bare_array],
    ids=["cut", "bytes flipped", "empty", "zeros", "another NumPy file"],
)
def test_a_damaged_checkpoint_is_ignored_and_its_tree_grown_anew(damage, frames, uninterrupted, tmp_path):
    train_until_killed(frames, tmp_path / "run", 3)
    checkpoints = open_checkpoints(tmp_path / "run")
    states = sorted((tmp_path / "run").glob("*.npz"))
    assert len(states) == 1
    states[0].write_bytes(damage(states[0].read_bytes()))
    assert checkpoints.load(0) is None
    assert bits(train_forest(frames, PARAMETERS, TOY, checkpoints=checkpoints)) == uninterrupted


def test_every_tenth_of_a_checkpoint_is_no_checkpoint(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 3)
    checkpoints = open_checkpoints(tmp_path / "run")
    state = next((tmp_path / "run").glob("*.npz"))
    content = state.read_bytes()
    for tenth in range(10):
        state.write_bytes(content[: tenth * len(content) // 10])
        assert checkpoints.load(0) is None


def test_a_state_half_written_when_the_power_went_harms_nothing(frames, uninterrupted, tmp_path):
    train_until_killed(frames, tmp_path / "run", 3)
    state = next((tmp_path / "run").glob("*.npz"))
    state.with_name(state.name + ".partial").write_bytes(b"half")
    assert bits(train_forest(frames, PARAMETERS, TOY, checkpoints=open_checkpoints(tmp_path / "run"))) == uninterrupted


@pytest.mark.parametrize(
    "other",
    [
        {"data": "other frames"},
        {"parameters": replace(PARAMETERS, seed=2)},
        {"parameters": replace(PARAMETERS, growth=replace(PARAMETERS.growth, max_depth=6))},
        {"parameters": replace(PARAMETERS, offsets=replace(PARAMETERS.offsets, longest_m=0.3))},
    ],
    ids=["data", "seed", "depth", "offsets"],
)
def test_a_run_of_other_parameters_or_data_is_not_gone_on_with(other, frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    with pytest.raises(PosepipeError, match="other parameters or data"):
        open_checkpoints(tmp_path / "run", **other)
    assert open_checkpoints(tmp_path / "run").load(0) is not None  # the refusal harmed nothing


def test_without_resume_an_interrupted_run_is_kept(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    with pytest.raises(
        PosepipeError, match=r"run holds 1 tree of an interrupted run; give --resume to go on, or remove"
    ):
        open_checkpoints(tmp_path / "run", resume=False)
    assert open_checkpoints(tmp_path / "run").load(0) is not None


def test_a_run_that_has_saved_nothing_is_begun_anew(tmp_path):
    open_checkpoints(tmp_path / "run", resume=False)
    assert open_checkpoints(tmp_path / "run", resume=False, data="other frames").load(0) is None


def test_kinds_of_checkpoints_leave_each_other_alone(frames, tmp_path):
    folder = tmp_path / "run"
    train_until_killed(frames, folder, 2)
    folds = Checkpoints(folder, {}, "rooms", resume=False, kind="fold")
    folds.save_arrays("fold-0", {"row": np.arange(3)})
    with pytest.raises(PosepipeError, match="holds 1 fold of an interrupted run"):
        Checkpoints(folder, {}, "rooms", resume=False, kind="fold")
    with pytest.raises(PosepipeError, match="other parameters or data"):
        Checkpoints(folder, {}, "other rooms", resume=True, kind="fold")
    assert Checkpoints(folder, {}, "rooms", resume=True, kind="fold").load_arrays("fold-0") is not None
    remove_checkpoints(folder, "fold")
    assert open_checkpoints(folder).load(0) is not None
    remove_checkpoints(folder)
    assert not folder.exists()


def test_checkpoints_of_an_unknown_run_are_not_gone_on_with(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(PosepipeError, match="remove the folder to start again"):
        open_checkpoints(tmp_path / "run")


def test_resuming_where_nothing_was_starts_anew(tmp_path):
    assert open_checkpoints(tmp_path / "new" / "run").load(0) is None


def test_a_damaged_note_of_the_run_is_a_posepipe_error(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(PosepipeError):
        open_checkpoints(tmp_path / "run")


def test_only_what_a_run_left_is_removed(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    (tmp_path / "run" / "notes.txt").write_text("mine")
    remove_checkpoints(tmp_path / "run")
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_removed_checkpoints_leave_nothing(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 2)
    remove_checkpoints(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_growth_comes_back_from_disk_as_it_was(frames, tmp_path):
    train_until_killed(frames, tmp_path / "run", 3)
    checkpoints = open_checkpoints(tmp_path / "run")
    first = checkpoints.load(0)
    checkpoints.save(1, first)
    second = checkpoints.load(1)
    assert first.level == second.level == 3
    for name in ("order", "starts", "ends"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for name in ("feature", "threshold", "first_child", "n_children", "features", "leaf_statistics"):
        for one, other in zip(getattr(first, name), getattr(second, name), strict=True):
            np.testing.assert_array_equal(one, other)
