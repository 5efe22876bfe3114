"""The programs of docs/examples, run on rendered people: they report what those people did."""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe import Pipeline
from posepipe.body import HUMAN
from posepipe.camera import Extrinsics, Plane
from posepipe.errors import PosepipeError
from posepipe.results import JointProposal, Pose
from posepipe.sinks import read_results
from posepipe.sources import open_source
from posepipe.sources.formats.npz_pack import write_npz_pack
from synth.motion.mocap.bvh import read_bvh
from tests.support.acted_scenes import RecordedScene, Stage, at_ease, bent, play, seated, squatting, tipped, turned
from tests.support.found_people import result, standing_m, track
from tests.support.paths import EXAMPLES
from tests.support.shipped_model import shipped_model

NAMES = ("fall_alarm", "hand_pointer", "squat_counter", "record_bvh")


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses need it
    spec.loader.exec_module(module)
    return module


FALL_ALARM, HAND_POINTER, SQUAT_COUNTER, RECORD_BVH = map(load, NAMES)


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run an example on a film, or on a named source: the lines that it prints."""
    monkeypatch.setattr(Pipeline, "load", lambda model, **how: Pipeline.from_model(shipped_model(), **how))

    def start(example, film: RecordedScene | str, *options: str) -> list[str]:
        source = film
        if isinstance(film, RecordedScene):
            source = str(tmp_path / "film.npz")
            write_npz_pack(source, film.frames)
        example.main([source, *map(str, options)])
        return capsys.readouterr().out.splitlines()

    return start


def alarms(lines: list[str]) -> list[float]:
    return [float(line.split()[0]) for line in lines if "FALL" in line]


def fall(lying: np.ndarray) -> np.ndarray:
    """Standing for half a second, on the floor 0.7 s later."""
    return play((0, at_ease()), (0.5, at_ease()), (1.2, lying), (2.6, lying))


CRUMPLED = tipped(squatting(60), (0, 0, 85))
FALLS = {
    "forwards": (11, -30.0, tipped(at_ease(), (90, 0, 0))),
    "backwards": (24, 75.0, tipped(at_ease(), (-90, 0, 0))),
    "sideways": (37, 20.0, tipped(at_ease(), (0, 0, 90))),
    "in a heap": (50, 160.0, CRUMPLED),
}


@pytest.mark.parametrize(("seed", "yaw_deg", "lying"), FALLS.values(), ids=FALLS)
def test_a_fall_raises_one_alarm_within_two_seconds(run, seed, yaw_deg, lying):
    lines = run(FALL_ALARM, Stage(seed, yaw_deg).film(fall(lying)))
    assert lines[0].endswith("1 in view")
    (time_s,) = alarms(lines)
    assert 1.2 < time_s < 3.2


HARMLESS = {
    "sits down": (play((0, at_ease()), (0.3, at_ease()), (1.1, seated()), (2.3, seated())), True),
    "bends down": (play((0, at_ease()), (0.3, at_ease()), (1.3, bent(80)), (2.4, bent(80))), False),
    "squats": (play((0, at_ease()), (0.3, at_ease()), (1.0, squatting(110)), (2.3, squatting(110))), False),
}


@pytest.mark.parametrize(("seed", "yaw_deg"), [(63, 25.0), (76, -110.0)])
@pytest.mark.parametrize(("poses", "seat"), HARMLESS.values(), ids=HARMLESS)
def test_sitting_down_bending_and_squatting_raise_none(run, seed, yaw_deg, poses, seat):
    lines = run(FALL_ALARM, Stage(seed, yaw_deg).film(poses, seat))
    assert lines[0].endswith("1 in view")
    assert not alarms(lines)


@pytest.mark.parametrize("seed", [63, 76])
def test_walking_by_raises_no_alarm_and_counts_no_squats(run, seed):
    film = Stage(seed).film_walk(1.7)
    assert not alarms(run(FALL_ALARM, film))
    assert not run(SQUAT_COUNTER, film)


def test_a_camera_without_a_floor_in_view_needs_extrinsics(run, tmp_path):
    stage = Stage(37, 20.0, room=False)
    film = stage.film(fall(FALLS["sideways"][2]))
    with pytest.raises(PosepipeError, match=r"no floor is in view.*--extrinsics"):
        run(FALL_ALARM, RecordedScene(film.frames[:5], film.joints_m[:5]))
    pitch = np.radians(stage.pitch_deg)
    world = Extrinsics.above_floor(Plane((0.0, -np.cos(pitch), -np.sin(pitch)), stage.height_m))
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = world.rotation, world.translation_m
    (tmp_path / "camera.json").write_text(json.dumps({"T_world_camera": matrix.tolist()}))
    assert len(alarms(run(FALL_ALARM, film, "--extrinsics", tmp_path / "camera.json"))) == 1


def fallen(share: float) -> np.ndarray:
    """A person whose joints have come down by a share of their height."""
    places = standing_m()
    feet_y = places[:, 1].max()
    places[:, 1] = feet_y - (1 - share) * (feet_y - places[:, 1])
    return places


LEVEL = Plane((0.0, -1.0, 0.0), float(standing_m()[:, 1].max()))


def watched(shares: list[float | None], fps: int = 10) -> list[str]:
    """Lines of the alarm for a person, id 7, beside another, id 2, who stands; None = unseen."""
    results = []
    for k, share in enumerate(shares):
        people = (track(2, standing_m(x=1.0)),) + ((track(7, fallen(share)),) if share is not None else ())
        results.append(result(k, people, k / fps, LEVEL))
    return list(FALL_ALARM.watch(results))


def test_the_alarm_names_the_person_and_counts_all_in_view():
    lines = watched([0.0] * 10 + [0.3, 0.6, 0.85] + [0.85] * 20)
    assert lines[0].endswith("2 in view")
    assert [line for line in lines if "FALL" in line] == ["    2.2 s  FALL of person 7 at 1.2 s, and not up again"]


@pytest.mark.parametrize(
    ("what", "shares"),
    {
        "gets up at once": [0.0] * 10 + [0.3, 0.6, 0.85] + [0.85] * 4 + [0.5, 0.2] + [0.0] * 20,
        "lies down slowly": [0.0] * 10 + [k / 50 for k in range(43)] + [0.85] * 20,
        "was never up": [0.85] * 40,
        "bends and is lost": [0.0] * 10 + [0.04, 0.1, 0.16] + [None] * 20,
        "plunges, is lost and seen to sit": [0.0] * 10 + [0.1, 0.25] + [None] * 4 + [0.4] * 20,
    }.items(),
)
def test_no_alarm_for_a_person_who(what, shares):
    assert not [line for line in watched(shares) if "FALL" in line]


def test_a_person_last_seen_plunging_has_fallen():
    assert len(alarms(watched([0.0] * 10 + [0.1, 0.25, 0.4] + [None] * 20))) == 1


SCREEN = HAND_POINTER.Screen((1.2, 0.7), (0.0, 0.4), 5.0)


def on_screen(x: float, y: float) -> np.ndarray:
    """A place of the screen in the axes of its camera, which is pitched down."""
    place_m = np.array([(0.5 - x) * 1.2, 0.4 + (y - 0.5) * 0.7, 0.0])
    return np.linalg.inv(np.column_stack([SCREEN.axes(axis) for axis in np.eye(3)])) @ place_m


@pytest.mark.parametrize(("seed", "side", "yaw_deg"), [(3, "right", 10.0), (5, "left", -15.0)])
def test_a_hand_points_at_the_screen_and_presses_when_stretched(run, seed, side, yaw_deg):
    stage = Stage(seed, yaw_deg, distance_m=2.0, height_m=1.2, pitch_deg=5.0, size=1.0)
    spots, keys = [(0.2, 0.3), (0.8, 0.7)], [(0.0, at_ease())]
    for k, (x, y) in enumerate(spots):
        pointing, stretched = (stage.pointing(side, on_screen(x, y), reach) for reach in (0.65, 1.0))
        keys += [(k + 0.3, pointing), (k + 0.5, pointing), (k + 0.7, stretched), (k + 0.9, stretched)]
        keys += [(k + 1.0, pointing)]
    lines = run(HAND_POINTER, stage.film(play(*keys)), "--screen", 1.2, 0.7, "--centre", 0, 0.4, "--pitch", 5)
    found = np.array([line.split() for line in lines], float)
    assert 19 <= len(found) <= 25
    presses = np.flatnonzero(np.diff(found[:, 2], prepend=0) > 0)
    assert len(presses) == len(spots)
    errors = found[presses, :2] - spots
    assert np.abs(errors[:, 0]).max() < 0.12
    assert np.abs(errors[:, 1]).max() < 0.25


def test_arms_that_hang_point_at_nothing(run):
    stage = Stage(3, distance_m=2.0, height_m=1.2, pitch_deg=5.0, size=1.0)
    assert not run(HAND_POINTER, stage.film(play((0, at_ease()), (0.6, bent(10)))), "--pitch", 5)


def reaching(hands_m: dict[str, tuple[float, float, float]], confidence: dict[str, float] | None = None) -> Pose:
    """Standing at 2.5 m, hands at some places from their shoulders, in the camera's axes."""
    places = dict(zip(HUMAN.joints, standing_m(), strict=True))
    places |= {f"{side}_hand": places[f"{side}_shoulder"] + hand for side, hand in hands_m.items()}
    own = {f"{side}_hand": value for side, value in (confidence or {}).items()}
    return Pose.of({name: JointProposal(name, tuple(place), own.get(name, 0.9)) for name, place in places.items()})


