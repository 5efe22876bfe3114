"""C3D, TRC and glTF: other programs' readers find the joints where they were written."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from apps.cli import main
from apps.options.value_types import MOTION_SUFFIXES as OFFERED
from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.errors import PosepipeError
from posepipe.sinks import JsonLinesSink, ResultsHeader
from posepipe.sinks.motion.motion_formats import MOTION_SUFFIXES, open_motion_sink
from tests.support.found_people import FLOOR, fitted, one_person, result, standing_m, track, track_of, true_walk_m
from tests.support.paths import EXAMPLES

NEW = [suffix for suffix in MOTION_SUFFIXES if suffix != ".bvh"]
TO_Y_UP = [1, -1, -1]


def write(path, results, body=HUMAN):
    with open_motion_sink(path, body) as sink:
        for one in results:
            sink.write(one)
    return sink.written


@pytest.fixture(scope="module")
def walk_m():
    return true_walk_m()


def with_gaps(xyz_m):
    """A walk in which one hand is lost for 3 frames and for 30, and one foot for all."""
    lost = xyz_m.copy()
    hand, foot = HUMAN.joint_index("left_hand"), HUMAN.joint_index("right_foot")
    lost[5:8, hand] = lost[20:50, hand] = lost[:, foot] = np.nan
    return lost, hand, foot


def read_trc(path):
    """Marker names, rate, times and places (T, J, 3) of a TRC file; NaN = empty."""
    lines = path.read_text().split("\n")
    assert lines[0] == f"PathFileType\t4\t(X/Y/Z)\t{path.name}"
    names = lines[3].split("\t")[2:-1:3]
    rows = [line.split("\t") for line in lines[6:] if line]
    assert {len(cells) for cells in (lines[3].split("\t"), lines[4].split("\t"), *rows)} == {3 + 3 * len(names)}
    numbers = [[float(cell or "nan") for cell in cells[:-1]] for cells in rows]
    table = np.array(numbers)
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=True))
    assert (int(header["NumFrames"]), int(header["NumMarkers"]), header["Units"]) == (len(table), len(names), "m")
    return (
        names,
        float(header["DataRate"]),
        table[:, 1],
        table[:, 2:].reshape(len(table), -1, 3),
    )


def open_glb(path):
    """Document of a .glb, and a function that reads an accessor: (N, width)."""
    content = path.read_bytes()
    magic, version, size, length, kind = struct.unpack_from("<4sIIII", content)
    assert (magic, version, size, kind) == (b"glTF", 2, len(content), 0x4E4F534A)
    document, binary = json.loads(content[20 : 20 + length]), content[28 + length :]

    def array(index, width, kind="<f4"):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        return np.frombuffer(binary, kind, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)

    return document, array


def read_glb(path):
    """Node names, times and world positions (T, J, 3) of the joints of a .glb, by its nodes and channels alone."""
    document, array = open_glb(path)
    (animation,) = document["animations"]
    nodes, joints = document["nodes"], document["skins"][0]["joints"]
    parents = {child: k for k, node in enumerate(nodes) for child in node.get("children", [])}
    tracks = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        target = channel["target"]
        width = 3 if target["path"] == "translation" else 4
        tracks[target["node"], target["path"]] = array(sampler["output"], width)
        times = array(sampler["input"], 1)[:, 0]
    turns, places = {}, {}
    for node in joints:  # parents come first
        offset = tracks.get((node, "translation"), np.tile(nodes[node]["translation"], (len(times), 1)))
        turn = Rotation.from_quat(tracks[node, "rotation"])
        parent = parents.get(node)
        places[node] = offset if parent is None else places[parent] + turns[parent].apply(offset)
        turns[node] = turn if parent is None else turns[parent] * turn
    return [nodes[node]["name"] for node in joints], times, np.stack([places[node] for node in joints], axis=1)


def test_the_offered_suffixes_are_those_that_are_written():
    assert OFFERED == MOTION_SUFFIXES


def test_ezc3d_finds_points_and_gaps_where_they_were_written(tmp_path, walk_m):
    ezc3d = pytest.importorskip("ezc3d")
    lost, hand, foot = with_gaps(walk_m)
    (written,) = write(tmp_path / "a.c3d", one_person(lost))
    file = ezc3d.c3d(str(tmp_path / "a.c3d"))
    point = file["parameters"]["POINT"]
    assert point["LABELS"]["value"] == list(HUMAN.joints)
    assert point["UNITS"]["value"] == ["mm"]
    assert point["RATE"]["value"][0] == pytest.approx(30, abs=1e-3)
    points_mm = np.moveaxis(file["data"]["points"][:3], 0, -1).swapaxes(0, 1)
    assert points_mm.shape == (60, 20, 3)
    wanted_mm = lost * TO_Y_UP * 1000
    seen = np.isfinite(lost).all(axis=-1)
    np.testing.assert_allclose(points_mm[seen], wanted_mm[seen], atol=0.1)
    absent = np.isnan(points_mm).any(axis=-1)
    assert absent[20:50, hand].all()
    assert absent[:, foot].all()
    assert absent.sum() == 30 + 60
    assert written.frames == 60


def test_a_trc_file_holds_joints_in_metres_and_empty_gaps(tmp_path, walk_m):
    lost, _, foot = with_gaps(walk_m)
    write(tmp_path / "a.trc", one_person(lost))
    names, rate, times_s, markers_m = read_trc(tmp_path / "a.trc")
    assert names == [name for name in HUMAN.joints if name != "right_foot"]
    assert rate == pytest.approx(30, abs=1e-3)
    np.testing.assert_allclose(times_s, np.arange(60) / 30, atol=5e-5)
    seen = np.isfinite(np.delete(lost, foot, 1))
    np.testing.assert_allclose(markers_m[seen], (np.delete(lost, foot, 1) * TO_Y_UP)[seen], atol=1e-4)
    assert np.isnan(markers_m[20:50, names.index("left_hand")]).all()
    assert np.isfinite(markers_m[5:8, names.index("left_hand")]).all()


def test_opensim_reads_the_markers(tmp_path, walk_m):
    opensim = pytest.importorskip("opensim")
    lost, hand, _ = with_gaps(walk_m)
    lost[40:, HUMAN.joint_index("left_foot")] = np.nan  # the last marker: its line ends in empty cells
    write(tmp_path / "a.trc", one_person(lost))
    table = opensim.TimeSeriesTableVec3(str(tmp_path / "a.trc"))
    assert list(table.getColumnLabels()) == [name for name in HUMAN.joints if name != "right_foot"]
    assert table.getTableMetaDataString("Units") == "m"
    assert table.getNumRows() == 60
    column = table.getDependentColumn("left_hand")
    got = np.array([column[row].to_numpy() for row in range(60)])
    np.testing.assert_allclose(got[:5], walk_m[:5, hand] * TO_Y_UP, atol=1e-4)
    assert np.isnan(got[20:50]).all()


def test_opensim_knows_every_marker_of_the_shipped_set(tmp_path, walk_m):
    opensim = pytest.importorskip("opensim")
    markers = opensim.MarkerSet(str(EXAMPLES / "opensim_markers.xml"))
    write(tmp_path / "a.trc", one_person(walk_m))
    names = {markers.get(k).getName() for k in range(markers.getSize())}
    assert names == set(read_trc(tmp_path / "a.trc")[0])
    assert markers.get("left_knee").getParentFrameName() == "/bodyset/tibia_l"


def test_a_walk_in_gltf_is_where_it_was_walked(tmp_path, walk_m):
    write(tmp_path / "a.glb", one_person(walk_m))
    names, times_s, places_m = read_glb(tmp_path / "a.glb")
    rows = [HUMAN.joint_index(name) for name in names]
    assert sorted(rows) == list(range(20))
    np.testing.assert_allclose(times_s, np.arange(60) / 30, atol=5e-5)
    errors = np.linalg.norm(places_m - walk_m[:, rows] * TO_Y_UP, axis=-1)
    assert errors.mean() < 0.001  # a rendered person is almost rigid
    assert errors.max() < 0.01


def test_gltf_bones_of_fitted_bodies_turn_about_themselves(tmp_path):
    elbow, wrist = (HUMAN.joint_index(f"left_{name}") for name in ("elbow", "wrist"))
    axis = standing_m()[wrist] - standing_m()[elbow]
    axis /= np.linalg.norm(axis)
    frames = []
    for index, found in enumerate(one_person(np.stack([standing_m()] * 5))):
        turns = np.tile([0.0, 0.0, 0.0, 1.0], (20, 1))
        turns[elbow] = Rotation.from_rotvec(np.radians(20 * index) * axis).as_quat()
        (person,) = found.people
        frames.append(replace(found, people=(replace(person, fit=replace(fitted(person).fit, rotations_xyzw=turns)),)))
    write(tmp_path / "a.glb", frames)
    document, array = open_glb(tmp_path / "a.glb")
    (animation,) = document["animations"]
    node = next(k for k, each in enumerate(document["nodes"]) if each["name"] == "left_elbow")
    wanted = {"node": node, "path": "rotation"}
    (channel,) = (each for each in animation["channels"] if each["target"] == wanted)
    turned = Rotation.from_quat(array(animation["samplers"][channel["sampler"]]["output"], 4))
    turned_deg = np.degrees((turned * turned[0].inv()).magnitude())
    np.testing.assert_allclose(turned_deg, [0, 20, 40, 60, 80], atol=0.05)


def test_all_faces_of_all_bones_look_outwards(tmp_path, walk_m):
    write(tmp_path / "a.glb", one_person(walk_m))
    document, array = open_glb(tmp_path / "a.glb")
    (primitive,) = document["meshes"][0]["primitives"]
    corners_m = array(primitive["attributes"]["POSITION"], 3).astype(float)
    faces_m = corners_m[array(primitive["indices"], 1, "<u2").reshape(19, 8, 3)]  # (bones, faces, corners, xyz)
    from_middle_m = faces_m - faces_m.mean(axis=(1, 2), keepdims=True)
    volumes_m3 = np.linalg.det(from_middle_m) / 6  # positive where a face is counter-clockwise from outside
    assert (volumes_m3 > 0).all()


def test_gltf_bones_keep_their_length_where_joints_are_lost(tmp_path):
    elbow, *lost = (HUMAN.joint_index(f"left_{name}") for name in ("elbow", "wrist", "hand"))
    walk_m = np.stack([standing_m(x_m) for x_m in np.linspace(0, 2, 200)])
    forearm_m = np.linalg.norm(walk_m[0, lost[0]] - walk_m[0, elbow])
    found_m = walk_m.copy()
    found_m[70:, lost] = np.nan
    write(tmp_path / "a.glb", one_person(found_m))
    names, _, places_m = read_glb(tmp_path / "a.glb")
    rows = [HUMAN.joint_index(name) for name in names]
    np.testing.assert_allclose(places_m, walk_m[:, rows] * TO_Y_UP, atol=1e-3)  # the lost arm goes with the person
    bone_m = places_m[:, names.index("left_wrist")] - places_m[:, names.index("left_elbow")]
    np.testing.assert_allclose(np.linalg.norm(bone_m, axis=-1), forearm_m, atol=1e-4)


def test_pygltflib_opens_the_skin_and_its_animation(tmp_path, walk_m):
    pygltflib = pytest.importorskip("pygltflib")
    write(tmp_path / "a.glb", one_person(walk_m))
    file = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    assert len(file.skins[0].joints) == 20
    assert len(file.animations[0].channels) == 21
    inverse = file.accessors[file.skins[0].inverseBindMatrices]
    assert (inverse.count, inverse.type) == (20, "MAT4")


VALIDATE = """
const fs = require("fs"), validator = require("gltf-validator");
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])))
  .then(report => console.log(JSON.stringify(report.issues)));
