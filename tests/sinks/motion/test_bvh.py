"""BVH: two readers, a naive one and that of motion captures, find the joints at the written positions."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from apps.cli import main
from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.errors import PosepipeError
from posepipe.kinematics.skeleton_fitting import FittedSkeleton
from posepipe.sinks import JsonLinesSink, ResultsHeader, read_results
from posepipe.sinks.motion.bvh import bvh_text
from posepipe.sinks.motion.motion_formats import open_motion_sink
from synth.motion.mocap.bvh import read_bvh as read_capture
from tests.reference.sinks.bvh import read_bvh
from tests.support.found_people import FLOOR, fitted, one_person, result, standing_m, track, track_of, true_walk_m

CM = 0.01


def write(path, results, body=HUMAN):
    with open_motion_sink(path, body) as sink:
        for one in results:
            sink.write(one)
    return sink.written


def joints_of(path, names=HUMAN.joints):
    """Where the naive reader finds the joints: (T, 20, 3), metres, the file's axes."""
    found, _, _, places = read_bvh(path.read_text())
    return places[:, [found.index(name) for name in names]] * CM


def test_a_walk_is_read_back_where_it_was_walked(tmp_path):
    walk_m = true_walk_m()
    (written,) = write(tmp_path / "walk.bvh", one_person(walk_m))
    names, parents, frame_s, _ = read_bvh((tmp_path / "walk.bvh").read_text())
    assert dict(zip(names, parents, strict=True)) == HUMAN.parents
    assert frame_s == pytest.approx(1 / 30, abs=1e-6)
    errors = np.linalg.norm(joints_of(tmp_path / "walk.bvh") - walk_m * [1, -1, -1], axis=-1)
    assert errors.shape == (60, 20)
    assert errors.mean() < 0.001  # a rendered person is almost rigid
    assert errors.max() < 0.01
    assert written.rigid_error_m == pytest.approx(errors.mean(), abs=1e-5)
    assert (written.person, written.first_frame, written.frames, written.axes) == (1, 0, 60, "camera")


def test_the_reader_of_motion_captures_reads_our_files(tmp_path):
    write(tmp_path / "walk.bvh", one_person(true_walk_m()))
    capture = read_capture(tmp_path / "walk.bvh")
    names = [name for name in capture.joints if not name.endswith(" end")]
    assert set(names) == set(HUMAN.joints)
    rows = [capture.joints.index(name) for name in HUMAN.joints]
    got = capture.places(capture.rotations)[:, rows] * CM
    every = round(60 / len(got))  # it looks at about ten frames a second
    wanted = joints_of(tmp_path / "walk.bvh")[::every]
    pelvis = HUMAN.joint_index("pelvis")  # a capture is free of place
    np.testing.assert_allclose(got - got[:, [pelvis]], wanted - wanted[:, [pelvis]], atol=1e-4)


def test_bones_of_fitted_bodies_turn_about_themselves(tmp_path):
    elbow, wrist = (HUMAN.joint_index(f"left_{name}") for name in ("elbow", "wrist"))
    axis = standing_m()[wrist] - standing_m()[elbow]
    axis /= np.linalg.norm(axis)
    results = []
    for index in range(5):
        turns = np.tile(Rotation.from_rotvec(np.radians(20 * index) * axis).as_quat(), (20, 1))
        (person,) = one_person(standing_m()[None])[0].people
        fit = replace(fitted(person).fit, rotations_xyzw=turns)
        results.append(result(index, (replace(person, fit=fit),)))
    write(tmp_path / "a.bvh", results)
    capture = read_capture(tmp_path / "a.bvh")
    turned = Rotation.from_quat(capture.rotations[:, capture.joints.index("left_elbow")])
    assert len(turned) == 2  # frames 0 and 3
    assert (turned[1] * turned[0].inv()).magnitude() == pytest.approx(np.radians(60), abs=1e-3)
    np.testing.assert_allclose(joints_of(tmp_path / "a.bvh")[-1], joints_of(tmp_path / "a.bvh")[0], atol=1e-4)


@pytest.mark.parametrize("floor", [None, FLOOR])
def test_a_results_file_gives_the_same_bvh_file(tmp_path, floor):
    (person,) = one_person(standing_m()[None])[0].people
    results = [result(index, (fitted(person, index),), floor=floor) for index in range(5)]
    write(tmp_path / "run.bvh", results)
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m", fitted=True)) as lines:
        for each in results:
            lines.write(each)
    with open_motion_sink(tmp_path / "converted.bvh", HUMAN) as sink:
        for row in read_results(tmp_path / "r.jsonl").frames:
            sink.write_row(row)
    assert (tmp_path / "converted.bvh").read_bytes() == (tmp_path / "run.bvh").read_bytes()


def test_the_error_of_noisy_joints_is_below_the_noise(tmp_path):
    noisy = true_walk_m() + np.random.default_rng(0).normal(0, 0.03, (60, 20, 3))
    write(tmp_path / "walk.bvh", one_person(noisy))
    error = joints_of(tmp_path / "walk.bvh") - noisy * [1, -1, -1]
    assert np.sqrt((error**2).sum(axis=-1).mean()) < 0.03 * np.sqrt(3)


