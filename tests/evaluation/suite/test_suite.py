"""The suite: figures are kept by model and content, and tables fill marked blocks and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from posepipe.datasets.dataset import open_datasets
from posepipe.errors import FormatError
from posepipe.evaluation.suite.bar_chart import draw_suite
from posepipe.evaluation.suite.figure_names import BONE_ERRORS, EMPTY_ROOMS, REAL_FRAMES, REAL_ROOMS, STILL
from posepipe.evaluation.suite.markdown import markdown_table
from posepipe.evaluation.suite.sets import SETS, SuiteFigures, frames_to_score, score_set, scored_as
from posepipe.evaluation.suite.tables import CUT_OUT_SETS, fill_document, suite_tables
from synth.recipe import read_recipe
from tests.support.paths import ROOT
from tests.support.rendered_people import render_people
from tests.support.shipped_model import shipped_model

DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "models").glob("*.md")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two sets of the suite, of a few frames."""
    folder = tmp_path_factory.mktemp("suite")
    small = ["--frames", "3", "--set", "embedded-clips", "--set", "rooms"]
    assert main(["evaluate", "--suite", str(folder), *small]) == 0
    return folder


def read(folder) -> dict:
    return json.loads((folder / "figures.json").read_text())


def test_every_set_is_a_frozen_recipe():
    for suite_set in SETS:
        recipe = read_recipe(suite_set.recipe)
        assert recipe.pose.poses == "validation"
        assert bool(recipe.sequence_frames) == suite_set.tracks
        assert bool(recipe.scene.room_share) == suite_set.whole_frames


def test_sets_that_lack_poses_are_left_out_by_name(folder, capsys):
    assert main(["evaluate", "--suite", str(folder), "--frames", "3", "--set", "rooms"]) == 0
    assert "rooms: left out; it needs --mocap" in capsys.readouterr().out
    assert list(read(folder)["sets"]) == ["embedded-clips"]


