"""Label images: the person and the part of every pixel, as PNGs and as topics of a recording."""

from __future__ import annotations

import dataclasses
import json

import cv2
import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.errors import PosepipeError, SourceError
from posepipe.results import Track
from posepipe.sinks.images.pictures import PictureSink
from posepipe.sinks.masks.mask_folder import MaskFolder
from posepipe.sinks.masks.mask_recording import MaskRecording
from posepipe.sources import open_source
from tests.support.found_people import result, standing_m, track
from tests.support.paths import WALK


def two_people(index):
    """Person 300 at the left, person 2 at the right; the parts are 5 and 31."""
    empty = result(index, (track(300, standing_m(-1.0)), track(2, standing_m(1.0))))
    left, right = (np.zeros((48, 64), bool) for _ in range(2))
    left[10:40, 5:20] = right[10:40, 40:60] = True
    parts = np.where(left, 5, np.where(right, 31, 0)).astype(np.uint8)
    return dataclasses.replace(empty, mask=left | right, parts=parts, person_masks=(left, right))


def test_png_masks_hold_ids_and_parts(tmp_path):
    with MaskFolder(tmp_path / "m", HUMAN) as sink:
        for index in (3, 4):
            sink.write(two_people(index))
    names = {path.relative_to(tmp_path / "m").as_posix() for path in (tmp_path / "m").rglob("*.*")}
    assert names == {"parts.json", *(f"{kind}/00000{i}.png" for kind in ("people", "parts") for i in (3, 4))}
    people = cv2.imread(str(tmp_path / "m" / "people" / "000004.png"), cv2.IMREAD_UNCHANGED)
    parts = cv2.imread(str(tmp_path / "m" / "parts" / "000004.png"), cv2.IMREAD_UNCHANGED)
    assert (people.dtype, parts.dtype) == (np.uint16, np.uint8)
    assert (people[20, 10], people[20, 50], people[0, 0]) == (300, 2, 0)
    assert (parts[20, 10], parts[20, 50], parts[0, 0]) == (5, 31, 0)
    codes = json.loads((tmp_path / "m" / "parts.json").read_text())
    assert (codes["background"], codes["neck"], codes["right_foot"]) == (0, 5, 31)


def test_a_folder_of_masks_is_described_and_no_source(tmp_path, capsys):
    with MaskFolder(tmp_path / "m", HUMAN) as sink:
        sink.write(two_people(3))
    assert main(["info", str(tmp_path / "m")]) == 0
    said = capsys.readouterr().out
    assert "label images of 1 frame, without their depth" in said
    assert '"right_foot": 31' in said
    with pytest.raises(SourceError, match="label images and no depth; `posepipe info` describes them"):
        open_source(tmp_path / "m")


@pytest.mark.parametrize("sink_of", [MaskFolder, PictureSink])
def test_images_of_a_longer_run_are_told(tmp_path, caplog, sink_of):
    for last in (3, 3, 1):
        with sink_of(tmp_path, HUMAN) as sink:
            for index in range(last):
                sink.write(two_people(index))
        assert all("2 images that are not of this run, such as 000001.png" in told for told in caplog.messages)
        assert bool(caplog.messages) == (last == 1)


def test_a_recording_of_masks_is_a_source_with_two_more_topics(tmp_path):
    path = tmp_path / "m.mcap"
    with MaskRecording(path, HUMAN, {"source": "test"}) as sink:
        for index in range(3):
            sink.write(two_people(index))
    with open_source(path) as source:
        assert [frame.depth_m[0, 0] for frame in source] == pytest.approx([1.0, 1.001, 1.002])
    with AnyReader([path]) as reader:
        found = {}
        for connection, stamp, data in reader.messages():
            found.setdefault(connection.topic, []).append((stamp, reader.deserialize(data, connection.msgtype)))
    assert len(found["/posepipe/masks/people"]) == 3
    assert [stamp for stamp, _ in found["/posepipe/masks/parts"]] == [stamp for stamp, _ in found["/depth/image"]]
    message = found["/posepipe/masks/people"][0][1]
    assert message.encoding == "mono16"
    people = message.data.view(np.uint16).reshape(48, 64)
    assert (people[20, 10], people[20, 50], people[0, 0]) == (300, 2, 0)


def test_ids_beyond_16_bits_begin_again():
    frame = two_people(0)
    people = (Track(65_535, frame.people[0].pose), Track(65_536, frame.people[1].pose))
    ids = dataclasses.replace(frame, people=people).person_ids()
    assert (ids[20, 10], ids[20, 50]) == (65_535, 1)


def test_run_writes_masks_of_the_people_it_finds(tmp_path, capsys):
    from posepipe.sinks import read_results

    out = tmp_path / "r.jsonl"
    assert main(["run", str(WALK), "--out", str(out), "--end", "0.1", "--masks", str(tmp_path / "m")]) == 0
    assert f"masks -> {tmp_path / 'm'}" in capsys.readouterr().out
    for row in read_results(out).frames:
        people = cv2.imread(str(tmp_path / "m" / "people" / f"{row.frame:06d}.png"), cv2.IMREAD_UNCHANGED)
        parts = cv2.imread(str(tmp_path / "m" / "parts" / f"{row.frame:06d}.png"), cv2.IMREAD_UNCHANGED)
        assert set(np.unique(people)) == {0} | {person.id for person in row.people}
        assert (people[parts > 0] > 0).all()  # and of few of a person's pixels no part is known
        assert (parts > 0).sum() > 0.95 * (people > 0).sum()
        assert (people > 0).sum() > 1000


def test_a_full_or_forbidden_place_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match="file"), MaskFolder(tmp_path / "file", HUMAN):
        pass


def test_masks_are_not_written_among_the_frames(tmp_path, capsys):
    assert main(["convert", str(WALK), str(tmp_path / "frames"), "--end", "0.1"]) == 0
    asked = ["run", str(tmp_path / "frames"), "--out", str(tmp_path / "r.jsonl"), "--masks"]
    assert main([*asked, str(tmp_path / "frames" / "m")]) == 1
    assert "would lie among the frames" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*asked, str(tmp_path / "m.png")])
    assert "wanted a folder or a name that ends in .mcap" in capsys.readouterr().err