def test_the_hand_that_is_further_out_and_seen_well_points():
    pointer = HAND_POINTER.Pointer(HAND_POINTER.Screen((2.0, 2.0), (0.0, 0.0), 0.0))
    assert pointer.point(reaching({"left": (0, 0, -0.1), "right": (0.05, 0, -0.1)}), 0) is None  # at their own chest
    aim = {"left": (0, 0, -0.4), "right": (0.1, 0, -0.5)}
    np.testing.assert_allclose(pointer.point(reaching(aim), 0), [0.35, 0.325])
    np.testing.assert_allclose(pointer.point(reaching(aim, {"right": 0.3}), 0), [0.4, 0.325])
    assert pointer.point(reaching(aim, {"left": 0.3, "right": 0.3}), 0) is None
    assert pointer.point(Pose.of({}), 0) is None


def presses(shares: list[float], frame_s: float) -> list[bool]:
    """Whether an arm of so many lengths of the trunk presses, frame by frame."""
    pointer, pressed = HAND_POINTER.Pointer(HAND_POINTER.Screen((2.0, 2.0), (0.0, 0.0), 0.0)), []
    for k, share in enumerate(shares):
        pointer.point(reaching({"right": (0, 0, -share * 0.5)}), k * frame_s)  # the trunk is half a metre
        pressed.append(bool(pointer.pressed))
    return pressed


