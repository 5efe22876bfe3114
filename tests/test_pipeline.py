"""The pipeline and its stages: what they remember from frame to frame, and what a reset forgets."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from posepipe.camera import CAMERA_UP, Extrinsics, Intrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.inference.person_inference import PersonInference
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import STAGES, Pipeline
from posepipe.results import FrameResult, Pose, Track
from posepipe.segmentation.candidates import Candidates
from posepipe.segmentation.foreground import CutOutForeground
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.regions.occluded_people import OccludedPeople
from posepipe.segmentation.room_geometry.background_model import SEEN_FRAMES
from posepipe.segmentation.views.view import View
from posepipe.sources import open_source
from posepipe.stage import Stateless
from posepipe.tracking.one_euro import OneEuroSmoother
from tests.support.paths import WALK
from tests.support.shipped_model import shipped_model
from tests.support.toy_person import toy_frame, toy_model


@pytest.fixture(scope="module")
def model() -> PoseModel:
    return toy_model()


def whole_pipeline(model: PoseModel) -> Pipeline:
    pipeline = Pipeline.from_model(model)
    pipeline.smoother = OneEuroSmoother()
    return pipeline


def person_frames(count: int, seed: int = 30) -> list[DepthFrame]:
    """A person who moves to the side by a centimetre a frame."""
    depth = toy_frame(seed).depth
    return [
        replace(depth, intrinsics=replace(depth.intrinsics, cx=depth.intrinsics.cx - 0.3 * k), timestamp_s=k / 30)
        for k in range(count)
    ]


def wall_frames(count: int, seed: int = 30) -> list[DepthFrame]:
    """A wall at the distance of that person."""
    depth = toy_frame(seed).depth
    wall_m = np.full_like(depth.depth_m, np.median(depth.depth_m[depth.depth_m > 0]))
    return [replace(depth, depth_m=wall_m, timestamp_s=1 + k / 30) for k in range(count)]


def found(results: list[FrameResult]) -> list[list[tuple]]:
    return [
        [
            (track.id, track.pose.names, track.pose.joints_m.tolist(), track.pose.confidences.tolist())
            for track in r.people
        ]
        for r in results
    ]


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("foreground", ["auto", "none"])
def test_every_stage_is_a_field_and_answers_a_reset(model, tracking, foreground):
    pipeline = Pipeline.from_model(model, tracking, foreground)
    pipeline.smoother = OneEuroSmoother()
    for stage, own in pipeline.stages():
        assert own is getattr(pipeline, stage.field)
        own.reset()


@pytest.mark.parametrize("tracking", [True, False])
def test_people_of_low_confidence_are_left_out_of_the_result(model, tracking):
    frame = toy_frame(30).depth
    whole = Pipeline.from_model(model, tracking, "none").step(frame)
    (person,) = whole.people
    pipeline = Pipeline.from_model(model, tracking, "none")
    pipeline.min_confidence = person.pose.confidence
    assert found([pipeline.step(frame)]) == found([whole])
    pipeline.min_confidence = np.nextafter(person.pose.confidence, 2)
    without = pipeline.step(frame)
    assert (without.people, without.proposals, without.mask.any(), without.parts.any()) == ((), (), False, False)
    pipeline.min_confidence = 0.0
    assert pipeline.step(frame).people[0].id == person.id  # tracked all the time


class LeftHalf(Stateless):
    """A segmentation that calls the left half of the image people, and counts its calls."""

    calls = 0

    def segment(self, depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
        self.calls += 1
        left = np.arange(depth_m.shape[1]) < depth_m.shape[1] // 2
        return left & (depth_m > 0)


class SmallIsPerson(PersonFilter):
    """A filter that accepts candidates of few pixels."""

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        """1 where fewer than 60 % of the person's pixels are left."""
        return float(view.mask.sum() < 0.6 * np.count_nonzero(view.depth_m))


