"""Training of the region filter: on two people who are one candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.models.card import write_card
from posepipe.models.pose_model import PoseModel
from posepipe.parts import EVERY_PIXEL, PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Joint, Pose
from posepipe.segmentation.foreground import CutOutForeground
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.region_evidence import SeenRegion
from posepipe.segmentation.views.view import View
from posepipe.training import frame_blocks
from posepipe.training.boosted import fit_calibrated_trees, fit_region_classifier, recorded_frames
from posepipe.training.boosted.fit_person_classifier import refit_person_classifier
from posepipe.training.boosted.fit_region_classifier import refit_region_classifier
from posepipe.training.boosted.labelled_candidates import LabelledCandidates
from posepipe.training.true_filter import TrueFilter, judge_by_truth
from tests.support.toy_person import TOY, FramesInMemory, toy_frame, toy_model

APART_PX = 36
BEHIND_M = 0.25
CAMERA = Intrinsics(60.0, 60.0, 49.5, 23.5)


def two_people(seed: int) -> LabelledFrame:
    """The toy person twice, the right one a little farther away, and without a head, by which they were told apart."""
    one = toy_frame(seed)
    left, right = (np.pad(one.parts, ((0, 0), side)) for side in ((0, APART_PX), (APART_PX, 0)))
    near_m, far_m = (np.pad(one.depth.depth_m, ((0, 0), side)) for side in ((0, APART_PX), (APART_PX, 0)))
    right = np.where(right == TOY.part_code("head"), 0, right)
    depth_m = np.where(left > 0, near_m, np.where(right > 0, far_m + BEHIND_M, 0)).astype(np.float32)
    (rows, cols), z = one.depth.intrinsics.project(one.joints_m[0]).T, one.joints_m[0, :, 2]
    places = (cols, z), (cols + APART_PX, z + BEHIND_M)
    joints_m = np.float32([CAMERA.deproject_pixels(rows, *place) for place in places])
    people = np.where(left > 0, 1, 2 * (right > 0)).astype(np.uint8)
    depth, parts = DepthFrame(depth_m, CAMERA, index=seed), np.where(left > 0, left, right)
    return LabelledFrame(depth, parts, people, joints_m, np.ones((2, 4), bool))


def with_post(seed: int) -> LabelledFrame:
    """The same people, and a sloping post beside them that is none."""
    frame = two_people(seed)
    depth_m = frame.depth.depth_m.copy()
    depth_m[4:44, 90:98] = np.linspace(3.0, 3.3, 40)[:, None]
    return replace(frame, depth=replace(frame.depth, depth_m=depth_m))


def frames_of(seeds: range, shown=two_people) -> FrameSequence:
    return FrameSequence([FramesInMemory([shown(seed) for seed in seeds], recipe={})])


class OneCandidate(Pipeline):
    """Takes all that a frame shows for one candidate."""

    __slots__ = ()

    @classmethod
    def from_model(cls, *arguments, **options) -> Pipeline:
        pipeline = Pipeline.from_model(*arguments, **options)
        pipeline.foreground = CutOutForeground()
        return pipeline


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(recorded_frames, "Pipeline", OneCandidate)
    for name, value in {"max_iter": 20, "learning_rate": 0.3, "min_samples_leaf": 2}.items():
        monkeypatch.setitem(fit_calibrated_trees.BOOSTING, name, value)


@pytest.fixture(scope="module")
def model() -> PoseModel:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"max_iter": 20, "learning_rate": 0.3, "min_samples_leaf": 2}.items():
            patch.setitem(fit_calibrated_trees.BOOSTING, name, value)
        return refit_person_classifier(toy_model(), frames_of(range(300, 320), with_post))


def test_regions_are_told_from_furniture_and_from_who_is_known(model):
    taught = refit_region_classifier(model, frames_of(range(400, 430)), "typed")
    about = taught.metadata["region_filter"]
    assert (about["frames"], about["command"], about["folds_of"]) == (30, "typed", "frames")
    assert 0 < about["people"] < about["regions"]
    assert about["auc_left_out"] > 0.95
    assert Pipeline.from_model(taught).region_filter.classifier is taught.region_classifier
    assert Pipeline.from_model(taught, foreground="none").region_filter is None


def test_workers_collect_the_same_regions(model, monkeypatch):
    monkeypatch.setattr(frame_blocks, "BLOCK_FRAMES", 10)
    monkeypatch.setattr(recorded_frames, "Pipeline", Pipeline)  # workers know no other
    collecting = fit_region_classifier._Collecting(model, frames_of(range(400, 440)), model.person_classifier.lengths)
    alone, shared = (LabelledCandidates.join(collecting.collect(40, lambda: None, workers)) for workers in (1, 2))
    assert len(np.unique(alone.row // 10)) > 1  # of several blocks
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_card_names_the_region_filter(model, tmp_path):
    taught = refit_region_classifier(model, frames_of(range(400, 412)), "typed")
    taught.save(tmp_path / "toy.npz")
    assert "judged by a region filter of 20 trees" in write_card(tmp_path / "toy.npz").read_text()
    again = PoseModel.load(tmp_path / "toy.npz")
    one, other = taught.region_classifier, again.region_classifier
    np.testing.assert_array_equal(one.calibration, other.calibration)
    np.testing.assert_array_equal(one.lengths.median_m, other.lengths.median_m)
    for name in ("number", "threshold", "child", "value", "roots"):
        np.testing.assert_array_equal(getattr(one.trees, name), getattr(other.trees, name), err_msg=name)
    assert again.metadata["region_filter"]["seconds"] == taught.metadata["region_filter"]["seconds"]


def kept(model: PoseModel, frame: LabelledFrame, *known: Pose, shift_m: float = 0.0, sure: float = 0.5) -> list[bool]:
    """What the recorder keeps of a region with the pose of the first person, who may be known, or stand elsewhere."""
    recorder = fit_region_classifier._Recorder(TOY, model.person_classifier.lengths)
    recorder.start_frame(0, frame)
    mask = frame.people == 1
    view, pixels = View(frame.depth.depth_m, mask, CAMERA), pixels_of(mask)
    parts = PartProbabilities(pixels, np.full((len(pixels), TOY.n_classes), 1 / TOY.n_classes, np.float32), EVERY_PIXEL)
    pose = pose_of(two_people(300), 0, shift_m)
    seen = SeenRegion(Region(mask, mask, known=known), view, parts, pose, pose, False, sure)
    assert recorder.probability(seen) == sure
    return recorder.kept().is_person.tolist()


def pose_of(frame: LabelledFrame, person: int, shift_m: float = 0.0) -> Pose:
    places = zip(TOY.joints, frame.joints_m[person] + [shift_m, 0, 0], strict=True)
    return Pose.of({name: Joint(name, tuple(place), 0.9) for name, place in places})


def test_who_is_not_known_is_somebody(model):
    frame = two_people(300)
    assert kept(model, frame) == [True]
    assert kept(model, frame, pose_of(frame, 1)) == [True]
    assert kept(model, frame, pose_of(frame, 1), pose_of(frame, 0)) == [False]
    assert kept(model, frame, shift_m=-0.6) == [False]


def test_who_is_hardly_in_view_teaches_nothing(model):
    hardly = replace(two_people(300), visible=np.array([[True, False, False, False], [True] * 4]))
    assert kept(model, hardly) == []
    assert kept(model, hardly, pose_of(hardly, 0)) == [False]


def test_in_a_frame_without_people_all_is_furniture(model):
    frame = two_people(300)
    assert kept(model, replace(frame, joints_m=frame.joints_m[:0], visible=frame.visible[:0])) == [False]


def test_regions_of_little_probability_are_not_kept(model):
    assert kept(model, two_people(300), sure=0.04) == []


def test_a_new_person_filter_takes_the_region_filter_along(model):
    taught = refit_region_classifier(model, frames_of(range(400, 412)))
    again = refit_person_classifier(taught, frames_of(range(300, 306), with_post))
    assert again.region_classifier is None
    assert "region_filter" not in again.metadata


def test_where_the_truth_judges_a_region_filter_does_not(model):
    pipeline = Pipeline.from_model(refit_region_classifier(model, frames_of(range(400, 412))))
    assert pipeline.region_filter is not None
    judge_by_truth(pipeline, TrueFilter())
    assert pipeline.region_filter is None


def test_a_region_filter_needs_a_person_filter(model):
    with pytest.raises(ValueError, match="no person classifier"):
        refit_region_classifier(replace(model, person_classifier=None), frames_of(range(2)))


def test_frames_without_regions_are_refused(model):
    frames = [toy_frame(seed) for seed in range(3)]  # whole candidates alone
    depth_m = np.zeros_like(frames[0].depth.depth_m)
    depth_m[0, 0] = 3.0  # of a room
    dark = [replace(each, depth=DepthFrame(depth_m, each.depth.intrinsics)) for each in frames]
    with pytest.raises(ValueError, match="3 frames gave no region that may be a person"):
        refit_region_classifier(model, FrameSequence([FramesInMemory(dark)]))


def test_frames_of_another_body_are_refused(model):
    frames = FramesInMemory([two_people(300)])
    frames.body = replace(TOY, name="toad", joints=TOY.joints[::-1])
    with pytest.raises(ValueError, match="'toad'; give frames of 'toy'"):
        refit_region_classifier(model, FrameSequence([frames]))
