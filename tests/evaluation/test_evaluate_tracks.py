"""Trackers side by side on sequences of planted poses: what is counted, by scene and over all, and what is left out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError
from posepipe.evaluation.baseline_tracker import NearestPoseTracker
from posepipe.evaluation.evaluate_tracks import TrackFigures, TrackingVariant, evaluate_tracks
from posepipe.evaluation.figures import write_figures
from posepipe.frames import LabelledFrame
from posepipe.results import JointProposal, Pose
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.tracker import Tracker
from tests.support.found_people import result, standing_m

FPS = 30
WAYS = {"tracker": TrackingVariant(lambda: Tracker(HUMAN)), "nearest pose": TrackingVariant(NearestPoseTracker)}


class Filmed:
    """Frames in memory, of one or more sequences: for each frame, where its people stand (x, z)."""

    body, recipe, source_revision, name, content, has_parts = HUMAN, {}, "", "filmed", "", True

    def __init__(self, sequences, exact=True, scenes=None, fps=FPS):
        self.frames, rows = [], []
        for number, places in enumerate(sequences):
            first = len(self.frames)
            self.frames += [labelled(time, place, fps) for time, place in enumerate(places)]
            scene = scenes[number] if scenes else ""
            rows.append(SequenceRows(f"film {number}", range(first, len(self.frames)), scene, exact))
        self.sequences = tuple(rows)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        return self.frames[index]


def labelled(time, places, fps=FPS) -> LabelledFrame:
    frame = result(time, timestamp_s=time / fps).frame
    joints_m = np.array([standing_m(*place) for place in places], np.float32).reshape(-1, 20, 3)
    nothing = np.zeros(frame.depth_m.shape, np.uint8)
    return LabelledFrame(frame, nothing, nothing, joints_m, np.isfinite(joints_m).all(axis=2))


def found(offset_m=(0.0, 0.0, 0.0), noise_m=0.0, lost=lambda person, frame: False):
    """Poses as they truly are, moved and with_noise, without those who are lost; the last person first."""
    rng = np.random.default_rng(3)

    def find(frames):
        for frame in frames:
            poses = []
            for person, joints_m in enumerate(frame.joints_m):
                if not lost(person, frame.depth.index):
                    places = joints_m + offset_m + rng.normal(0, noise_m, joints_m.shape)
                    poses.append(
                        Pose.of(
                            {
                                joint: JointProposal(joint, tuple(place.tolist()), 0.9)
                                for joint, place in zip(HUMAN.joints, places, strict=True)
                            }
                        )
                    )
            yield frame, poses[::-1]

    return find


def walking(frames=40, speed_m_s=1.2):
    """Two who pass each other in the middle, one 0.4 m behind the other."""
    lateral_m = speed_m_s * (np.arange(frames) - (frames - 1) / 2) / FPS
    return [[(x, 2.5), (-x, 2.9)] for x in lateral_m]


def standing(frames=30):
    return [[(0.0, 2.5)]] * frames


def evaluate(filmed, find=None, ways=WAYS, **how):
    return evaluate_tracks(FrameSequence([filmed]).sequences(), find or found(), ways, **how)


def figures(report, way="tracker"):
    return report.overall(way).figures()


def test_poses_that_are_right_make_perfect_tracks():
    report = evaluate(Filmed([walking(), standing()]))
    for way in WAYS:
        got = figures(report, way)
        assert (got["sequences"], got["people in view"], got["ids given"]) == (2, 3, 3)
        assert got["people, summed over frames"] == 2 * 40 + 30
        assert got["missed"] == got["false people"] == got["id switches"] == 0
        assert got["MOTA"] == got["IDF1"] == got["joints within 10 cm"] == 1
        assert got["median error, mm"] == pytest.approx(0, abs=1e-3)
    assert report.frames == 70


def test_a_gap_shows_what_prediction_adds():
    """People who pass each other while the camera is covered keep their ids by velocity, not by place."""
    report = evaluate(Filmed([walking()]), gap_s=0.49)
    assert report.frames == 40 - 14
    assert figures(report)["id switches"] == 0
    assert figures(report, "nearest pose")["id switches"] == 2
    assert figures(report)["people, summed over frames"] == 2 * 26  # none of the gap


def test_frames_are_left_out_of_each_sequence_by_itself():
    report = evaluate(Filmed([standing(10), standing(7)]), frame_step=3)
    assert report.frames == 4 + 3


def test_every_frame_is_reported_played_or_not():
    told = []
    evaluate(Filmed([standing()]), gap_s=0.5, frame_step=2, on_frame=lambda: told.append(1))
    assert len(told) == 15


def test_a_gap_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match=r"a gap of 2 s leaves nothing of film 1, which lasts 0\.97 s"):
        evaluate(Filmed([standing(90), standing(30)]), gap_s=2.0)


def test_the_missed_and_the_false_are_counted():
    lost = evaluate(Filmed([walking()]), found(lost=lambda person, frame: person == 1 and frame < 10))
    assert figures(lost)["missed"] == 10
    assert figures(lost)["joints within 10 cm"] == 1  # errors are of those who were found
    far = figures(evaluate(Filmed([standing()]), found(offset_m=(0.6, 0, 0))))
    assert (far["missed"], far["false people"]) == (30, 30)
    assert np.isnan(far["median error, mm"])


def test_joints_that_are_not_found_are_not_within_10_cm():
    def without_hands(frames):
        for frame, (pose,) in found(offset_m=(0, 0.05, 0))(frames):
            joints = {name: joint for name, joint in pose.joints.items() if not name.endswith("hand")}
            yield frame, [Pose.of(joints)]

    got = figures(evaluate(Filmed([standing()]), without_hands))
    assert got["joints within 10 cm"] == pytest.approx(18 / 20)
    assert got["median error, mm"] == pytest.approx(50, abs=1)


def test_jitter_is_of_joints_at_rest_and_smoothing_reduces_it():
    ways = {**WAYS, "smoothed": TrackingVariant(lambda: Tracker(HUMAN), OneEuroSmoother)}
    report = evaluate(Filmed([standing(60), walking()]), found(noise_m=0.005), ways)
    plain, smoothed = figures(report), figures(report, "smoothed")
    assert plain["spread at rest, mm"] == pytest.approx(5 * 3**0.5, rel=0.05)
    assert smoothed["spread at rest, mm"] < 0.5 * plain["spread at rest, mm"]
    assert smoothed["step at rest, mm"] < 0.3 * plain["step at rest, mm"]
    assert report.by_scene["tracker"]["film 0"].jitter.samples == 60 * 20
    assert report.by_scene["tracker"]["film 1"].jitter.samples == 0


def test_measured_joints_are_no_truth_for_jitter():
    filmed = Filmed([standing(60)], exact=False)
    rng = np.random.default_rng(5)
    for frame in filmed.frames:
        frame.joints_m[:] += rng.normal(0, 0.02, frame.joints_m.shape)
    ways = {**WAYS, "smoothed": TrackingVariant(lambda: Tracker(HUMAN), OneEuroSmoother)}

    def still(frames):
        for frame, _ in found()(frames):
            yield frame, [pose for _, [pose] in found(noise_m=0.001)([labelled(0, [(0.0, 2.5)])])]

    report = evaluate(filmed, still, ways)
    assert figures(report)["spread at rest, mm"] < 3
    assert np.isnan(figures(report, "smoothed")["spread at rest, mm"])  # no estimate holds for smoothed joints
    assert figures(report, "smoothed")["step at rest, mm"] < 1


@pytest.mark.parametrize(("pixels", "false"), [(0, 2), (1, 0)], ids=["nobody", "a person"])
def test_found_without_known_joints_is_false_where_nobody_is(pixels, false):
    filmed = Filmed([standing()], exact=False)
    for row in (3, 4):
        frame = filmed.frames[row]
        unknown, people = np.full_like(frame.joints_m, np.nan), np.full_like(frame.people, pixels)
        filmed.frames[row] = replace(frame, joints_m=unknown, people=people, visible=np.zeros((1, 20), bool))
    still = found()([labelled(0, [(0.0, 2.5)])])
    (_, poses), *_ = still
    got = figures(evaluate(filmed, lambda frames: ((frame, poses) for frame in frames)))
    assert (got["people, summed over frames"], got["missed"], got["false people"]) == (28, 0, false)
    assert got["ids given"] == 1


def test_a_person_without_known_joints_is_not_judged():
    filmed, places = Filmed([[[(-0.5, 2.5), (0.5, 2.5)]] * 30], exact=False), [labelled(0, [(-0.5, 2.5), (0.5, 2.5)])]
    for row in range(10, 20):
        frame = filmed.frames[row]
        people = np.ones(frame.people.shape, np.uint8)
        people[:, 32:] = 2
        joints_m, visible = frame.joints_m.copy(), frame.visible.copy()
        joints_m[0], visible[0] = np.nan, False
        filmed.frames[row] = replace(frame, people=people, joints_m=joints_m, visible=visible)
    (_, poses), *_ = found()(places)
    got = figures(evaluate(filmed, lambda frames: ((frame, poses) for frame in frames)))
    assert (got["people, summed over frames"], got["missed"], got["false people"], got["id switches"]) == (50, 0, 0, 0)
    assert got["MOTA"] == got["IDF1"] == 1


def test_people_who_show_too_few_joints_are_not_counted():
    filmed = Filmed([standing()])
    for row in range(10):
        filmed.frames[row].visible[0, 4:] = False
    assert figures(evaluate(filmed, found(), in_view_joints=5))["people, summed over frames"] == 20


def test_people_may_come_later_than_the_first_frame():
    places = [[(0.0, 2.5)]] * 15 + [[(0.0, 2.5), (1.2, 3.0)]] * 15
    got = figures(evaluate(Filmed([places])))
    assert (got["people in view"], got["ids given"], got["id switches"]) == (2, 2, 0)
    empty = figures(evaluate(Filmed([[[]] * 5])))
    assert (empty["people in view"], empty["false people"]) == (0, 0)


def test_scenes_are_separate_and_added_up():
    filmed = Filmed([walking(), standing(), walking()], scenes=["crossing", "standing", "crossing"])
    report = evaluate(filmed, found(noise_m=0.002))
    scenes = report.by_scene["nearest pose"]
    assert {scene: each.sequences for scene, each in scenes.items()} == {"crossing": 2, "standing": 1}
    assert sum(scenes.values(), TrackFigures()).counts == report.overall("nearest pose").counts
    text = report.text()
    assert "tracker, by scene:" in text
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ["crossing", "standing"]
    assert "by scene" not in evaluate(Filmed([walking()])).text()


def test_a_joint_10_cm_off_is_wrong_of_tracks_too():
    assert TrackFigures(errors_m=np.array([0.099, 0.1])).figures()["joints within 10 cm"] == 0.5


def test_figures_are_written_with_none_for_what_there_was_not(tmp_path):
    path = tmp_path / "figures.json"
    write_figures(path, "two films", {"person": evaluate(Filmed([walking()], scenes=["crossing"]))})
    written = json.loads(path.read_text())
    assert written["frames"] == "two films"
    trackers = written["models"]["person"]["trackers"]
    assert trackers["tracker"]["all"]["id switches"] == 0
    assert trackers["nearest pose"]["by scene"]["crossing"]["spread at rest, mm"] is None


def test_a_median_over_mostly_missing_joints_is_none_in_json(tmp_path):
    def heads_only(frames):
        yield from ((frame, [Pose.of({"head": pose.joints["head"]})]) for frame, (pose,) in found()(frames))

    path = tmp_path / "figures.json"
    write_figures(path, "one film", {"person": evaluate(Filmed([standing()]), heads_only)})
    assert "Infinity" not in path.read_text()  # which is no JSON
    assert json.loads(path.read_text())["models"]["person"]["trackers"]["tracker"]["all"]["median error, mm"] is None


def test_times_that_do_not_rise_are_refused():
    filmed = Filmed([standing(5)])
    filmed.frames[3] = filmed.frames[2]
    with pytest.raises(FormatError, match=r"film 0: times must rise within a sequence: 0\.067 s after 0\.067 s"):
        evaluate(filmed)


def test_sequences_are_cut_to_the_rows_in_use():
    frames = FrameSequence([Filmed([standing(5), standing(1), standing(5)]), Filmed([standing(4)])])
    assert [(rows.name, len(part)) for rows, part in frames.sequences()] == [
        ("film 0", 5),
        ("film 2", 5),
        ("film 0", 4),
    ]
    assert [(rows.name, len(part)) for rows, part in frames[:8].sequences()] == [("film 0", 5), ("film 2", 2)]
    assert [len(part) for _, part in frames[3:12].sequences()] == [2, 5]
