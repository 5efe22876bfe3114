"""The report page: it holds what was scored, names nothing by chance, loads nothing, and fits a phone."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.evaluation.html_report.charts import bars_html, confusion_svg
from posepipe.evaluation.html_report.page import report_html, write_report
from posepipe.evaluation.html_report.pictures import SIDE_PX, draw_scored
from posepipe.evaluation.metrics.extremes import KEPT, MAX_ERROR_M, Extremes, ScoredPerson, person_error
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.evaluation.metrics.pose_metrics import JointScores
from posepipe.evaluation.pose_report import PoseReport
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult, JointProposal, Pose, Track
from tests.support.chromium import Chromium, find_chromium
from tests.support.found_people import standing_m

TRUTH, VISIBLE = standing_m(), np.ones(20, bool)
PHONE_PX = 360


def moved(by_m: float, joint: str = "left_hand") -> Pose:
    """Everybody's joints where they are, but for one that is off to the side."""
    places = TRUTH.copy()
    places[HUMAN.joint_index(joint), 0] += by_m
    names = zip(HUMAN.joints, places, strict=True)
    return Pose.of({name: JointProposal(name, tuple(place), 0.8) for name, place in names})


def scored(index: int, pose: Pose | None) -> FrameResult:
    """A frame with a wall and one person, or nobody, found before it."""
    frame = DepthFrame(np.full((120, 160), 3, np.float32), Intrinsics(143, 143, 79.5, 59.5), index / 30, index)
    nothing = np.zeros(frame.depth_m.shape, np.uint8)
    people = () if pose is None else (Track(1, pose),)
    return FrameResult(frame, nothing > 0, nothing, people=people, proposals=((),) * len(people))


def report_of(*errors_m: float) -> PoseReport:
    report = PoseReport(len(errors_m), PartScores(HUMAN), JointScores(HUMAN))
    report.parts.add(np.arange(1, 32, dtype=np.uint8), np.arange(1, 32, dtype=np.uint8))
    for index, error_m in enumerate(errors_m):
        result = scored(index, moved(error_m))
        report.joints.add(TRUTH, VISIBLE, result.people[0].pose)
        report.extremes.add(TRUTH, VISIBLE, result, HUMAN)
    return report


@pytest.fixture(scope="module")
def page():
    return report_html("a < b", {"good": report_of(0.0, 0.05), "worse & <b>": report_of(0.3, 0.6)})


def test_models_stand_side_by_side(page):
    assert re.search(r"visible joints within 10 cm</td><td>1.000</td><td>0.950", page)
    assert "<h1>a &lt; b</h1>" in page
    assert page.count("worse &amp; &lt;b&gt;") >= 3
    assert "<b>&" not in page
    for section in ("Joints", "Precision and recall", "Calibration", "Distance", "Direction", "Parts", "Worst people"):
        assert f"<h2>{section}</h2>" in page
    assert "nan" not in page


def test_the_page_refers_to_nothing_outside_itself(page):
    assert set(re.findall(r'(?:src|href)="([a-z:]*)', page)) == {"data:image"}
    assert "url(" not in page
    assert "<script" not in page
    assert "://" not in page


def test_sections_without_parts_or_pictures_are_left_out(tmp_path):
    blind = PoseReport(0, PartScores(HUMAN), JointScores(HUMAN))
    write_report(tmp_path / "new", "nothing", {"blind": blind})
    text = (tmp_path / "new" / "report.html").read_text()
    assert "Parts" not in text
    assert "Worst" not in text
    assert "nan" not in text
    assert json.loads((tmp_path / "new" / "figures.json").read_text())["frames"] == "nothing"