def test_only_what_shows_nobody_is_divided_by_the_segmentation(model):
    frame = toy_frame(30).depth
    pipeline = Pipeline.from_model(model, tracking=False, foreground="none")
    pipeline.segmentation = LeftHalf()
    assert len(pipeline.step(frame).people) == 1
    assert pipeline.segmentation.calls == 0
    pipeline.person_filter = SmallIsPerson()
    (person,) = pipeline.step(frame).people
    mask = pipeline.step(frame).mask
    assert pipeline.segmentation.calls == 2
    assert person.pose.confidence > 0
    assert mask.any()
    assert not mask[:, mask.shape[1] // 2 :].any()
    pipeline.segmentation = None
    assert not pipeline.step(frame).people


class CutInHalves(HeadSplit):
    """Instance splitting that cuts every candidate into its left half and its upper half, which overlap."""

    def cut_out(self, proposals, depth_m, mask, intrinsics, up=CAMERA_UP) -> list[np.ndarray]:
        rows, cols = np.nonzero(mask)
        left, upper = np.arange(mask.shape[1]) < np.median(cols), np.arange(mask.shape[0])[:, None] < np.median(rows)
        return [mask & left, mask & upper]


def test_what_is_cut_out_of_furniture_is_judged_by_itself(model):
    frame = toy_frame(30).depth
    pipeline = Pipeline.from_model(model, tracking=False, foreground="none")
    pipeline.person_filter = SmallIsPerson()
    assert not pipeline.step(frame).people
    pipeline.head_split = CutInHalves()
    left, *rest = pipeline.step(frame).person_masks
    np.testing.assert_array_equal(left, pipeline.head_split.cut_out((), frame.depth_m, frame.depth_m > 0, None)[0])
    assert not any((other & left).any() for other in rest)


@pytest.mark.parametrize("measured", [None, (0.0, -0.6, -0.8)])
def test_up_is_measured_or_that_of_the_camera_s_pose(model, measured):
    seen = []

    class Noting(CutInHalves):
        def cut_out(self, proposals, depth_m, mask, intrinsics, up=CAMERA_UP) -> list[np.ndarray]:
            seen.append(up)
            return []

    looking_down = Extrinsics(np.array([[1, 0, 0], [0, -0.6, 0.8], [0, -0.8, -0.6]]), np.array([0.0, 0, 3]))
    frame = replace(toy_frame(30).depth, up=measured)
    pipeline = Pipeline.from_model(model, tracking=False, foreground="none")
    pipeline.person_filter, pipeline.head_split, pipeline.extrinsics = SmallIsPerson(), Noting(), looking_down
    assert pipeline.step(frame).frame.up == measured  # results tell what was measured
    assert seen == [measured or (0, -0.8, -0.6)]


class TwoHalves(CutOutForeground):
    """A foreground whose candidates are the halves of the image."""

    def update(self, frame: DepthFrame) -> Candidates:
        right = np.arange(frame.depth_m.shape[1]) >= frame.depth_m.shape[1] // 2
        labels = np.where(frame.depth_m > 0, 1 + right, 0).astype(np.uint8)
        return Candidates(labels, labels > 0)


class SurerOfTheSecond(Stateless):
    """A fit that makes the first pose less confident, and the second more."""

    def update(self, tracks, pixels, frame) -> tuple[Track, ...]:
        return tuple(
            replace(track, pose=replace(track.pose, confidences=np.full(len(track.pose.names), stated)))
            for track, stated in zip(tracks, (0.4, 0.8), strict=False)
        )


def test_people_kept_are_those_of_highest_confidence_in_results(model):
    frame = toy_frame(30).depth
    pipeline = Pipeline.from_model(model, foreground="none")
    pipeline.foreground, pipeline.body_fitter = TwoHalves(), SurerOfTheSecond()
    both = pipeline.step(frame)
    pipeline.max_people, pipeline.min_confidence = 1, 0.5
    one = pipeline.step(frame)
    assert [track.pose.confidence for track in both.people] == pytest.approx([0.4, 0.8])
    assert [track.id for track in one.people] == [both.people[1].id]
    np.testing.assert_array_equal(one.mask, both.person_masks[1])


def test_pixels_without_a_reading_are_nobody_s(model):
    frame = toy_frame(30).depth
    depth_m = frame.depth_m.copy()
    depth_m[::2] = 0
    holed, mask = replace(frame, depth_m=depth_m), frame.depth_m > 0
    pipeline = Pipeline.from_model(model, foreground="none")
    given, wanted = pipeline.estimate(holed, mask), pipeline.estimate(holed, depth_m > 0)
    assert given.pose == wanted.pose
    assert not given.mask[depth_m == 0].any()


def test_smoothing_without_tracking_is_refused(model):
    pipeline = Pipeline.from_model(model, tracking=False, foreground="none")
    pipeline.smoother = OneEuroSmoother()
    with pytest.raises(ValueError, match="a smoother follows each person over time"):
        pipeline.step(toy_frame(30).depth)


def test_people_come_by_falling_confidence(model, monkeypatch):
    stated = iter((0.4, 0.8))

    def people_in(self, frame, mask, floor):
        found = self.estimate(frame, mask, floor)
        return [replace(found, pose=replace(found.pose, confidences=np.full(len(found.pose.names), next(stated))))]

    monkeypatch.setattr(PersonInference, "people_in", people_in)
    pipeline = Pipeline.from_model(model, foreground="none")
    pipeline.foreground = TwoHalves()
    people = pipeline.step(toy_frame(30).depth).people
    assert [track.id for track in people] == [1, 2]
    assert [track.pose.confidence for track in people] == pytest.approx([0.8, 0.4])


def test_candidates_without_segmented_pixels_are_judged(model, monkeypatch):
    pipeline = Pipeline.from_model(model, tracking=False, foreground="none")
    pipeline.foreground, pipeline.segmentation = TwoHalves(), LeftHalf()
    estimated: list[np.ndarray] = []
    monkeypatch.setattr(PersonInference, "people_in", lambda self, frame, mask, floor: estimated.append(mask) or [])
    frame = toy_frame(30).depth
    assert not pipeline.step(frame).people
    whole = frame.depth_m > 0
    left = np.arange(whole.shape[1]) < whole.shape[1] // 2
    for mask, half in zip(estimated, (left, ~left, left), strict=True):  # what it leaves of both is judged again
        np.testing.assert_array_equal(mask, whole & half)
    assert pipeline.segmentation.calls == 1


def test_pieces_are_sought_in_the_foreground_that_shows_people(model, monkeypatch):
    pipeline = whole_pipeline(model)
    pipeline.segmentation, pipeline.occluded_people = LeftHalf(), OccludedPeople()
    asked: list[tuple[np.ndarray, int]] = []
    monkeypatch.setattr(
        PersonInference,
        "with_people_in_pieces",
        lambda self, frame, mask, people, floor: asked.append((mask, len(people))) or people,
    )
    frame = person_frames(1)[0]
    pipeline.step(frame)
    ((mask, people),) = asked
    assert people == 1
    left = np.arange(mask.shape[1]) < mask.shape[1] // 2
    np.testing.assert_array_equal(mask, pipeline.foreground.update(frame).foreground & left)


def test_stages_are_fields_of_the_pipeline_each_named_once():
    names = [stage.field for stage in STAGES]
    assert len(set(names)) == len({stage.title for stage in STAGES}) == len(STAGES)
    assert set(names) == {field.name for field in fields(Pipeline)} - {"max_people", "min_confidence", "extrinsics"}


def test_stages_that_are_none_are_left_out(model):
    pipeline = Pipeline.from_model(model, foreground="none")
    assert pipeline.head_split is pipeline.surfaces is pipeline.remainder is None
    assert pipeline.smoother is pipeline.body_fitter is None
    assert [stage.field for stage, _ in pipeline.stages()] == [
        "foreground",
        "classifier",
        "person_filter",
        "weighting",
        "proposer",
        "pose_estimator",
        "pose_search",
        "rotated_views",
        "tracker",
    ]


class Unsure(PersonFilter):
    """Gives every candidate the next of some probabilities."""

    def person_probability(self, view, parts, pose, floor=None) -> float:
        return next(PROBABILITIES)


PROBABILITIES = iter(())


def test_a_person_stays_found_through_unsure_frames(model, monkeypatch):
    pipeline = whole_pipeline(model)
    pipeline.person_filter, pipeline.still_furniture = Unsure(), None
    monkeypatch.setattr(f"{__name__}.PROBABILITIES", iter([0.3, 0.9, 0.3, 0.3, 0.05, 0.3]))
    found = [pipeline.step(frame).people for frame in person_frames(6)]
    assert [len(people) for people in found] == [0, 1, 1, 1, 0, 0]
    assert {person.id for people in found for person in people} == {1}


def test_only_a_classifier_is_sure_of_somebody_else(model):
    assert Pipeline.from_model(model).remainder is Pipeline.from_model(model).surfaces is None
    assert Pipeline.from_model(shipped_model(), fit=False).remainder is not None


def test_after_a_reset_a_recording_gives_what_a_new_one_would(model):
    used, new = whole_pipeline(model), whole_pipeline(model)
    recording = person_frames(5)
    for frame in (*person_frames(4, seed=33), *wall_frames(SEEN_FRAMES + 1)):
        used.step(frame)
    assert not used.step(recording[0]).people  # they are at the distance of the background
    used.reset()
    again, wanted = ([each.step(frame) for frame in recording] for each in (used, new))
    assert found(again) == found(wanted)
    assert [[track.id for track in result.people] for result in again] == [[1]] * 5
    for one, other in zip(again, wanted, strict=True):
        np.testing.assert_array_equal(one.parts, other.parts)


def test_pipelines_of_one_model_share_no_memory(model):
    first, second = whole_pipeline(model), whole_pipeline(model)
    for frame in wall_frames(SEEN_FRAMES + 1):
        first.step(frame)
    assert len(second.step(person_frames(1)[0]).people) == 1


def test_an_unknown_foreground_is_refused(model):
    with pytest.raises(ValueError, match="foreground must be one of auto, none, got 'sky'"):
        Pipeline.from_model(model, foreground="sky")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fit": "off"}, "fit is True, False or a BodyModel, got 'off'"),
        ({"background": "empty.mcap"}, r"what learn_still_background\(frames\) returns, got 'empty.mcap'"),
    ],
)
def test_arguments_of_another_type_are_refused(model, given, message):
    with pytest.raises(TypeError, match=message):
        Pipeline.from_model(model, **given)


