"""Training of the person filter: folds, candidates and their labels, what is trained on what."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.checkpoints import Checkpoints, remove_checkpoints
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.growing import GrowthRules
from posepipe.models.card import write_card
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.training import frame_blocks
from posepipe.training.boosted import fit_calibrated_trees, fit_person_classifier
from posepipe.training.boosted.fit_person_classifier import (
    FALSE_FRAMES,
    operating_point,
    refit_person_classifier,
)
from posepipe.training.boosted.folds import FOLDS, folds_of, kind_of_folds
from posepipe.training.boosted.labelled_candidates import LabelledCandidates
from posepipe.training.boosted.person_candidates import collect_candidates
from posepipe.training.fit_background_weight import refit_background_weight
from posepipe.training.fit_segmentation import refit_segmentation, train_segmentation
from tests.support.toy_person import TOY, FramesInMemory, toy_frame, toy_model


def with_board(seed: int) -> LabelledFrame:
    """A person, and a board beside them that is not one."""
    frame = toy_frame(seed)
    depth_m = frame.depth.depth_m.copy()
    at_right = np.median(np.nonzero(depth_m)[1]) < depth_m.shape[1] / 2
    board = np.zeros(depth_m.shape, bool)
    board[6:42, -14:-2] = True
    board = board if at_right else board[:, ::-1]
    depth_m[board & (depth_m == 0)] = 3.2
    return replace(frame, depth=DepthFrame(depth_m, frame.depth.intrinsics, index=seed))


def without_people(frame: LabelledFrame) -> LabelledFrame:
    """The same depth, whose truth shows nobody."""
    return replace(frame, people=np.zeros_like(frame.people), joints_m=frame.joints_m[:0], visible=frame.visible[:0])


def frames_of(*datasets: range) -> FrameSequence:
    return FrameSequence([FramesInMemory([with_board(seed) for seed in seeds]) for seeds in datasets])


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    for name, value in {"max_iter": 20, "learning_rate": 0.3, "min_samples_leaf": 2}.items():
        monkeypatch.setitem(fit_calibrated_trees.BOOSTING, name, value)


@pytest.fixture(scope="module")
def model() -> PoseModel:
    return toy_model()


def test_datasets_are_folds_and_one_dataset_is_cut_into_runs():
    several = frames_of(range(4), range(4, 6), range(6, 9), range(9, 12))
    assert folds_of(several).tolist() == [0] * 4 + [1] * 2 + [2] * 3 + [0] * 3
    assert folds_of(several[5:]).tolist() == [0] + [1] * 3 + [2] * 3  # of the datasets in use
    assert folds_of(frames_of(range(7))).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert folds_of(several[:0]).tolist() == []


def test_datasets_of_the_same_backgrounds_share_a_fold():
    kitchen, hall = {"backgrounds": "1a2b"}, {"backgrounds": "3c4d"}
    recipes = [kitchen, hall, {}, kitchen, {}, hall]
    rooms = FrameSequence([FramesInMemory([with_board(0)] * 2, recipe=recipe) for recipe in recipes])
    assert folds_of(rooms).tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1]
    assert folds_of(rooms[6:]).tolist() == [0, 0, 2, 2, 1, 1]
    assert kind_of_folds(rooms) == kind_of_folds(rooms[6:]) == "datasets"
    places = FrameSequence([FramesInMemory([with_board(0)] * 3, recipe=recipe) for recipe in (kitchen, hall, kitchen)])
    assert folds_of(places).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]  # too few rooms to leave some out
    assert kind_of_folds(places) == "frames"


def test_candidates_are_labelled_by_the_truth(model):
    frames = frames_of(range(300, 306))
    lengths = BoneLengths.measure(TOY, np.concatenate([frame.joints_m for frame in frames]))
    seen = []
    found = collect_candidates(model, frames, lengths, lambda: seen.append(1))
    assert len(seen) == len(frames)
    names = PersonEvidence(TOY, lengths).names
    assert found.evidence.shape == (len(found.row), len(names))
    assert set(found.row[found.is_person]) == set(found.row[~found.is_person]) == set(range(6))
    width = found.evidence[:, names.index("depth")]
    assert width[~found.is_person].max() < 0.01  # the board is flat


def test_workers_collect_the_same_candidates(model, monkeypatch):
    monkeypatch.setattr(frame_blocks, "BLOCK_FRAMES", 2)
    frames, seen = frames_of(range(300, 305)), []
    lengths = BoneLengths.measure(TOY, np.concatenate([frame.joints_m for frame in frames]))
    alone = collect_candidates(model, frames, lengths)
    shared = collect_candidates(model, frames, lengths, lambda: seen.append(1), workers=2)
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(seen) == len(frames)
    assert set(alone.row) == set(range(5))


def test_the_segmentation_of_a_fold_sees_some_frames(model, monkeypatch):
    frames = frames_of(range(300, 308))
    segmentation = train_segmentation(frames, ForestParameters(trees=1, growth=GrowthRules(max_depth=3, candidates=20)))
    trained = []

    def train(others):
        trained.append(len(others))
        return segmentation

    monkeypatch.setattr(fit_person_classifier, "train_segmentation", train)
    monkeypatch.setattr(fit_person_classifier, "FOLD_FRAMES", 3)
    refit_person_classifier(replace(model, segmentation=segmentation), frames)
    assert trained == [3, 3, 3]


def test_every_fold_is_segmented_by_a_forest_new_to_it(model, monkeypatch):
    frames = frames_of(range(300, 303), range(303, 306), range(306, 309))
    segmentation = train_segmentation(frames, ForestParameters(trees=1, growth=GrowthRules(max_depth=3, candidates=20)))
    model = replace(model, segmentation=segmentation)
    trained, collected = [], []
    own_collect = collect_candidates

    def train(others):
        trained.append({frame.depth.index for frame in others})
        return segmentation

    def collect(of_fold, rows, *rest):
        collected.append({frame.depth.index for frame in rows})
        return own_collect(of_fold, rows, *rest)

    monkeypatch.setattr(fit_person_classifier, "train_segmentation", train)
    monkeypatch.setattr(fit_person_classifier, "collect_candidates", collect)
    refit_person_classifier(model, frames)
    assert len(trained) == len(collected) == FOLDS
    for others, own in zip(trained, collected, strict=True):
        assert not others & own
        assert others | own == set(range(300, 309))


def test_an_interrupted_training_goes_on_with_the_next_fold(model, monkeypatch, tmp_path):
    frames, seen, collected = frames_of(range(300, 303), range(303, 306), range(306, 309)), [], []
    own_collect = collect_candidates

    def collect(of_fold, rows, *rest):
        collected.append({frame.depth.index for frame in rows})
        return own_collect(of_fold, rows, *rest)

    def on_frame():
        seen.append(1)
        if len(seen) == 8:
            raise KeyboardInterrupt

    clock = iter(range(0, 10**6, 100))  # every look at it takes 100 s
    monkeypatch.setattr(fit_person_classifier, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(fit_person_classifier, "collect_candidates", collect)
    open_checkpoints = partial(Checkpoints, tmp_path, {}, "boards", kind="fold")
    with pytest.raises(KeyboardInterrupt):
        refit_person_classifier(model, frames, on_frame=on_frame, checkpoints=open_checkpoints(resume=False))
    assert len(collected) == 3
    resumed = refit_person_classifier(model, frames, checkpoints=open_checkpoints(resume=True))
    assert collected[3:] == [{306, 307, 308}]
    whole = refit_person_classifier(model, frames)
    assert resumed.metadata["person_filter"]["seconds"] == whole.metadata["person_filter"]["seconds"] == 500
    one, other = resumed.person_classifier, whole.person_classifier
    np.testing.assert_array_equal(one.calibration, other.calibration)
    for name in ("number", "threshold", "value"):
        np.testing.assert_array_equal(getattr(one.trees, name), getattr(other.trees, name), err_msg=name)
    remove_checkpoints(tmp_path, "fold")
    assert not tmp_path.exists()


def test_a_filter_tells_a_board_from_people(model):
    frames = frames_of(range(300, 308), range(308, 316), range(316, 324))
    taught = refit_person_classifier(model, frames)
    about = taught.metadata["person_filter"]
    assert about["candidates"] > about["people"] > 16
    assert about["auc_left_out"] > 0.95
    lengths = taught.person_classifier.lengths
    unseen = collect_candidates(model, frames_of(range(400, 410)), lengths)
    judged = [taught.person_classifier.probability_of(row) for row in unseen.evidence]
    assert (np.array(judged) > 0.5).tolist() == unseen.is_person.tolist()


def test_the_card_says_what_was_left_out(model, tmp_path):
    frames = [with_board(seed) for seed in range(300, 309)]
    for row in (1, 4, 7):
        frames[row] = without_people(frames[row])
    thirds, one = [FramesInMemory(frames[first : first + 3]) for first in (0, 3, 6)], FramesInMemory(frames)
    for datasets, told in ((thirds, "on datasets left out"), ([one], "on thirds of these datasets")):
        for dataset in datasets:
            dataset.recipe = {}
        refit_person_classifier(model, FrameSequence(datasets)).save(tmp_path / "toy.npz")
        assert told in write_card(tmp_path / "toy.npz").read_text()


def test_furniture_alone_teaches_nothing(model):
    frames = [replace(with_board(seed), people=np.zeros((48, 64), np.uint8)) for seed in range(300, 304)]
    with pytest.raises(ValueError, match=r"of \d+ candidates in 4 frames all are furniture; give frames of rooms"):
        refit_person_classifier(model, FrameSequence([FramesInMemory(frames)]))


def test_frames_without_people_are_refused_at_once(model, monkeypatch):
    monkeypatch.setattr(fit_person_classifier, "collect_candidates", None)  # would fail
    empty = [without_people(with_board(seed)) for seed in range(3)]
    with pytest.raises(ValueError, match=r"a person filter learns from people in rooms, and none of 3 .* a person"):
        refit_person_classifier(model, FrameSequence([FramesInMemory(empty)]))


@pytest.mark.parametrize("refit", [refit_person_classifier, refit_segmentation, refit_background_weight])
def test_people_who_are_cut_out_are_refused_at_once(model, monkeypatch, refit):
    monkeypatch.setattr(Pipeline, "step", None)  # would fail
    with pytest.raises(
        ValueError, match=r"in rooms, and none of 3 frames .* more than people cut out; .* --recipe person-r"
    ):
        refit(model, FrameSequence([FramesInMemory([toy_frame(seed) for seed in range(3)])]))


def test_frames_without_candidates_are_refused_as_such(model):
    depth_m = np.zeros((48, 64), np.float32)
    depth_m[0, 0] = 3.0  # of a room
    dark = replace(with_board(300), depth=DepthFrame(depth_m, with_board(300).depth.intrinsics))
    with pytest.raises(ValueError, match="2 frames gave no candidate with confident joints"):
        refit_person_classifier(model, FrameSequence([FramesInMemory([dark, dark])]))


@pytest.mark.parametrize("refit", [refit_person_classifier, refit_segmentation, refit_background_weight])
def test_frames_of_another_body_are_refused(model, refit):
    frames = FramesInMemory([with_board(300)])
    frames.body = replace(TOY, name="toad", joints=TOY.joints[::-1])
    with pytest.raises(ValueError, match="'toad'; give frames of 'toy'"):
        refit(model, FrameSequence([frames]))


def candidates_of(people: np.ndarray, rows: np.ndarray, empty_rows: np.ndarray) -> LabelledCandidates:
    return LabelledCandidates(np.zeros((len(rows), 1), np.float32), people, rows, empty_rows)


def test_few_empty_frames_have_a_false_person():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 1000, 3000)  # the even ones are empty; some frames have no candidate
    people, probability = rows % 2 == 1, rng.uniform(0, 1, 3000)
    point = operating_point(
        candidates_of(people, rows, np.arange(0, 1000, 2)), probability ** np.where(people, 0.2, 12)
    )
    assert point.false_frames == pytest.approx(FALSE_FRAMES, abs=0.01)
    assert 0.5 < point.found < 1


def test_frames_without_candidates_show_nobody():
    rows = np.array([0, 1, 2, 100])  # three of the hundred empty frames have a candidate
    candidates = candidates_of(rows == 100, rows, np.arange(100))
    point = operating_point(candidates, np.array([0.3, 0.2, 0.4, 0.9]))
    assert (point.min_probability, point.false_frames, point.found) == (0.2, 0.03, 1.0)


def test_without_empty_frames_there_is_no_operating_point():
    people, rows = np.array([True, False]), np.array([0, 0])
    assert operating_point(candidates_of(people, rows, np.zeros(0, np.int64)), np.array([0.9, 0.1])) is None
