"""CSV: the documented columns, read back by pandas, and a complete table after a kill."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.kinematics.joint_angles import ANGLES, joint_angles
from posepipe.sinks import JsonLinesSink, ResultsHeader, read_results
from posepipe.sinks.files.csv_file import CsvSink, column_names
from tests.support.found_people import FLOOR, fitted, result, standing_m, track, track_of


def write(path, results, joints=HUMAN.joints):
    with CsvSink(path, joints) as sink:
        for one in results:
            sink.write(one)
    return path


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode())))


def half_a_person(id):
    xyz_m = standing_m(0.5)
    xyz_m[[HUMAN.joint_index(joint) for joint in ("left_knee", "right_hand")]] = np.nan
    return track(id, xyz_m)


def test_the_header_is_the_contract_of_the_page(tmp_path):
    path = write(tmp_path / "r.csv", [], ("head", "left_hip", "left_knee", "left_ankle"))
    assert path.read_bytes() == (
        b"frame,timestamp_s,id,head_x_m,head_y_m,head_z_m,head_confidence,left_hip_x_m,left_hip_y_m,left_hip_z_m,"
        b"left_hip_confidence,left_knee_x_m,left_knee_y_m,left_knee_z_m,left_knee_confidence,left_ankle_x_m,"
        b"left_ankle_y_m,left_ankle_z_m,left_ankle_confidence,vertical,left_knee_flexion_deg\r\n"
    )
    assert len(column_names(HUMAN.joints)) == 3 + 20 * 4 + 1 + len(ANGLES)


def test_there_is_a_row_for_each_person_in_each_frame(tmp_path):
    people = (track(4, standing_m()), track(7, standing_m(0.8)))
    rows = rows_of(write(tmp_path / "r.csv", [result(0), result(2, people), result(3, people[:1])]))
    assert [(row["frame"], row["timestamp_s"], row["id"]) for row in rows] == [
        ("2", "0.066667", "4"), ("2", "0.066667", "7"), ("3", "0.1", "4"),
    ]  # fmt: skip
    assert (rows[0]["pelvis_x_m"], rows[0]["pelvis_y_m"], rows[0]["pelvis_z_m"]) == ("0.0", "0.1", "2.5")
    assert rows[1]["pelvis_x_m"] == "0.8"
    assert rows[0]["head_confidence"] == "0.875"


def test_what_is_absent_is_an_empty_cell(tmp_path):
    (row,) = rows_of(write(tmp_path / "r.csv", [result(0, (half_a_person(1),))]))
    empty = {name for name, cell in row.items() if cell == ""}
    lost = [f"{joint}_{cell}" for joint in ("left_knee", "right_hand") for cell in ("x_m", "y_m", "z_m", "confidence")]
    lost += [f"left_{angle}_deg" for angle in ("knee_flexion", "hip_flexion", "hip_abduction", "ankle_dorsiflexion")]
    lost += ["left_shoulder_plane_deg", "right_shoulder_plane_deg"]  # the arms hang
    assert empty == set(lost)


def test_trunk_lean_uses_the_floor_s_vertical_if_it_is_known(tmp_path):
    person = track(1, standing_m())
    camera, floor = rows_of(write(tmp_path / "r.csv", [result(0, (person,)), result(1, (person,), floor=FLOOR)]))
    assert (camera["vertical"], floor["vertical"]) == ("camera", "floor")
    assert float(camera["trunk_lean_deg"]) == 0
    assert float(floor["trunk_lean_deg"]) == pytest.approx(np.degrees(np.arccos(0.96)), abs=0.02)
    others = [f"{angle}_deg" for angle in ANGLES if angle != "trunk_lean"]
    assert [camera[name][:4] for name in others] == [floor[name][:4] for name in others]


def test_trunk_lean_uses_the_accelerometer_without_a_floor(tmp_path):
    person = track(1, standing_m())
    plain, floor = result(0, (person,)), result(1, (person,), floor=FLOOR)
    up = (0.0, -0.8, -0.6)
    shown = [replace(each, frame=replace(each.frame, up=up)) for each in (plain, floor)]
    gravity, floor_row = rows_of(write(tmp_path / "r.csv", shown))
    assert (gravity["vertical"], floor_row["vertical"]) == ("gravity", "floor")
    assert float(gravity["trunk_lean_deg"]) == pytest.approx(np.degrees(np.arccos(0.8)), abs=0.02)


def test_pandas_reads_what_was_written(tmp_path):
    pandas = pytest.importorskip("pandas")
    people = [(half_a_person(2), track(3, standing_m(-0.5))), (), (track(3, standing_m(-0.4)),)]
    path = write(tmp_path / "r.csv", [result(i, one, floor=FLOOR) for i, one in enumerate(people)])
    table = pandas.read_csv(path)
    assert list(table.columns) == column_names(HUMAN.joints)
    assert table["id"].tolist() == [2, 3, 3]
    assert table.drop(columns="vertical").dtypes.map(lambda kind: kind.kind in "if").all()
    for row, pose in zip(range(3), (people[0][0], people[0][1], people[2][0]), strict=True):
        for joint in HUMAN.joints:
            cells = table.loc[row, [f"{joint}_x_m", f"{joint}_y_m", f"{joint}_z_m"]].astype(float)
            found = pose.pose.joints.get(joint)
            np.testing.assert_allclose(cells, (np.nan,) * 3 if found is None else found.xyz_m, atol=5.1e-5)
    knee = joint_angles({name: joint.xyz_m for name, joint in people[2][0].pose.joints.items()})["left_knee_flexion"]
    assert table.loc[2, "left_knee_flexion_deg"] == pytest.approx(float(knee), abs=0.02)


def test_a_run_and_its_converted_results_give_the_same_table(tmp_path, capsys):
    rng = np.random.default_rng(1)
    results = [
        result(i, tuple(track(k, standing_m(k) + rng.normal(0, 0.02, (20, 3))) for k in range(i % 3)), floor=floor)
        for i, floor in enumerate([None, FLOOR, FLOOR, None])
    ]
    table = write(tmp_path / "run.csv", results)
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m")) as lines:
        for one in results:
            lines.write(one)
    assert main(["convert", str(tmp_path / "r.jsonl"), str(tmp_path / "made.csv")]) == 0
    assert (tmp_path / "made.csv").read_bytes() == table.read_bytes()
    assert "4 frames, 2 with people in view" in capsys.readouterr().out


def test_a_run_that_found_nobody_has_the_columns_of_bodies(tmp_path, capsys):
    with CsvSink(tmp_path / "run.csv", HUMAN.joints, fitted=True) as sink:
        sink.write(result(0))
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m", fitted=True)) as lines:
        lines.write(result(0))
    assert main(["convert", str(tmp_path / "r.jsonl"), str(tmp_path / "made.csv")]) == 0
    assert (tmp_path / "made.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()


def test_fitted_bodies_have_columns_at_the_end(tmp_path):
    people = (fitted(track(3, standing_m())), track(4, standing_m()))
    with CsvSink(tmp_path / "r.csv", HUMAN.joints, fitted=True) as sink:
        sink.write(result(0, people))
    first, second = rows_of(tmp_path / "r.csv")
    plain = column_names(HUMAN.joints)
    assert [*first][: len(plain)] == plain
    assert [*first][len(plain) : len(plain) + 3] == ["pixels_explained", "outline_explained", "head_qx"]
    fit = people[0].fit
    xyzw = [float(first[f"left_knee_q{axis}"]) for axis in "xyzw"]
    np.testing.assert_allclose(xyzw, fit.rotations_xyzw[fit.names.index("left_knee")], atol=1e-4)
    assert (first["pixels_explained"], first["head_sigma_m"], first["neck_sigma_m"]) == ("0.9", "", "0.0125")
    assert {second[name] for name in [*second][len(plain) :]} == {""}


def test_names_with_commas_and_quotes_stay_one_cell(tmp_path):
    odd = ('a "left", b', "c\nd")
    person = track_of(1, dict.fromkeys(odd, (1.0, 2.0, 3.0)), 0.5)
    (row,) = rows_of(write(tmp_path / "r.csv", [result(0, (person,))], odd))
    assert row['a "left", b_y_m'] == "2.0"
    assert row["c\nd_confidence"] == "0.5"


def test_every_frame_is_on_disk_as_soon_as_it_is_written(tmp_path):
    sink = CsvSink(tmp_path / "r.csv", HUMAN.joints)
    for i in range(3):
        sink.write(result(i, (track(1, standing_m()),)))
        assert len(rows_of(tmp_path / "r.csv")) == i + 1
    sink.close()


def test_an_older_file_stays_until_there_is_a_frame_to_write(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("older")
    with pytest.raises(RuntimeError), CsvSink(path, HUMAN.joints):
        raise RuntimeError("the source failed")
    assert path.read_text() == "older"
    write(path, [])
    assert rows_of(path) == []


def test_a_joint_without_a_column_is_an_error_before_the_frame(tmp_path):
    place = (0.0, 0.0, 2.0)
    unknown = (track_of(1, {"head": place}), track_of(2, {"head": place, "pelvis": place}))
    with CsvSink(tmp_path / "r.csv", ("head", "neck")) as sink:
        sink.write(result(0, (track_of(1, {"neck": place}),)))
        with pytest.raises(ValueError, match="pelvis"):
            sink.write(result(1, unknown))
    assert [row["frame"] for row in rows_of(tmp_path / "r.csv")] == ["0"]


def test_a_disk_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match=r"r\.csv"):
        CsvSink(tmp_path / "file" / "r.csv", HUMAN.joints).write(result(0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to play a full disk")
def test_a_full_disk_is_one_line():
    with pytest.raises(PosepipeError, match="No space left"):
        CsvSink("/dev/full", HUMAN.joints).write(result(0))


def test_extreme_numbers_make_a_table_without_warnings(tmp_path, recwarn):
    (tmp_path / "r.jsonl").write_text(
        '{"format": "posepipe-results", "version": 1, "joints": ["left_hip", "left_knee", "left_ankle"], "axes": "",'
        ' "frame_id": "c", "start_time_ns": 0, "model": "m", "source": "s"}\n'
        '{"frame": 9999999999999999999999, "timestamp_s": 1e300, "people": [{"id": -5, "joints": {"left_hip": {"xyz_m":'
        ' [1e300, 0, 0], "confidence": 1}, "left_knee": {"xyz_m": [-1e308, 0, 0], "confidence": 0}, "left_ankle":'
        ' {"xyz_m": [1e-320, 0, 0], "confidence": 0}}}]}\n'
    )
    with CsvSink(tmp_path / "r.csv", read_results(tmp_path / "r.jsonl").header.joints) as sink:
        for row in read_results(tmp_path / "r.jsonl").frames:
            sink.write_row(row)
    assert rows_of(tmp_path / "r.csv")[0]["id"] == "-5"
    assert not recwarn.list