"""


def validated(path):
    """What Khronos' validator says; skips where it is not installed for all users."""
    try:
        modules = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=True).stdout.strip()
        ran = subprocess.run(["node", "-e", VALIDATE, path], capture_output=True, text=True, env={"NODE_PATH": modules})
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs node and npm")
    if "Cannot find module" in ran.stderr:
        pytest.skip("needs gltf-validator: npm install -g gltf-validator")
    return json.loads(ran.stdout)


def test_the_validator_of_gltf_finds_nothing(tmp_path, walk_m):
    lost, _, _ = with_gaps(walk_m)
    write(tmp_path / "walk.glb", one_person(lost))
    dot = BodyDefinition("dot", ("all",), ("tip",), {}, {"tip": None})
    write(tmp_path / "dot.glb", [result(i, (track_of(1, {"tip": (0.0, 0.0, 2.0)}),)) for i in range(2)], dot)
    for name in ("walk.glb", "dot.glb"):
        issues = validated(tmp_path / name)
        assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]


@pytest.mark.parametrize("suffix", NEW)
def test_several_people_get_a_file_each(tmp_path, suffix):
    frames = [result(i, (track(7, standing_m()), track(9, standing_m(i * 0.1)))[: 1 + (i > 3)]) for i in range(10)]
    written = write(tmp_path / f"a{suffix}", frames)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a-7{suffix}", f"a-9{suffix}"]
    assert [(each.person, each.first_frame, each.frames) for each in written] == [(7, 0, 10), (9, 4, 6)]
    assert "from 0.133 s on" in str(written[1])