def test_a_press_lasts_until_the_arm_is_clearly_bent():
    found = presses([0.6, 0.67, 0.72, 0.67, 0.65, 0.63, 0.67], 0.5)
    assert found == [False, False, True, True, True, False, False]


def test_an_arm_found_too_short_for_a_moment_goes_on_pressing():
    assert presses([0.8, 0.5, 0.5, 0.8, 0.5, 0.5, 0.5, 0.5], 0.1) == [True] * 6 + [False] * 2


def test_a_line_meets_the_screen_where_geometry_puts_it():
    level = HAND_POINTER.Screen((2.0, 1.0), (0.5, -0.25), 0.0)
    shoulder = np.array([0.5, -0.25, 2.0])  # right before the centre
    np.testing.assert_allclose(level.meet(shoulder, shoulder + [0, 0, -0.5]), [0.5, 0.5])
    # a hand 10 cm to the camera's right, a quarter of the way: 40 cm to the left on the screen, as they see it
    np.testing.assert_allclose(level.meet(shoulder, shoulder + [0.1, 0.05, -0.5]), [0.3, 0.7])
    assert level.meet(shoulder, shoulder + [0.45, 0.0, -0.5]) is None
    np.testing.assert_allclose(level.meet(shoulder, shoulder + [0.3, 0.0, -0.5]), [0.0, 0.5])
    np.testing.assert_allclose(HAND_POINTER.Screen((1, 1), (0, 0), 90.0).axes((0.0, 0.0, 1.0)), [0, 1, 0], atol=1e-12)


