"""Figures of reports: from five people whose figures are known."""

import json

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.evaluation.figures import write_figures
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.evaluation.metrics.pose_metrics import JointScores
from posepipe.evaluation.pose_report import PoseReport, compare_reports
from posepipe.results import JointProposal, Pose


@pytest.fixture
def report():
    """Five people who face the camera: everything right, but that every left hand is 12 cm off."""
    parts, joints = PartScores(HUMAN), JointScores(HUMAN)
    truth = np.zeros((20, 3))
    for k, joint in enumerate(HUMAN.joints):
        side = {"left": 1, "right": -1}.get(joint.split("_")[0], 0)
        truth[k] = side * 0.2, 0.08 * k - 0.8, 2.2
    pose = {name: JointProposal(name, tuple(place), 0.9) for name, place in zip(HUMAN.joints, truth, strict=True)}
    hand = HUMAN.joint_index("left_hand")
    pose["left_hand"] = JointProposal("left_hand", tuple(truth[hand] + [0, 0, 0.12]), 0.9)
    for _ in range(5):
        parts.add(np.arange(1, 32, dtype=np.uint8), np.arange(1, 32, dtype=np.uint8))
        joints.add(truth, np.ones(20, bool), Pose.of(pose))
    return PoseReport(5, parts, joints)


def test_a_report_of_nobody_in_view_says_so():
    lines = PoseReport(5, PartScores(HUMAN), JointScores(HUMAN)).text().splitlines()
    assert lines[-1].startswith("joints: none scored")


def test_figures_are_written_as_json(report, tmp_path):
    write_figures(tmp_path / "figures.json", "five people", {"good": report})
    figures = json.loads((tmp_path / "figures.json").read_text())["models"]["good"]
    assert figures["mean_part_accuracy"] == 1
    assert figures["joints"]["left_hand"]["within_10cm"] == 0
    assert figures["joints"]["left_hand"]["within_15cm"] == 1
    assert figures["joints_mean"]["within_10cm"] == 19 / 20
    assert figures["within_10cm_by_yaw"]["0-30 deg"] == pytest.approx(19 / 20)
    assert figures["within_10cm_by_distance"]["2-2.5 m"] == pytest.approx(19 / 20)


def test_precision_falls_by_the_hands_that_are_wrong(report):
    recall, precision = report.joints.precision_recall()
    assert recall[-1] == precision[-1] == pytest.approx(19 / 20)
    assert len(JointScores(HUMAN).precision_recall()[0]) == 0


def test_figures_without_data_are_left_out_of_texts(report):
    blind = PoseReport(5, PartScores(HUMAN), report.joints)
    assert "mean part accuracy" not in blind.text()
    assert "recall" not in blind.text()
    assert "nan" not in blind.text() + compare_reports({"blind": blind})
    assert "mean part accuracy" in compare_reports({"blind": blind, "report": report})
    assert blind.to_dict()["mean_part_accuracy"] is None
    assert blind.summary()["headline"]["mean part accuracy"] is None


def test_the_summary_is_the_headline_and_three_figures_a_joint(report):
    summary = report.summary()
    assert summary["headline"]["visible joints within 10 cm"] == 19 / 20
    assert summary["joints"]["head"] == {"ap": 1, "within_10cm": 1, "hidden_within_15cm": None}
    assert list(summary["joints"]) == list(HUMAN.joints)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