@pytest.mark.parametrize("suffix", MOTION_SUFFIXES)
def test_files_of_an_earlier_run_stay_and_are_named(tmp_path, suffix, caplog):
    for name in ("walk", "walk-2", "walk-7", "walk-a", "walker-1"):
        (tmp_path / f"{name}{suffix}").write_text("earlier")
    frames = [result(i, (track(1, standing_m()), track(2, standing_m(0.1)))) for i in range(3)]
    write(tmp_path / f"walk{suffix}", frames)
    assert (tmp_path / f"walk-7{suffix}").read_text() == "earlier"
    (told,) = caplog.messages
    assert told.endswith(f"from an earlier run: walk-7{suffix}, walk{suffix}")


def test_times_count_from_the_start_of_the_run(tmp_path):
    clock_s = np.arange(10) / 30 + np.resize([0.0, 0.009, -0.007], 10)  # uneven, as of a camera
    frames = [result(i, (track(1, standing_m(x=now_s)),) if i > 3 else (), now_s) for i, now_s in enumerate(clock_s)]
    write(tmp_path / "a.trc", frames)
    _, _, times_s, markers_m = read_trc(tmp_path / "a.trc")
    assert times_s[0] == pytest.approx(4 * np.median(np.diff(clock_s)), abs=1e-5)
    x_m = markers_m[1:-1, HUMAN.joint_index("pelvis"), 0]  # at the ends between frames they are held
    np.testing.assert_allclose(x_m, times_s[1:-1], atol=1e-4)