def test_a_step_takes_a_frame_and_no_array(model):
    with pytest.raises(TypeError, match=r"wanted DepthFrame\(depth, Intrinsics.*got array"):
        Pipeline.from_model(model).step(np.zeros((2, 2), np.uint16))


@pytest.mark.parametrize("dtype", [np.uint8, int, float])
def test_a_candidate_may_be_of_any_dtype(model, dtype):
    pipeline, frame = Pipeline.from_model(model), person_frames(1)[0]
    mask = frame.depth_m > 0
    given, wanted = pipeline.estimate(frame, 255 * mask.astype(dtype)), pipeline.estimate(frame, mask)
    assert given.pose == wanted.pose
    np.testing.assert_array_equal(given.mask, wanted.mask)


def test_a_pose_estimator_of_one_s_own_has_one_method():
    class OneMethod(Stateless):
        def estimate(self, proposals):
            return whole.estimate(proposals)

    pipeline = Pipeline.from_model(shipped_model(), fit=False)
    whole, pipeline.pose_estimator = pipeline.pose_estimator, OneMethod()
    pipeline.pose_search = replace(pipeline.pose_search, enough=1.0)  # every pose is searched
    pipeline.second_pass = None
    with open_source(WALK) as source:
        assert pipeline.step(next(iter(source))).people