def test_a_screen_without_a_size_is_refused(run, capsys):
    with pytest.raises(SystemExit):
        run(HAND_POINTER, "film.npz", "--screen", 0, 1)
    assert "--screen: wanted a width and a height" in capsys.readouterr().err


@pytest.mark.parametrize(("seed", "yaw_deg"), [(3, 15.0), (34, -50.0)])
def test_three_squats_are_three(run, seed, yaw_deg):
    keys = [(0.0, at_ease())]
    for k, depth in enumerate([squatting(75), squatting(110), squatting(75, more_right_deg=30)]):
        keys += [(0.6 + 1.3 * k, depth), (0.8 + 1.3 * k, depth), (1.3 + 1.3 * k, at_ease())]
    stage = Stage(seed, yaw_deg, distance_m=2.8)
    lines = run(SQUAT_COUNTER, stage.film(play(*keys)))
    assert [re.findall(r"squat (\d)", line) for line in lines] == [["1"], ["2"], ["3"]]
    depths = [[float(deg) for deg in re.findall(r"(?:left|right) (\d+)", line)] for line in lines]
    assert min(depths[1]) > max(depths[0])
    if seed == 3:  # seen from the front
        assert depths[2][1] - depths[2][0] > 5


def knees(left_deg: float, right_deg: float, confidence: float = 0.9) -> Pose:
    places = {}
    for side, deg in (("left", left_deg), ("right", right_deg)):
        bend = np.radians(deg)
        places |= {f"{side}_hip": (0.0, 0.0, 2.0), f"{side}_knee": (0.0, 0.4, 2.0)}
        places[f"{side}_ankle"] = (0.0, 0.4 + 0.4 * np.cos(bend), 2.0 + 0.4 * np.sin(bend))
    return Pose.of({name: JointProposal(name, place, confidence) for name, place in places.items()})


def squatted(*degrees: float | tuple[float, float], fps: int = 10) -> list[str]:
    counter, lines = SQUAT_COUNTER.Squats(), []
    for k, each in enumerate(degrees):
        left, right = each if isinstance(each, tuple) else (each, each)
        lines.append(counter.step(k / fps, SQUAT_COUNTER.bent_knees(knees(left, right))))
    return [line for line in lines if line]


def test_trembling_at_a_threshold_counts_once():
    assert len(squatted(0, 49, 51, 49, 52, 48, 90, 40, 36, 34, 36, 34, 37, 45, 34)) == 1


def test_the_difference_is_that_of_the_printed_degrees():
    (line,) = squatted(0, *[(85.4, 84.6)] * 6, 20)
    assert "left 85, right 85 degrees, difference +0" in line


def test_a_step_and_a_moment_are_no_squats():
    assert not squatted(*[0, (70, 5), (70, 5), (5, 70)] * 5)
    assert not squatted(0, 70, 70, 0, 0, 70, 70, 0)


def test_both_knees_are_reported_at_the_deepest_moment():
    (line,) = squatted(0, (60, 62), (60, 70), (80, 95), (90, 60), (70, 75), 60, 20)
    assert line == "squat 1: left 80, right 95 degrees, difference +15, 0.6 s"
    assert SQUAT_COUNTER.bent_knees(knees(50, 50, confidence=0.2)) == {}


@pytest.fixture(scope="module")
def raising_arms():
    raised = turned(turned(at_ease(), ["upperarm_l", "lowerarm_l", "hand_l"], (0, 0, 80)), ["lowerarm_l"], (0, 0, 40))
    stage = Stage(3, 10.0, distance_m=2.2, height_m=1.2, pitch_deg=8.0)
    return stage.film(play((0, at_ease()), (0.8, raised), (1.2, at_ease())))


