"""ITOP's measure, by hand; the figures that stand beside it; and `posepipe evaluate` on a file of its layout."""

from __future__ import annotations

import json

import numpy as np
import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.evaluation.itop import (
    FOREST_SIDE,
    LOWER_BODY,
    PUBLISHED,
    ROWS,
    UPPER_BODY,
    ItopReport,
    itop_scores,
    itop_view,
)
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.evaluation.metrics.pose_metrics import JointScores
from posepipe.evaluation.pose_report import PoseReport
from posepipe.results import JointProposal, Pose
from posepipe.sources.formats.itop.itop import JOINTS
from tests.support.recordings.itop_files import itop_arrays, people_in_rooms, write_itop

OWN = [HUMAN.joint_index(joint) for joint in JOINTS]


def person() -> np.ndarray:
    """True joints in ITOP's words, float32 (20, 3); the others are not known."""
    joints_m = np.full((len(HUMAN.joints), 3), np.nan, np.float32)
    joints_m[OWN] = np.random.default_rng(0).uniform([-0.5, -1, 2], [0.5, 1, 3], (len(OWN), 3))
    return joints_m


def pose(joints_m: np.ndarray, moved_m: dict[str, float], missing: tuple[str, ...] = ()) -> Pose:
    """A prediction that is right but for the joints that are moved along z, or missing."""
    found = {}
    for joint in set(JOINTS) - set(missing):
        x, y, z = map(float, joints_m[HUMAN.joint_index(joint)])
        found[joint] = JointProposal(joint, (x, y, z + moved_m.get(joint, 0.0)), 0.9)
    return Pose.of(found)


def scores_of(*predictions: Pose, visible: bool = True) -> dict[str, float]:
    joints = JointScores(HUMAN)
    for prediction in predictions:
        joints.add(person(), np.full(len(HUMAN.joints), visible), prediction)
    return itop_scores(joints)


def test_the_rows_are_the_fifteen_joints_of_the_files():
    assert sorted(joint for joints in ROWS.values() for joint in joints) == sorted(JOINTS)
    assert {*UPPER_BODY, *LOWER_BODY, "torso"} == set(ROWS)


def test_a_joint_counts_within_10_cm_seen_or_not():
    near_and_far = pose(person(), {"head": 0.099, "torso": 0.101, "left_foot": -0.2}, missing=("right_hand",))
    for visible in (True, False):
        scores = scores_of(near_and_far, pose(person(), {}), visible=visible)
        assert scores["head"] == 100
        assert scores["torso"] == 50
        assert (scores["feet"], scores["hands"]) == (75, 75)
        assert scores["upper body"] == pytest.approx(100 * 15 / 16)
        assert scores["lower body"] == pytest.approx(100 * 11 / 12)
        assert scores["all"] == pytest.approx(100 * 27 / 30)


def test_of_a_person_not_found_every_joint_is_wrong():
    assert scores_of(Pose.of({})) == dict.fromkeys([*ROWS, "upper body", "lower body", "all"], 0.0)


def test_without_truth_there_is_no_figure():
    assert all(np.isnan(value) for value in itop_scores(JointScores(HUMAN)).values())


def test_the_published_rows_have_the_published_mean():
    """By the same weighting: a pair counts twice."""
    weighed = [FOREST_SIDE[row] for row, joints in ROWS.items() for _ in joints]
    assert round(float(np.mean(weighed)), 1) == PUBLISHED["side"]["Shotton et al. 2011, forest"] == 65.8


@pytest.mark.parametrize(
    ("names", "view"),
    [
        (["ITOP_side_test_depth_map.h5"], "side"),
        (["a/ITOP_top_train_depth_map.h5", "ITOP_top_test_depth_map.h5"], "top"),
        (["ITOP_side_test_depth_map.h5", "ITOP_top_test_depth_map.h5"], ""),
        (["frames_depth_map.h5"], ""),
    ],
)
def test_the_view_is_in_the_name(names, view):
    assert itop_view(names) == view


def report_of(view: str) -> ItopReport:
    joints = JointScores(HUMAN)
    joints.add(person(), np.ones(len(HUMAN.joints), bool), pose(person(), {"left_hand": 0.3}))
    return ItopReport.of(PoseReport(1, PartScores(HUMAN), joints), view)


def test_the_table_stands_beside_what_others_reported():
    lines = report_of("side").text().splitlines()
    assert "  hands           50.0    51.3" in lines
    assert "  all             93.3" in lines
    assert "  all, Moon et al. 2018, V2V           88.7" in lines
    top = report_of("top").text()
    assert "  hands           50.0\n" in top
    assert "  all, Jung et al. 2015, RTW           68.2" in top.splitlines()
    assert "et al." not in report_of("").text()
    assert report_of("side").to_dict()["itop"]["hands"] == 50


def test_evaluate_prints_itop_s_measure_of_whole_frames(tmp_path, capsys):
    pytest.importorskip("h5py", reason="needs the extra itop", exc_type=ImportError)
    depth, labels = itop_arrays(people_in_rooms(3))
    labels["is_valid"][1] = 0
    labels["visible_joints"][2] = 0  # counts all the same
    path, figures = write_itop(tmp_path, depth, labels), tmp_path / "figures.json"
    assert main(["evaluate", str(path), "--json", str(figures)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 frames, content ")
    assert "people missed                        0.000" in printed
    assert "ITOP: percent of joints within 10 cm" in printed
    content = json.loads(figures.read_text())
    assert "2 whole frames" in content["frames"]
    model = content["models"]["person"]
    assert model["people"] == 2
    assert model["itop"]["all"] > 60
    assert main(["evaluate", str(path), "--no-whole-frames", "--frames", "1"]) == 0
    assert "people missed" not in capsys.readouterr().out


def test_evaluate_without_labels_is_one_line(tmp_path, capsys):
    pytest.importorskip("h5py", reason="needs the extra itop", exc_type=ImportError)
    path = write_itop(tmp_path, itop_arrays(people_in_rooms(3))[0], None)
    assert main(["evaluate", str(path)]) == 1
    assert "posepipe: error: " in (error := capsys.readouterr().err)
    assert "no truth to compare with" in error