def test_above_a_floor_y_is_height(tmp_path):
    (written,) = write(tmp_path / "a.trc", one_person([standing_m()] * 3, floor=FLOOR))
    world = Extrinsics.above_floor(FLOOR).world_points(standing_m())
    assert written.axes == "world"
    np.testing.assert_allclose(
        read_trc(tmp_path / "a.trc")[3][0], np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1), atol=1e-3
    )


def test_a_long_run_has_more_frames_than_16_bits(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    dot = BodyDefinition("dot", ("all",), ("tip",), {}, {"tip": None})
    seen = {"tip": (0.0, 0.0, 2.0)}
    frames = [result(i, (track_of(1, seen),), timestamp_s=t) for i, t in enumerate((0.0, 0.01, 0.02, 700.0))]
    write(tmp_path / "a.c3d", frames, dot)
    file = ezc3d.c3d(str(tmp_path / "a.c3d"))
    assert file["data"]["points"].shape[2] == 70_001


@pytest.mark.parametrize("suffix", NEW)
def test_results_are_converted_to_the_bytes_of_the_run(tmp_path, suffix, walk_m, capsys):
    frames = one_person(walk_m[:10], floor=FLOOR)
    write(tmp_path / "run" / f"a{suffix}", frames)
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m")) as lines:
        for one in frames:
            lines.write(one)
    assert main(["convert", str(tmp_path / "r.jsonl"), str(tmp_path / f"a{suffix}")]) == 0
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / "run" / f"a{suffix}").read_bytes()
    assert "person 1: 10 frames" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", NEW)