def test_a_recording_gives_results_motion_capture_and_bones(run, raising_arms, tmp_path):
    lines = run(RECORD_BVH, raising_arms, tmp_path / "out")
    results = read_results(tmp_path / "out" / "results.jsonl")
    assert [len(row.people) for row in results.frames] == [1] * len(raising_arms.frames)
    motion = read_bvh(tmp_path / "out" / "person.bvh")
    assert set(HUMAN.joints) <= set(motion.joints)
    assert f"{len(raising_arms.frames)} frames" in lines[0]
    assert not (tmp_path / "out" / "recording.mcap").exists()
    told = {bone: float(length) for bone, length in re.findall(r"person 1  (\w+ - \w+) +([\d.]+);", "\n".join(lines))}
    assert len(told) == len(HUMAN.bones())
    for end, start in HUMAN.bones():
        truth = 100 * np.linalg.norm(raising_arms.joints_m[0, end] - raising_arms.joints_m[0, start])
        assert told[f"{HUMAN.joints[start]} - {HUMAN.joints[end]}"] == pytest.approx(truth, abs=5)
    left, right = (told[f"{side}_elbow - {side}_wrist"] for side in ("left", "right"))
    assert abs(left - right) > 0.1  # measured, not the bones of one build


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are not read on Windows")
def test_of_a_camera_the_depth_is_kept_and_is_a_source_again(run, raising_arms, tmp_path):
    first = raising_arms.frames[0]
    height, width = first.depth_m.shape
    header = {"width": width, "height": height, "depth_unit_m": 0.001}
    header |= {name: getattr(first.intrinsics, name) for name in ("fx", "fy", "cx", "cy")}
    with open(tmp_path / "depth.stream", "wb") as stream:  # as another program would send it
        stream.write(json.dumps(header).encode() + b"\n")
        for frame in raising_arms.frames[:6]:
            stream.write(struct.pack("<Q", 1_700_000_000_000_000_000 + round(frame.timestamp_s * 1e9)))
            stream.write(np.rint(frame.depth_m * 1000).astype("<u2").tobytes())
    lines = run(RECORD_BVH, f"camera:pipe:{tmp_path / 'depth.stream'}", tmp_path / "out")
    assert lines[0].startswith("person 1: 6 frames")
    with open_source(tmp_path / "out" / "recording.mcap") as again:
        for frame, was in zip(again, raising_arms.frames[:6], strict=True):
            np.testing.assert_array_equal(frame.depth_m, was.depth_m)


@pytest.mark.parametrize("example", [FALL_ALARM, HAND_POINTER, SQUAT_COUNTER])
def test_every_example_refuses_a_missing_source(run, example):
    with pytest.raises(PosepipeError, match=r"nowhere.npz: no such file"):
        run(example, "nowhere.npz")


@pytest.mark.parametrize("example", [FALL_ALARM, HAND_POINTER, SQUAT_COUNTER, RECORD_BVH], ids=NAMES)
def test_the_readme_shows_options_that_are_there(example, capsys):
    name = Path(example.__file__).name
    commands = re.findall(rf"python docs/examples/{name} (.*)", (EXAMPLES / "README.md").read_text())
    assert commands
    with pytest.raises(SystemExit):
        example.main(["--help"])
    options = capsys.readouterr().out
    assert all(word in options for command in commands for word in re.findall(r"--\w+", command))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_a_page(name):
    text = (EXAMPLES / f"{name}.py").read_text()
    assert text.count("\n") < 105
    imported = re.findall(r"from (posepipe[\w.]*) import ([\w, ]+)", text)
    assert imported
    assert not [names for _, names in imported if names.startswith("_")]


@pytest.mark.parametrize("example", [FALL_ALARM, HAND_POINTER, SQUAT_COUNTER, RECORD_BVH], ids=NAMES)
def test_every_example_prints_something_on_the_shipped_recording(example, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Pipeline, "load", lambda model, **how: Pipeline.from_model(shipped_model(), **how))
    level = [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 1], [0, 0, 0, 1]]  # one metre above the floor
    (tmp_path / "camera.json").write_text(json.dumps({"T_world_camera": level}))
    more = {FALL_ALARM: ["--extrinsics", str(tmp_path / "camera.json")], RECORD_BVH: [str(tmp_path / "out")]}
    example.main([str(RECORDING), *more.get(example, [])])
    printed = capsys.readouterr()
    assert (printed.out + printed.err).strip()