def test_above_a_floor_y_is_height_and_z_is_towards_the_camera(tmp_path):
    (written,) = write(tmp_path / "a.bvh", one_person([standing_m()] * 3, floor=FLOOR))
    world = Extrinsics.above_floor(FLOOR).world_points(standing_m())
    got = joints_of(tmp_path / "a.bvh")[0]
    assert written.axes == "world"
    np.testing.assert_allclose(got, np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1), atol=0.01)
    toes = got[HUMAN.joint_index("left_foot")] - got[HUMAN.joint_index("left_ankle")]
    assert toes[2] > 0.1


def test_a_floor_that_is_not_always_in_view_is_not_used(tmp_path):
    frames = one_person([standing_m()] * 4, floor=FLOOR)
    frames[2] = result(2, (track(1, standing_m()),))
    (written,) = write(tmp_path / "a.bvh", frames)
    assert written.axes == "camera"
    assert joints_of(tmp_path / "a.bvh")[3, HUMAN.joint_index("pelvis"), 2] == pytest.approx(-2.5, abs=0.01)


def test_a_frame_without_people_needs_no_floor(tmp_path):
    frames = [result(0), *(result(i, (track(1, standing_m()),), floor=FLOOR) for i in (1, 2))]
    assert [each.axes for each in write(tmp_path / "a.bvh", frames)] == ["world"]


def test_one_person_gets_the_file_and_several_get_one_each(tmp_path):
    write(tmp_path / "one" / "a.bvh", one_person([standing_m()] * 2, id=7))
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["a.bvh"]
    frames = [result(i, (track(7, standing_m()), track(9, standing_m(i * 0.1)))[: 1 + (i > 3)]) for i in range(10)]
    written = write(tmp_path / "two" / "a.bvh", frames)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["a-7.bvh", "a-9.bvh"]
    assert [(each.person, each.first_frame, each.frames) for each in written] == [(7, 0, 10), (9, 4, 6)]
    pelvis = joints_of(tmp_path / "two" / "a-9.bvh")[:, HUMAN.joint_index("pelvis"), 0]
    np.testing.assert_allclose(pelvis, np.arange(4, 10) * 0.1, atol=0.01)


def test_people_move_across_short_gaps_and_stay_in_long_ones(tmp_path):
    frames = [result(i, () if i in {3, 4, *range(10, 40)} else (track(1, standing_m(i * 0.1)),)) for i in range(45)]
    write(tmp_path / "a.bvh", frames)
    x = joints_of(tmp_path / "a.bvh")[:, HUMAN.joint_index("pelvis"), 0]
    np.testing.assert_allclose(x[:10], np.arange(10) * 0.1, atol=0.01)
    np.testing.assert_allclose(x[10:40], 0.9, atol=0.01)
    np.testing.assert_allclose(x[40:], np.arange(40, 45) * 0.1, atol=0.01)


def test_a_lost_arm_goes_with_the_person_who_walks_on(tmp_path):
    walk_m = np.stack([standing_m(x_m) for x_m in np.linspace(0, 2, 200)])
    found_m, lost = walk_m.copy(), [HUMAN.joint_index("left_wrist"), HUMAN.joint_index("left_hand")]
    found_m[70:, lost] = np.nan
    (written,) = write(tmp_path / "a.bvh", one_person(found_m))
    np.testing.assert_allclose(joints_of(tmp_path / "a.bvh"), walk_m * [1, -1, -1], atol=1e-3)
    assert written.rigid_error_m < 1e-3


def test_times_that_are_uneven_become_even(tmp_path):
    times_s = np.cumsum(np.random.default_rng(1).choice([1 / 30, 1 / 30, 2 / 30], 40))
    frames = [result(i, (track(1, standing_m(t)),), timestamp_s=t) for i, t in enumerate(times_s)]
    write(tmp_path / "a.bvh", frames)
    x = joints_of(tmp_path / "a.bvh")[:, HUMAN.joint_index("pelvis"), 0]
    np.testing.assert_allclose(x, times_s[0] + np.arange(len(x)) / 30, atol=0.01)


def test_a_joint_never_found_is_left_out(tmp_path):
    xyz_m = standing_m()
    xyz_m[HUMAN.joint_index("left_elbow")] = np.nan
    write(tmp_path / "a.bvh", one_person([xyz_m] * 2))
    names, parents, _, _ = read_bvh((tmp_path / "a.bvh").read_text())
    assert "left_elbow" not in names
    assert parents[names.index("left_wrist")] == "left_shoulder"


def rotations(text):
    numbers = np.array([line.split() for line in text.split("Frame Time:")[1].splitlines()[1:]], float)
    return numbers[:, 3:]


@settings(deadline=None, max_examples=30)
@given(angles=st.tuples(*[st.floats(-200, 200)] * 3), locked=st.sampled_from([None, 90, -90]))
def test_any_turn_is_written_so_that_it_is_read_again(angles, locked):
    z, x, y = angles
    turn = Rotation.from_euler("ZXY", [z, x if locked is None else locked, y], degrees=True).as_matrix()
    turns = np.broadcast_to(turn, (1, 2, 3, 3))
    stick = FittedSkeleton(("a", "b"), (-1, 0), np.array([[0, 0, 0], [0.3, 0.4, 1.2]]), np.zeros((1, 3)), turns)
    text = bvh_text(stick, 1.0)
    np.testing.assert_allclose(read_bvh(text)[3][0, 1] * CM, turn @ stick.offsets_m[1], atol=1e-5)