def test_a_pipeline_of_a_file_is_that_of_its_model(model, tmp_path):
    model.save(tmp_path / "toy.npz")
    frame = person_frames(1)[0]
    results = [
        pipeline.step(frame)
        for pipeline in (Pipeline.load(tmp_path / "toy.npz"), Pipeline.from_model(PoseModel.load(tmp_path / "toy.npz")))
    ]
    assert found(results[:1]) == found(results[1:])
    assert results[0].people


def test_a_body_is_fitted_to_people_unless_it_is_switched_off(model):
    people = shipped_model()
    with open_source(WALK) as source:
        frame = next(iter(source))
    (fitted,) = Pipeline.from_model(people).step(frame).people
    (alone,) = Pipeline.from_model(people, fit=False).step(frame).people
    assert fitted.fit is not None
    assert alone.fit is None
    assert Pipeline.from_model(model).body_fitter is None  # a body of toys, for which none is shipped


@pytest.mark.parametrize(("foreground", "tried"), [("none", (1, 3, 2)), ("auto", (1, 3))])
def test_people_are_tried_upside_down_where_they_are_cut_out(model, foreground, tried):
    views = Pipeline.from_model(model, foreground=foreground).rotated_views
    depth_m, mask = np.full((30, 90), 2.0, np.float32), np.ones((30, 90), bool)
    assert views.wanted(View(depth_m, mask, Intrinsics(90.0, 90.0, 44.5, 14.5)), Pose.of({})) == tried
