"""``posepipe explain``: the path of a pixel in words, and drawn; what it refuses."""

from __future__ import annotations

import re

import pytest
from mcap.writer import CompressionType

from apps.bench import RECORDING
from apps.cli import main
from posepipe.recording import McapFile
from tests.support.paths import DEMO
from tests.support.recordings import ros_writers as ros


def test_a_part_is_explained_and_drawn(tmp_path, capsys):
    picture = tmp_path / "hand.svg"
    assert main(["explain", str(RECORDING), "--start", "1", "--part", "left_hand", "--draw", str(picture)]) == 0
    said = capsys.readouterr().out
    found = re.match(r"pixel of row (\d+), column (\d+), at [\d.]+ m: left hand 0\.\d\d", said)
    assert found
    assert "tree 3, mirrored" in said
    assert " cm " in said
    assert said.rstrip().endswith("hand.svg")
    assert "Why this pixel is left hand" in picture.read_text()
    assert main(["explain", str(RECORDING), "--start", "1", "--at", *found.groups()]) == 0
    assert capsys.readouterr().out == said.rpartition("-> ")[0]


def test_frames_before_anybody_is_in_view_are_passed_over(capsys):
    assert main(["explain", str(DEMO), "--part", "left_hand"]) == 0
    assert capsys.readouterr().out.startswith("frame 3, at 0.25 s, the first that shows somebody\npixel of row ")


def test_nobody_in_any_frame_is_one_line(capsys):
    assert main(["explain", str(DEMO), "--part", "left_hand", "--end", "0.1"]) == 1
    assert f"error: nobody found in the first 2 frames of {DEMO}; give another" in capsys.readouterr().err
    assert main(["explain", str(DEMO), "--at", "120", "85"]) == 1
    assert f"error: nobody found in the first frame of {DEMO}" in capsys.readouterr().err


def test_a_source_without_a_readable_frame_is_one_line(tmp_path, capsys):
    path = ros.write_mcap(
        tmp_path / "a.mcap", ros.depth_recording(9), chunk_size=1300, compression=CompressionType.ZSTD
    )
    content = bytearray(path.read_bytes())
    with McapFile(path) as file:
        last = file._layout.chunks[-1].offset
    content[last + 120 : last + 160] = bytes(40)
    path.write_bytes(content)
    assert main(["explain", str(path), "--start", "0.26", "--part", "left_hand"]) == 1
    assert f"error: no frame of {path} can be read from 0.26 s on; give another --start" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--part", "hoof"], "has no part 'hoof'"),
        (["--at", "0", "0"], "--at 0 0 lies on no person"),
        (["--at", "9999", "0"], "--at must lie in the image"),
    ],
)
def test_what_cannot_be_explained_is_refused(words, problem, capsys):
    assert main(["explain", str(RECORDING), "--start", "1", *words]) == 1
    assert problem in capsys.readouterr().err
