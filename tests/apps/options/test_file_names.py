"""Files whose names are no UTF-8: Linux permits them, and every command works or names them in one line."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from apps.cli import as_typed, main
from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.io.files import is_utf8, name_text
from posepipe.models.card import write_card
from posepipe.models.registry import models_dir
from posepipe.recording import RecordingReader
from posepipe.sinks.images.video import VideoSink
from posepipe.sources import open_source
from tests.support.paths import WALK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have names of characters alone")

FOREIGN = os.fsdecode(b"d\xe9mo")
FAST = ["--end", "0.1", "--model", "person-fast"]


@pytest.fixture
def walk(tmp_path):
    return shutil.copy(WALK, tmp_path / f"{FOREIGN} x.mcap")


def test_a_name_is_text_with_marks_for_foreign_bytes():
    assert name_text(f"{FOREIGN} \N{SNOWMAN}") == "d?mo \N{SNOWMAN}"
    assert (is_utf8(FOREIGN), is_utf8("d\u00e9mo \N{SNOWMAN}")) == (False, True)
    assert as_typed(["run", f"/a/{FOREIGN}.mcap"]) == "posepipe run 'd?mo.mcap'"


def test_run_writes_every_output_beside_such_names(tmp_path, walk):
    model = shutil.copy(models_dir() / "person-fast.npz", tmp_path / f"{FOREIGN}.npz")
    out, pictures, record = (tmp_path / f"{FOREIGN}{end}" for end in (".jsonl", "", "-found.mcap"))
    options = ["--pictures", str(pictures), "--record", str(record), "--masks", str(tmp_path / f"{FOREIGN}-masks.mcap")]
    assert main(["run", str(walk), "--end", "0.1", "--model", str(model), "--out", str(out), *options]) == 0
    header = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert header["source"].endswith("d?mo x.mcap")
    assert header["model"].startswith("d?mo sha256:")
    assert sorted(path.name for path in pictures.iterdir()) == [f"{i:06d}.png" for i in range(4)]
    with open_source(record) as source:
        assert source.frame_count == 4


def test_record_keeps_the_name_as_metadata(tmp_path, walk):
    assert main(["record", str(walk), str(tmp_path / f"{FOREIGN}-r.mcap"), "--end", "0.1"]) == 0
    with RecordingReader(tmp_path / f"{FOREIGN}-r.mcap") as recording:
        assert any("d?mo x.mcap" in value for value in recording.metadata.values())


def test_a_sheet_is_drawn_of_such_a_source(tmp_path, walk):
    sheet = tmp_path / f"{FOREIGN}.png"
    assert main(["view", str(walk), "--sheet", str(sheet)]) == 0
    assert sheet.stat().st_size > 1000


def test_a_video_of_such_a_name_is_refused_before_the_work(tmp_path, walk, capsys):
    video = tmp_path / f"{FOREIGN}.mp4"
    with pytest.raises(SystemExit):
        main(["run", str(walk), "--video", str(video), *FAST])
    assert "wanted a name in UTF-8" in capsys.readouterr().err
    with pytest.raises(PosepipeError, match=r"d\?mo\.mp4: a video needs a path in UTF-8"), VideoSink(video, HUMAN):
        pass
    assert not video.exists()


def test_a_dataset_of_such_a_name_is_scored(tmp_path, walk):
    figures, report = tmp_path / f"{FOREIGN}.json", tmp_path / f"{FOREIGN}-report"
    options = ["--frames", "1", "--json", str(figures), "--report", str(report)]
    assert main(["evaluate", str(walk), "--model", "person-fast", *options]) == 0
    assert "d?mo x.mcap" in json.loads(figures.read_text())["frames"]
    assert "d?mo x.mcap" in (report / "report.html").read_text(encoding="utf-8")


def test_a_model_of_such_a_name_has_a_card(tmp_path):
    model = shutil.copy(models_dir() / "person-fast.npz", tmp_path / f"{FOREIGN}.npz")
    assert write_card(model).read_text(encoding="utf-8").startswith("# d?mo\n")