def test_what_was_scored_is_not_scored_again(folder, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("scored again")

    monkeypatch.setattr("posepipe.evaluation.suite.sets.evaluate", refuse)
    before = (folder / "figures.json").read_bytes()
    assert main(["evaluate", "--suite", str(folder), "--frames", "3", "--set", "embedded-clips"]) == 0
    assert (folder / "figures.json").read_bytes() == before


def test_figures_of_another_model_of_that_name_are_told_of(folder, tmp_path, capsys):
    figures = SuiteFigures.read(folder / "figures.json")
    SuiteFigures(figures.sets, {"person": "another hash"}).write(tmp_path / "figures.json")
    assert main(["evaluate", "--suite", str(tmp_path), "--frames", "3", "--set", "rooms"]) == 0
    assert "figures.json: its figures are of another person, and are dropped" in capsys.readouterr().out


def test_figures_say_what_they_are_of(folder):
    (own,) = read(folder)["sets"].values()
    assert own["frames"] == 3
    assert own["command"].startswith("posepipe synth data/embedded-clips --recipe validation && posepipe evaluate")
    headline = own["models"]["person"]["model"]["headline"]
    assert 0 < headline["visible joints within 10 cm"] <= 1


def test_a_table_of_sets_has_a_column_a_set(folder):
    figures = SuiteFigures.read(folder / "figures.json")
    own = figures.sets["embedded-clips"]
    assert "cut-out-sets" not in suite_tables(figures, "person")
    figures.sets.update({name: {**own, "content": name} for name in CUT_OUT_SETS})
    table = suite_tables(figures, "person")["cut-out-sets"].splitlines()
    accuracy = own["models"]["person"]["model"]["headline"]["mean part accuracy"]
    assert table[0] == "| figure | embedded clips | upside down | near | from above |"
    assert table[2] == "| frames | 3 | 3 | 3 | 3 |"
    assert table[3] == f"| part accuracy |{f' {accuracy:.3f} |' * 4}"
    assert table[-1] == "| content | embedded-clips | upside-down | near | from-above |"


def scored(content="1a2b", identity="x", **models) -> SuiteFigures:
    figures = SuiteFigures({}, {})
    for name, scores in models.items():
        about = {"command": "c", "frames": 2, "content": content}
        figures = figures.with_scores("rooms", about, name, identity, scores)
    return figures


def test_models_are_kept_beside_each_other():
    assert set(scored(one={"a": 1}, two={"a": 2}).sets["rooms"]["models"]) == {"one", "two"}


def test_other_frames_drop_what_was_scored_before():
    about = {"command": "c", "frames": 2, "content": "other"}
    figures = scored(one={"a": 1}).with_scores("rooms", about, "two", "x", {"a": 2})
    assert list(figures.sets["rooms"]["models"]) == ["two"]


def test_another_model_of_the_same_name_voids_its_figures():
    figures = scored(one={"a": 1})
    about = {"command": "c", "frames": 2, "content": "5e"}
    changed = figures.with_scores("lying", about, "one", "another hash", {"a": 2})
    assert changed.sets["rooms"]["models"] == {}
    assert not changed.has("rooms", "1a2b", "one", "another hash")
    assert changed.has("lying", "5e", "one", "another hash")


def test_figures_of_single_frames_are_named_after_their_frames():
    headline = {"model": {"headline": {"a": 0.5}, "joints": {}, "by": {}}}
    assert scored(one=headline).of_single_frames("one") == {
        "rooms: 2 frames, content 1a2b": {"headline": {"a": 0.5}, "joints": {}}
    }
    tracks = {"all": {"tracker": {"MOTA": 0.9}}}
    assert scored(one=tracks, two=headline).of_single_frames("one") == {}
    assert scored(one=headline).of_single_frames("other") == {}


def test_figures_come_back_from_their_file(tmp_path):
    scored(one={"a": 1}).write(tmp_path / "figures.json")
    assert SuiteFigures.read(tmp_path / "figures.json") == scored(one={"a": 1})


def test_a_file_of_other_figures_is_refused(tmp_path):
    (tmp_path / "figures.json").write_text('{"models": {}}')
    with pytest.raises(FormatError, match="give another folder"):
        SuiteFigures.read(tmp_path / "figures.json")


BLOCK = "Text.\n\n<!-- suite: rooms -->\n\n| old |\n\n<!-- end of suite: rooms -->\n\nMore text, 0.5.\n"


def test_a_block_is_filled_and_nothing_else_changes(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(BLOCK)
    assert fill_document(path, {"rooms": "| new |"}) == ("rooms",)
    assert path.read_text() == BLOCK.replace("| old |", "| new |")
    assert fill_document(path, {"lying": "| other |"}) == ()
    assert path.read_text() == BLOCK.replace("| old |", "| new |")


@pytest.mark.parametrize("text", ["no block", BLOCK.replace("<!-- end of suite: rooms -->", "")])
def test_a_document_without_a_whole_block_is_refused(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    with pytest.raises(FormatError, match="nothing was filled"):
        fill_document(path, {"rooms": "| new |"})
    assert path.read_text() == text


def test_a_table_has_a_column_for_every_name():
    assert markdown_table(["a", ""], [["1", "2"], ["", "3"]]) == "| a | |\n|---|---|\n| 1 | 2 |\n| | 3 |"


def test_bars_in_the_cells_of_a_table_are_escaped():
    assert markdown_table(["a"], [["sits|leans"]]) == "| a |\n|---|\n| sits\\|leans |"


def everything_scored() -> SuiteFigures:
    """Figures of every set, drawn at random."""
    rng = np.random.default_rng(0)

    class Drawn(dict):
        def __missing__(self, key):
            return float(rng.uniform(0, 1))

    distances = {f"{metres}-{metres + 1} m": 0.5 for metres in range(7)} | {"9-10 m": None}
    by = {f"{low}-{low + 30} deg": 0.5 for low in range(0, 180, 30)}
    scores = {"headline": Drawn(), "within_10cm_by_yaw": by, "within_10cm_by_distance": distances}
    frames = dict.fromkeys(("model", "no fit", "oracle labels", "shuffled labels"), scores)
    trackers = {name: {"all": Drawn()} for name in ("tracker", "tracker, smoothed", "nearest pose")}
    tracks = dict.fromkeys(("all", "frame step 3", "gap 0.5 s", "gap 0.9 s"), trackers)
    real = dict.fromkeys(("as found", "offsets removed", "offsets removed, all joints"), Drawn())
    real |= {BONE_ERRORS: {"reference": 0.03, "as found": 0.02}}
    sets = {
        each.name: {
            "frames": 9,
            "content": "c",
            "models": {"m": (tracks if each.tracks else {}) | (frames if each.unfitted or not each.tracks else {})},
        }
        for each in SETS
    }
    sets[REAL_FRAMES] = {"frames": 9, "content": "c", "subjects": 2, "models": {"m": real}}
    shares = {"recall": 0.5, "precision": 0.5, "false people a frame": 1.5, "share of frames with a false person": 0.5}
    by = {word: {"people": 4, "found": 2, "recall": 0.5} for word in ("full", "upper")}
    people = {"people": shares | {"frames": 9, "people": 8, "by visible": by, "by state": by}}
    for name in (REAL_ROOMS, EMPTY_ROOMS, REAL_ROOMS + STILL, EMPTY_ROOMS + STILL):
        sets[name] = {"frames": 9, "content": "c", "models": {"m": people}}
    return SuiteFigures(sets, {"m": "x"})


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if "<!-- suite:" in path.read_text()], ids=lambda p: p.name
)
def test_every_block_of_the_documents_has_a_table_of_its_shape(tmp_path, path):
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    tables = suite_tables(everything_scored(), "m")
    filled = fill_document(copy, tables)
    assert len(filled) == path.read_text().count("<!-- suite:")
    before, after = (
        [line.count("|") for line in file.read_text().splitlines() if line.startswith("|---")] for file in (path, copy)
    )
    assert before == after  # a table may have more rows


def test_a_pack_of_one_subject_has_no_offsets_in_the_readme():
    figures = everything_scored()
    figures.sets[REAL_FRAMES]["subjects"], scores = 1, figures.sets[REAL_FRAMES]["models"]["m"]
    for title in ("offsets removed", "offsets removed, all joints"):
        del scores[title]
    scores["as found"] = {"within 10 cm": 0.9, "within 15 cm": 0.95}
    first, second, third = suite_tables(figures, "m")["readme"].splitlines()[2:5]
    assert first == "| real Kinect v1, 9 frames of 1 person | joints within 10 cm, as they come | 0.900 |"
    assert second == "| | joints within 15 cm, as they come | 0.950 |"
    assert third.startswith("| rendered, held-out clips")


def test_single_joints_and_a_fitted_body_share_a_table(tmp_path):
    (exercises,) = [each for each in SETS if each.name == "exercises"]
    recipe = replace(read_recipe("exercises"), frames=10, sequence_frames=10)
    render_people(tmp_path / "exercises", recipe)
    counted: list[None] = []
    frames = open_datasets([tmp_path / "exercises"])
    scores = score_set(exercises, frames, shipped_model(), lambda: counted.append(None))
    assert len(counted) == frames_to_score(exercises, frames)
    about = {"command": "c", "frames": 10, "content": "5e"}
    figures = SuiteFigures({}, {}).with_scores("exercises", about, "person", "x", scores)
    header, _, alone, fitted = suite_tables(figures, "person")["fit-choice"].splitlines()
    columns = [cell.strip() for cell in header.strip("|").split("|")]
    rows = [dict(zip(columns, (c.strip() for c in row.strip("|").split("|")), strict=True)) for row in (alone, fitted)]
    assert [row["joints by"] for row in rows] == ["joint stages", "and fit"]
    assert rows[0]["twist, °"] == "-"
    assert float(rows[1]["twist, °"]) < 90
    assert float(rows[1]["spread over a track, %"]) < float(rows[0]["spread over a track, %"])
    assert figures.has("exercises", "5e", "person", "x", scored_as(exercises))
    assert not figures.has("exercises", "5e", "person", "x", ("another",))


def test_options_of_datasets_and_of_the_suite_do_not_mix(tmp_path, capsys):
    assert main(["evaluate", "--suite", str(tmp_path), "--tracks"]) == 1
    assert "--tracks does not go with --suite" in capsys.readouterr().err
    assert main(["evaluate", "data", "--fill", "README.md"]) == 1
    assert "--fill applies to the suite" in capsys.readouterr().err
    assert main(["evaluate"]) == 1
    assert "wanted DATASETs to score, or --suite DIR" in capsys.readouterr().err
    assert main(["evaluate", "--suite", str(tmp_path), "--set", "moon"]) == 1
    assert "the suite has no set 'moon'" in capsys.readouterr().err


def test_the_figure_has_a_bar_for_every_scored_set():
    whole, empty = draw_suite(everything_scored(), "m"), draw_suite(SuiteFigures({}, {}), "m")
    assert whole.shape[1] == empty.shape[1]
    assert whole.shape[0] - empty.shape[0] == 10 * 44  # a row a set
    coloured = (np.ptp(whole.astype(int), axis=2) > 30).any(axis=1)
    assert np.count_nonzero(np.diff(coloured.astype(int)) == 1) == 10
