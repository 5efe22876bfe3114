"""Results of several cameras as those of the first: axes, masks, ids, and who saw whom."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.body_model.body_fitter import BodyFitter
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.frames import DepthFrame
from posepipe.multiview.frame_sets import FrameSet
from posepipe.multiview.joined_pipeline import JoinedPipeline
from posepipe.multiview.view_fusion import ViewFusion
from posepipe.pipeline import Pipeline
from posepipe.results import BodyFit, FrameResult, Pose, Track
from posepipe.sinks import JsonLinesSink, ResultsHeader, read_results
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.tracker import Tracker
from tests.body_model.fitted_bodies import human, random_posture
from tests.reference.body_model.placement import place
from tests.support.toy_person import TOY

LENS = Intrinsics(60.0, 60.0, 31.5, 23.5)
SHAPE = (48, 64)
LEVEL = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
FIRST = Extrinsics(LEVEL, np.array([0.0, 0.0, 1.5]))
#: to the right of the first, looking across its view
SECOND = Extrinsics(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ LEVEL, np.array([2.5, 2.5, 1.2]))
PERSON_M = np.array([[0.0, 2.0, 1.6], [0.0, 2.0, 1.2], [0.3, 2.0, 0.9], [-0.3, 2.0, 0.9]])


@dataclass
class Camera:
    """All that a joined pipeline needs of the pipeline of a camera whose result is known."""

    extrinsics: Extrinsics
    resets: int = 0

    def reset(self):
        self.resets += 1


class Watching(Camera):
    """The pipeline of a camera that sees the person in every frame."""

    def step(self, depth):
        return replace(result(self.extrinsics, PERSON_M), frame=depth)


def joined(**settings):
    return JoinedPipeline((Camera(FIRST), Camera(SECOND)), ViewFusion(TOY), Tracker(TOY), **settings)


def frame(index=0):
    return DepthFrame(np.full(SHAPE, 2.0, np.float32), LENS, index / 30, index)


def result(pose, *people_m, confidence=0.8):
    """What a camera at a pose finds: people in world axes, each with one row of its image."""
    tracks, masks = [], []
    for row, joints_m in enumerate(people_m):
        tracks.append(Track(row + 7, Pose(TOY.joints, pose.camera_points(joints_m), np.full(4, confidence))))
        masks.append(np.arange(SHAPE[0])[:, None] * np.ones(SHAPE[1]) == row)
    mask = np.any(masks, axis=0) if masks else np.zeros(SHAPE, bool)
    proposals = tuple(() for _ in people_m)
    return FrameResult(frame(), mask, mask.astype(np.uint8), proposals, tuple(tracks), person_masks=tuple(masks))


def join(pipeline, first, second, index=0):
    frames = tuple(None if each is None else frame(index) for each in (first, second))
    return pipeline.join(FrameSet(index, index / 30, frames), [first, second])


def test_two_views_make_one_person_in_both_axes():
    found = join(joined(), result(FIRST, PERSON_M), result(SECOND, PERSON_M))
    (person,) = found.people
    np.testing.assert_allclose(person.pose.joints_m, FIRST.camera_points(PERSON_M), atol=1e-9)
    np.testing.assert_allclose(found.world.world_points(person.pose.joints_m), PERSON_M, atol=1e-9)
    assert found.seen_by == ((1, 2),)
    assert person.id == 1


def test_a_reset_forgets_the_frames_of_all_cameras():
    pipeline, moved_m = joined(smoother=OneEuroSmoother()), PERSON_M + [0.2, 0, 0]
    first = join(pipeline, result(FIRST, PERSON_M), result(SECOND, PERSON_M))
    join(pipeline, result(FIRST, moved_m), result(SECOND, moved_m), index=1)
    pipeline.reset()
    again = join(pipeline, result(FIRST, PERSON_M), result(SECOND, PERSON_M))
    np.testing.assert_array_equal(again.people[0].pose.joints_m, first.people[0].pose.joints_m)
    assert [camera.resets for camera in pipeline.cameras] == [1, 1]


def test_a_person_of_the_second_camera_alone_has_no_pixel():
    found = join(joined(), result(FIRST, PERSON_M), result(SECOND, PERSON_M, PERSON_M + [1.5, 0, 0]))
    assert sorted(found.seen_by) == [(1, 2), (2,)]
    sizes = {who: int(mask.sum()) for who, mask in zip(found.seen_by, found.person_masks, strict=True)}
    assert sizes == {(1, 2): SHAPE[1], (2,): 0}


def test_ids_stay_while_views_come_and_go():
    pipeline, ids = joined(), []
    views = [(1, 1), (1, 0), (0, 1), (1, 1)]
    for index, (in_first, in_second) in enumerate(views):
        first, second = result(FIRST, *[PERSON_M] * in_first), result(SECOND, *[PERSON_M] * in_second)
        ids += [track.id for track in join(pipeline, first, second, index).people]
    assert ids == [1, 1, 1, 1]


def test_a_camera_without_a_frame_shows_an_empty_image():
    pipeline = joined()
    join(pipeline, result(FIRST, PERSON_M), result(SECOND, PERSON_M))
    found = join(pipeline, None, result(SECOND, PERSON_M), 1)
    assert found.frame.depth_m.shape == SHAPE
    assert not found.frame.depth_m.any()
    assert not found.mask.any()
    assert found.seen_by == ((2,),)
    np.testing.assert_allclose(found.people[0].pose.joints_m, FIRST.camera_points(PERSON_M), atol=1e-9)


def test_a_camera_without_a_frame_shows_no_older_colour():
    pipeline = JoinedPipeline((Watching(FIRST), Watching(SECOND)), ViewFusion(TOY), Tracker(TOY))
    coloured = replace(frame(), colour=np.full((*SHAPE, 3), 90, np.uint8))
    assert pipeline.step(FrameSet(0, 0.0, (coloured, frame()))).frame.colour is not None
    found = pipeline.step(FrameSet(1, 1 / 30, (None, frame(1))))
    assert found.frame.colour is None
    assert found.seen_by == ((2,),)


def test_limits_apply_to_joined_people():
    two = [PERSON_M, PERSON_M + [1.5, 0, 0]]
    assert len(join(joined(max_people=1), result(FIRST, *two), result(SECOND, *two)).people) == 1
    with pytest.raises(ValueError, match="max_people: wanted a whole number from 1 up, or None for all, got -1"):
        join(joined(max_people=-1), result(FIRST, *two), result(SECOND, *two))
    with pytest.raises(ValueError, match="min_confidence: wanted a number from 0 to 1, got 80"):
        join(joined(min_confidence=80), result(FIRST, *two), result(SECOND, *two))
    weak = result(FIRST, PERSON_M, confidence=0.3), result(SECOND, confidence=0.3)
    assert join(joined(min_confidence=0.4), *weak).people == ()
    both = result(FIRST, PERSON_M, confidence=0.3), result(SECOND, PERSON_M, confidence=0.3)
    assert len(join(joined(min_confidence=0.4), *both).people) == 1


def test_limits_are_of_people_as_they_are_shown():
    class HalfFound:
        """A fit that adds as many joints as were found, of which nothing is known."""

        def update_joints(self, tracks, now_s):
            halved = [replace(track.pose, confidences=track.pose.confidences / 2) for track in tracks]
            return tuple(replace(track, pose=pose) for track, pose in zip(tracks, halved, strict=True))

    weak = result(FIRST, PERSON_M, confidence=0.6), result(SECOND, PERSON_M, confidence=0.6)
    assert len(join(joined(min_confidence=0.5), *weak).people) == 1
    assert join(joined(min_confidence=0.5, body_fitter=HalfFound()), *weak).people == ()


def test_the_tracker_is_the_first_camera_s_without_its_people():
    own = Tracker(HUMAN, max_step_m=3.0, forget_after_s=10.0)
    cameras = [replace(Pipeline.load("person"), extrinsics=pose, tracker=own) for pose in (FIRST, SECOND)]
    assert own.update([Pose.of({})], 0.0)[0].id == 1
    joint = JoinedPipeline.of(cameras).tracker
    assert joint is not own
    assert (joint.max_step_m, joint.forget_after_s) == (3.0, 10.0)
    assert joint.update([Pose.of({})], 0.0)[0].id == 1


def test_the_given_pipelines_keep_their_own_limits():
    limits = {"smoother": OneEuroSmoother(), "max_people": 1, "min_confidence": 0.5}
    cameras = [replace(Pipeline.load("person"), extrinsics=pose, **limits) for pose in (FIRST, SECOND)]
    for _ in range(2):
        again = JoinedPipeline.of(cameras)
        assert (again.smoother, again.max_people, again.min_confidence) == (cameras[0].smoother, 1, 0.5)
    assert all((camera.max_people, camera.min_confidence) == (1, 0.5) for camera in cameras)
    assert all((camera.max_people, camera.min_confidence) == (None, 0.0) for camera in again.cameras)


def test_lines_say_which_cameras_saw_whom(tmp_path):
    path = tmp_path / "r.jsonl"
    with JsonLinesSink(path, ResultsHeader(TOY.joints, "a + b", "toy", cameras=("a", "b"))) as sink:
        sink.write(join(joined(), result(FIRST, PERSON_M), result(SECOND, PERSON_M)))
        sink.write(join(joined(), result(FIRST), result(SECOND)))
    header, line, empty = map(json.loads, path.read_text().splitlines())
    assert header["cameras"] == ["a", "b"]
    assert line["people"][0]["cameras"] == [1, 2]
    np.testing.assert_allclose(line["people"][0]["joints"]["head"]["xyz_world_m"], PERSON_M[0], atol=1e-4)
    assert empty["people"] == []
    read = read_results(path)
    assert read.header.cameras == ("a", "b")
    assert read.frames[0].seen_by == ((1, 2),)
    assert read.frames[0].as_line() == path.read_text().splitlines(keepends=True)[1]


def test_cameras_need_their_poses():
    with pytest.raises(ValueError, match="each with extrinsics"):
        JoinedPipeline.of([Camera(FIRST), Camera(None)])
    with pytest.raises(ValueError, match="at least two"):
        JoinedPipeline.of([Camera(FIRST)])


def test_a_body_is_fitted_to_joined_joints():
    model, body = human()
    posture = random_posture(body, np.random.default_rng(0))
    truth_m = place(body, posture)[2]
    cameras = Camera(FIRST), Camera(SECOND)
    pipeline = JoinedPipeline(cameras, ViewFusion(HUMAN), Tracker(HUMAN), BodyFitter(HUMAN, model))
    views = []
    for pose, share in ((FIRST, 0.9), (SECOND, 0.5)):
        joints_m = pose.camera_points(FIRST.world_points(truth_m))
        fit = BodyFit(HUMAN.joints, joints_m, np.zeros((20, 4)), np.zeros(20), np.zeros(0), share, 1.0)
        track = Track(3, Pose(HUMAN.joints, joints_m, np.full(20, 0.9)), fit)
        mask = np.ones(SHAPE, bool)
        views.append(FrameResult(frame(), mask, mask.astype(np.uint8), ((),), (track,), person_masks=(mask,)))
    (person,) = join(pipeline, *views).people
    np.testing.assert_allclose(person.fit.joints_m, truth_m, atol=0.03)
    np.testing.assert_array_equal(person.pose.joints_m, person.fit.joints_m)
    np.testing.assert_allclose(np.linalg.norm(person.fit.rotations_xyzw, axis=1), 1)
    assert person.fit.pixels_explained == pytest.approx(0.7)
    assert person.fit.outline_explained == 1