def test_the_best_and_worst_people_are_kept_in_order():
    extremes = Extremes()
    errors_m = [0.2, 0.0, 0.4, 0.1, 0.3, 0.25, 0.05]
    for index, error_m in enumerate(errors_m):
        extremes.add(TRUTH, VISIBLE, scored(index, moved(error_m)), HUMAN)
    extremes.add(TRUTH, VISIBLE, scored(99, None), HUMAN)
    extremes.add(TRUTH, ~VISIBLE, scored(100, None), HUMAN)  # nothing to judge
    assert [person.result.frame.index for person in extremes.best] == [1, 6, 3, 0][:KEPT]
    assert [person.result.frame.index for person in extremes.worst] == [99, 2, 4, 5][:KEPT]
    assert extremes.worst[0].error_m == MAX_ERROR_M


@pytest.mark.parametrize("first", range(8))
def test_sums_of_reports_keep_the_same_people(first):
    errors_m = [0.2, 0.0, 0.4, 0.2, 0.3, 0.2, 0.0, 0.1]
    people = [(scored(index, moved(error_m)), error_m) for index, error_m in enumerate(errors_m)]
    reports = [report_of() for _ in range(3)]
    for report, part in zip(reports, (people, people[:first], people[first:]), strict=True):
        for result, _ in part:
            report.extremes.add(TRUTH, VISIBLE, result, HUMAN)
    whole, summed = reports[0].extremes, (reports[1] + reports[2]).extremes
    assert [id(person.result) for person in summed.best] == [id(person.result) for person in whole.best]
    assert [id(person.result) for person in summed.worst] == [id(person.result) for person in whole.worst]


def test_a_joint_counts_at_most_the_error_of_a_missing_one():
    assert person_error(TRUTH, VISIBLE, moved(9.0), HUMAN) == pytest.approx(MAX_ERROR_M / 20)
    unknown = TRUTH.copy()
    unknown[HUMAN.joint_index("left_hand")] = np.nan
    assert person_error(unknown, VISIBLE, moved(9.0), HUMAN) == 0
    assert np.isnan(person_error(TRUTH, ~VISIBLE, moved(0), HUMAN))


def test_joints_that_are_wrong_are_joined_to_the_truth_in_red():
    def red(error_m):
        picture = draw_scored(ScoredPerson(0.0, TRUTH, VISIBLE, scored(0, moved(error_m))), HUMAN).astype(int)
        assert picture.shape == (SIDE_PX, SIDE_PX, 3)
        return ((picture[..., 2] > 200) & (picture[..., :2].max(axis=2) < 60)).sum()

    assert red(0.4) > 50 + red(0.05)


@pytest.mark.parametrize("truth", [np.full((20, 3), np.nan), TRUTH * [1, 1, -1]], ids=["unknown", "behind"])
def test_people_who_are_not_before_the_camera_are_drawn_too(truth):
    assert draw_scored(ScoredPerson(0.0, truth, VISIBLE, scored(0, None)), HUMAN).any()


def test_perfect_parts_are_a_diagonal():
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" [^>]*fill-opacity="1.00"', confusion_svg(7 * np.eye(4), "abc"))
    assert len(cells) == 3
    assert all(x == y for x, y in cells)


def test_pixels_taken_for_background_count_in_the_confusion():
    confusion = np.array([[0, 0, 0], [6, 3, 1], [5, 0, 0]])  # of part a 3 of 10 pixels are right
    shares = re.findall(r"<title>(.*?)</title>", confusion_svg(confusion, "ab"))
    assert shares == ["a labelled a: 0.30", "a labelled b: 0.10"]


def test_a_bar_is_as_long_as_its_share():
    html = bars_html({"left_hand": [0.25, float("nan")], "unknown": [float("nan")]})
    assert "left hand" in html
    assert "width:25.0%" in html
    assert "unknown" not in html


@pytest.mark.skipif(find_chromium() is None, reason="needs chromium")
def test_a_phone_shows_the_page_whole_without_requests(page, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page)
    with Chromium(path.as_uri(), PHONE_PX, 700) as browser:
        browser.wait_for("document.readyState === 'complete' && document.images.length === 8")
        assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE_PX
        assert browser.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        assert [url for url in browser.requests if not url.startswith("data:image")] == [path.as_uri()[:80]]