def test_angles_do_not_jump_while_a_body_spins(tmp_path):
    middle = standing_m().mean(axis=0)
    turns = Rotation.from_rotvec(np.arange(0, 1000, 7)[:, None] * [[0, 1, 0]], degrees=True)
    spun = np.stack([turn.apply(standing_m() - middle) + middle for turn in turns])
    write(tmp_path / "a.bvh", one_person(spun))
    angles = rotations((tmp_path / "a.bvh").read_text())
    assert np.abs(np.diff(angles, axis=0)).max() < 8
    assert np.ptp(angles[:, :3], axis=0).max() > 900
    np.testing.assert_allclose(joints_of(tmp_path / "a.bvh"), spun * [1, -1, -1], atol=0.02)


def test_a_killed_run_is_made_again_from_its_results(tmp_path, capsys):
    frames = one_person(true_walk_m(), floor=FLOOR)
    write(tmp_path / "run.bvh", frames[:40])
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m")) as lines:
        for one in frames:
            lines.write(one)
    whole = (tmp_path / "r.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(whole[:41]) + whole[41][:300])
    assert main(["convert", str(tmp_path / "cut.jsonl"), str(tmp_path / "made.bvh")]) == 0
    assert (tmp_path / "made.bvh").read_bytes() == (tmp_path / "run.bvh").read_bytes()
    printed = capsys.readouterr()
    assert "person 1: 40 frames" in printed.out
    assert "cut" in printed.err


def test_what_an_interrupted_run_found_is_written(tmp_path):
    def frames():
        yield from one_person([standing_m()] * 3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.bvh", frames())
    assert len(joints_of(tmp_path / "a.bvh")) == 3


def test_without_people_no_file_is_written_or_replaced(tmp_path):
    (tmp_path / "a.bvh").write_text("older")
    assert write(tmp_path / "a.bvh", [result(0), result(1, (track_of(1, {}),))]) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["a.bvh"]
    assert (tmp_path / "a.bvh").read_text() == "older"


def test_names_with_spaces_are_one_word(tmp_path):
    dog = BodyDefinition("dog", ("all",), ("left paw", "tail tip"), {}, {"left paw": None, "tail tip": "left paw"})
    joints = {name: (float(i), 0.0, 2.0) for i, name in enumerate(dog.joints)}
    write(tmp_path / "a.bvh", [result(0, (track_of(1, joints),))], dog)
    assert read_bvh((tmp_path / "a.bvh").read_text())[0] == ["left_paw", "tail_tip"]


@pytest.mark.parametrize("place", ["file/a.bvh", "folder.bvh"])
def test_an_unwritable_path_is_an_error_before_the_first_frame(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.bvh").mkdir()
    with pytest.raises(PosepipeError, match=r"\.bvh: "), open_motion_sink(tmp_path / place, HUMAN):
        pass


def test_a_damaged_clock_and_unknown_joints_are_one_line_errors(tmp_path, capsys):
    write_rows(tmp_path / "mad.jsonl", [row(0, 0.0), row(1, 0.03), row(2, 0.06), row(3, 1e12)])
    assert main(["convert", str(tmp_path / "mad.jsonl"), str(tmp_path / "a.bvh")]) == 1
    assert "are the timestamps right" in capsys.readouterr().err
    write_rows(tmp_path / "dog.jsonl", [row(0, 0.0, "tail")], ["tail"])
    assert main(["convert", str(tmp_path / "dog.jsonl"), str(tmp_path / "a.bvh")]) == 1
    assert "'tail'" in capsys.readouterr().err
    assert not (tmp_path / "a.bvh").exists()


def test_times_that_do_not_advance_only_lose_their_frames(tmp_path):
    times_s = [0.0, 0.1, 0.1, 0.05, 0.2, 0.3]
    frames = [result(i, (track(1, standing_m(t)),), timestamp_s=t) for i, t in enumerate(times_s)]
    write(tmp_path / "a.bvh", frames)
    x = joints_of(tmp_path / "a.bvh")[:, HUMAN.joint_index("pelvis"), 0]
    np.testing.assert_allclose(x, [0, 0.1, 0.2, 0.3], atol=0.01)


def row(frame, timestamp_s, joint="pelvis"):
    people = [{"id": 1, "joints": {joint: {"xyz_m": [0, 0, 2], "confidence": 1}}}]
    return {"frame": frame, "timestamp_s": timestamp_s, "people": people}


def write_rows(path, rows, joints=HUMAN.joints):
    header = {"format": "posepipe-results", "version": 1, "joints": list(joints), "axes": "", "frame_id": "c"}
    header |= {"start_time_ns": 0, "model": "m", "source": "s"}
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *rows]))
    assert len(read_results(path).frames) == len(rows)
