"""Several cameras before one scene: what each finds alone and what they find together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.datasets.dataset import open_datasets
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError
from posepipe.evaluation.evaluate_views import JOINED, ViewFigures, evaluate_views
from posepipe.evaluation.metrics.track_metrics import TrackCounts
from posepipe.frames import DepthFrame, LabelledFrame
from tests.support.rendered_people import recipe_of, render_people
from tests.support.shipped_model import shipped_model

FRAMES = 8
RECIPE = recipe_of(frames=2 * FRAMES, sequence_frames=FRAMES, seed=4, poses="validation", orbit_deg=0.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two scenes, one person who stands and two who cross, cut out, from two sides."""
    folder = tmp_path_factory.mktemp("views")
    for name, orbit_deg in (("first", 0.0), ("second", 90.0)):
        render_people(folder / name, replace(RECIPE, camera=replace(RECIPE.camera, orbit_deg=orbit_deg)))
    return folder / "first", folder / "second"


def test_two_views_find_more_joints_than_each(folders):
    report = evaluate_views(shipped_model(), [open_datasets([folder]) for folder in folders], fit=False)
    assert list(report.by_view) == ["camera 1", "camera 2", JOINED]
    figures = {view: each.figures() for view, each in report.by_view.items()}
    assert report.frame_sets == 2 * FRAMES
    assert {each["people, summed over frames"] for each in figures.values()} == {3 * FRAMES}
    right = {view: each["all joints within 10 cm"] for view, each in figures.items()}
    assert right[JOINED] > max(right["camera 1"], right["camera 2"]) + 0.03
    assert figures[JOINED]["missed"] <= min(figures["camera 1"]["missed"], figures["camera 2"]["missed"])
    assert "joined" in report.text().splitlines()[0]
    assert set(report.to_dict()["views"]) == set(report.by_view)


def test_views_of_other_scenes_are_refused(folders, tmp_path):
    render_people(tmp_path / "other", replace(RECIPE, seed=5))
    views = [open_datasets([folder]) for folder in (folders[0], tmp_path / "other")]
    with pytest.raises(FormatError, match="wanted views of one scene"):
        evaluate_views(shipped_model(), views)
    shorter = open_datasets([folders[1]])[:FRAMES]
    with pytest.raises(FormatError, match="other numbers of sequences"):
        evaluate_views(shipped_model(), [views[0], shorter])


def test_cameras_without_a_pose_are_refused(tmp_path):
    render_people(tmp_path / "one", recipe_of(frames=4, sequence_frames=4))
    view = open_datasets([tmp_path / "one"])
    with pytest.raises(FormatError, match="known pose"):
        evaluate_views(shipped_model(), [view, view])


class Nobody:
    """Two frames of a camera before which nobody is."""

    body, recipe, source_revision, name, content, has_parts = HUMAN, {}, "", "nobody", "", True
    sequences = (SequenceRows("nobody", range(2), extrinsics=Extrinsics(np.eye(3), np.zeros(3))),)

    def __len__(self):
        return 2

    def __getitem__(self, index):
        depth = DepthFrame(np.zeros((24, 32), np.float32), Intrinsics(30.0, 30.0, 15.5, 11.5), index / 30, index)
        nothing = np.zeros((24, 32), np.uint8)
        return LabelledFrame(depth, nothing, nothing, np.zeros((0, 20, 3), np.float32), np.zeros((0, 20), bool))


def test_scenes_without_people_are_scored():
    report = evaluate_views(shipped_model(), [FrameSequence([Nobody()]) for _ in range(2)], fit=False)
    figures = report.by_view[JOINED].figures()
    assert (figures["people, summed over frames"], figures["false people"]) == (0, 0)
    assert report.to_dict()["views"][JOINED]["median error, mm"] is None


def test_missing_joints_count_as_wrong():
    hidden = np.array([False, False, True, True])
    one = ViewFigures(TrackCounts(people=1), np.array([0.01, np.inf, 0.05, 0.3]), hidden, hidden)
    figures = (one + one).figures()
    assert figures["all joints within 10 cm"] == 0.5
    assert figures["hidden from all, within 10 cm"] == 0.5
    assert figures["people, summed over frames"] == 2


def test_a_joint_10_cm_off_is_wrong_of_views_too():
    nobody = np.zeros(2, bool)
    figures = ViewFigures(errors_m=np.array([0.099, 0.1]), hidden_from_first=~nobody, hidden=nobody).figures()
    assert figures["all joints within 10 cm"] == figures["visible to a camera, within 10 cm"] == 0.5
    assert figures["hidden from camera 1, within 10 cm"] == 0.5


def test_views_are_two_or_more_and_of_whole_frames(folders, capsys):
    assert main(["evaluate", str(folders[0]), "--views"]) == 1
    assert "a DATASET for each of several cameras, got 1" in capsys.readouterr().err
    assert main(["evaluate", *map(str, folders), "--views", "--tracks"]) == 1
    assert "--tracks is of single cameras" in capsys.readouterr().err
    assert main(["evaluate", *map(str, folders), "--views", "--min-confidence", "0.5"]) == 1
    assert "--min-confidence applies to people by boxes" in capsys.readouterr().err
    assert main(["evaluate", *map(str, folders), "--views", "--mocap", "poses.npz"]) == 1
    assert "--mocap applies to the suite" in capsys.readouterr().err
