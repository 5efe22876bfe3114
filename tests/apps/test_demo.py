"""The demo: what a newcomer sees first."""

import json

import cv2

from apps.cli import main
from apps.demo import RECORDING


def test_the_demo_leaves_a_table_results_pictures_and_a_video(tmp_path, capsys):
    assert RECORDING.stat().st_size < 3e6
    assert main(["demo", "--out", str(tmp_path)]) == 0
    table = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.endswith(" cm")}
    assert len(table) == 20
    assert float(table["head"].split()[-2]) < 5  # centimetres from the truth
    header, *frames = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert header["format"] == "posepipe-results"
    assert len(frames) == 97
    assert len({person["id"] for frame in frames for person in frame["people"]}) == 1
    assert len(list((tmp_path / "pictures").glob("*.png"))) == 97
    video = cv2.VideoCapture(str(tmp_path / "demo.mp4"))
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) == 97