def test_without_people_no_file_is_written_or_replaced(tmp_path, suffix):
    (tmp_path / f"a{suffix}").write_text("older")
    assert write(tmp_path / f"a{suffix}", [result(0), result(1, (track_of(1, {}),))]) == ()
    assert [path.name for path in tmp_path.iterdir()] == [f"a{suffix}"]
    assert (tmp_path / f"a{suffix}").read_text() == "older"


@pytest.mark.parametrize("suffix", NEW)
def test_a_damaged_clock_is_one_line(tmp_path, suffix):
    frames = [result(i, (track(1, standing_m()),), timestamp_s=t) for i, t in enumerate((0.0, 0.03, 0.06, 1e12))]
    with pytest.raises(PosepipeError, match="are the timestamps right"):
        write(tmp_path / f"a{suffix}", frames)


@pytest.mark.parametrize("suffix", MOTION_SUFFIXES)
def test_frames_of_a_time_that_was_are_told(tmp_path, suffix):
    times_s = [0.0, 0.1, 0.2, 0.3, 0.0, 0.1, 0.2]
    written = write(tmp_path / f"a{suffix}", [result(i, (track(1, standing_m()),), t) for i, t in enumerate(times_s)])
    assert "4 frames of 100.0 ms, without 3 frames whose times do not advance, camera axes" in str(written[0])


@pytest.mark.parametrize("suffix", MOTION_SUFFIXES)
def test_an_unknown_joint_is_named_and_costs_no_other_frame(tmp_path, suffix):
    sink = open_motion_sink(tmp_path / f"a{suffix}", HUMAN)
    sink.write(result(0, (track(1, standing_m()),)))
    tail = {"tail": (0.0, 0.0, 2.0)}
    with pytest.raises(ValueError, match="tail"), sink:
        sink.write(result(1, (track_of(1, tail), track_of(2, tail))))
    assert [(each.person, each.frames) for each in sink.written] == [(1, 1)]


@pytest.mark.parametrize(("suffix", "first_s"), [(".c3d", -1.8e9), (".c3d", 1.8e9), (".c3d", -5), (".trc", -5)])
def test_a_start_that_a_file_cannot_hold_is_refused(tmp_path, suffix, first_s):
    frames = [result(i, timestamp_s=i / 30) for i in range(5)]
    frames += [result(5 + i, (track(1, standing_m()),), timestamp_s=first_s + i / 30) for i in range(5)]
    with pytest.raises(PosepipeError, match=r"begin at frame -?[0-9]+ of the run; are the timestamps right"):
        write(tmp_path / f"a{suffix}", frames)


@pytest.mark.parametrize("suffix", MOTION_SUFFIXES)
def test_one_damaged_person_does_not_cost_the_others(tmp_path, suffix):
    frames = [result(i, (track(1, standing_m()), track(2, standing_m()))) for i in range(5)]
    frames.append(result(5, (track(1, standing_m()),), timestamp_s=1e12))
    sink = open_motion_sink(tmp_path / f"a{suffix}", HUMAN)
    for one in frames:
        sink.write(one)
    with pytest.raises(PosepipeError, match=rf"a-1{suffix}: .*are the timestamps right"):
        sink.close()
    assert [(each.person, each.frames) for each in sink.written] == [(2, 5)]
    assert [path.name for path in tmp_path.iterdir()] == [f"a-2{suffix}"]


def test_an_unwritable_path_is_an_error_before_the_first_frame(tmp_path):
    (tmp_path / "folder.c3d").mkdir()
    with pytest.raises(PosepipeError, match=r"\.c3d: "), open_motion_sink(tmp_path / "folder.c3d", HUMAN):
        pass
