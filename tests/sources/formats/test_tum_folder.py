"""TUM RGB-D folders."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import FormatError, PosepipeError, SourceError
from posepipe.sources import open_source
from posepipe.sources.formats.tum_folder import TumFolder

SIZE = (480, 640)


@pytest.fixture
def folder(tmp_path):
    """Two images of 2 m and 2.5 m, listed in the format of the benchmark."""
    (tmp_path / "depth").mkdir()
    for name, level in (("a", 10_000), ("b", 12_500)):
        cv2.imwrite(str(tmp_path / "depth" / f"{name}.png"), np.full(SIZE, level, np.uint16))
    rows = "# depth maps\n# timestamp filename\n1305031102.160407 depth/a.png\n\n1305031102.226738 depth/b.png\n"
    (tmp_path / "depth.txt").write_text(rows)
    return tmp_path


def test_depth_times_and_default_calibration(folder):
    with TumFolder(folder) as source:
        first, second = source
    assert source.frame_count == 2
    assert source.intrinsics == Intrinsics(525.0, 525.0, 319.5, 239.5)
    assert source.start_time_ns == pytest.approx(1305031102160407000, abs=1000)
    assert (float(first.depth_m[0, 0]), float(second.depth_m[0, 0])) == pytest.approx((2.0, 2.5))
    assert (first.timestamp_s, second.timestamp_s) == pytest.approx((0, 0.066331), abs=1e-6)
    assert [first.index, second.index] == [0, 1]


def test_times_of_a_clock_from_0_are_no_dates(folder):
    (folder / "depth.txt").write_text("12.5 depth/a.png\n12.6 depth/b.png\n")
    assert TumFolder(folder).start_time_ns == 0
    np.testing.assert_allclose(TumFolder(folder).timestamps_s, [0, 0.1])


def test_its_own_calibration_is_preferred(folder):
    values = {"width": 640, "height": 480, "fx": 517.3, "fy": 516.5, "cx": 318.6, "cy": 255.3}
    values |= {"depth_unit_m": 0.0002, "fps": 30}
    (folder / "camera.json").write_text(json.dumps(values))
    assert TumFolder(folder).intrinsics == Intrinsics(517.3, 516.5, 318.6, 255.3)


@pytest.mark.parametrize("rows", ["\ufeff# maps\n5 depth/a.png\n6 depth/b.png", "5\tdepth/a.png\r\n6  depth/b.png"])
def test_lists_of_other_editors_are_read(folder, rows):
    (folder / "depth.txt").write_bytes(rows.encode())
    with TumFolder(folder) as source:
        assert [round(float(frame.depth_m[0, 0]), 3) for frame in source] == [2.0, 2.5]
        np.testing.assert_allclose(source.timestamps_s, [0, 1])


def test_a_preset_keeps_the_unit_of_the_benchmark_and_says_so(folder, caplog):
    with open_source(folder, camera="kinect-v1") as source:
        assert source.intrinsics.fx == 585.0
        assert float(source[0].depth_m[0, 0]) == pytest.approx(2.0)
    (line,) = caplog.messages
    assert f"{folder}: no camera.json says its unit" in line
    assert "read as 1/5000 m, as in the TUM RGB-D benchmark; if these are millimetres" in line


def test_a_unit_that_the_folder_or_a_file_names_needs_no_word(folder, caplog):
    values = {"width": 640, "height": 480, "fx": 525, "fy": 525, "cx": 319.5, "cy": 239.5}
    (folder / "mine.json").write_text(json.dumps(values | {"depth_unit_m": 0.0001, "fps": 30}))
    assert float(open_source(folder, camera=folder / "mine.json")[0].depth_m[0, 0]) == pytest.approx(1.0)
    (folder / "camera.json").write_text(json.dumps({"depth_unit_m": 0.0001}))
    assert float(open_source(folder, camera="kinect-v1")[0].depth_m[0, 0]) == pytest.approx(1.0)
    assert caplog.messages == []


@pytest.mark.parametrize(
    "row", ["abc depth/a.png", "12.5", "nan depth/a.png", "-1 depth/a.png", "1305031102160 depth/a.png"]
)
def test_a_wrong_line_is_named_by_its_number(folder, row):
    (folder / "depth.txt").write_text(f"# comment\n{row}\n")
    with pytest.raises(FormatError, match="line 2: wanted 'timestamp filename', seconds, got"):
        TumFolder(folder)


def test_a_list_without_frames_is_an_error(folder):
    (folder / "depth.txt").write_text("# nothing\n")
    with pytest.raises(SourceError, match="lists no frame"):
        TumFolder(folder)


def test_a_missing_listed_image_costs_its_own_frame_alone(folder, caplog):
    with (folder / "depth.txt").open("a") as rows:
        rows.write("1305031102.3 depth/c.png\n")
    (folder / "depth" / "b.png").rename(folder / "depth" / "c.png")
    assert [(frame.index, round(frame.timestamp_s, 3)) for frame in TumFolder(folder)] == [(0, 0.0), (2, 0.14)]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.endswith("b.png: missing, but depth.txt lists it; frame 1 is left out")


def test_a_folder_without_any_listed_image_is_named(folder):
    for name in ("a", "b"):
        (folder / "depth" / f"{name}.png").unlink()
    source = TumFolder(folder)
    assert list(source) == []
    with pytest.raises(FormatError, match=r"a.png: missing, but depth.txt lists it"):
        source[0]


def test_the_default_calibration_is_not_used_for_another_size(folder):
    cv2.imwrite(str(folder / "depth" / "a.png"), np.full((240, 320), 1, np.uint16))
    with pytest.raises(FormatError, match="320x240 pixels, but the default calibration is for 640x480"):
        list(TumFolder(folder))


@pytest.fixture
def with_colour(folder):
    """A red and a green picture, 10 ms after the two images, and a blue one a second later."""
    (folder / "rgb").mkdir()
    times = {"red": 1305031102.170407, "green": 1305031102.236738, "blue": 1305031103.2}
    for place, name in enumerate(times):
        picture = np.zeros((24, 32, 3), np.uint8)
        picture[..., 2 - place] = 200  # OpenCV writes blue first
        cv2.imwrite(str(folder / "rgb" / f"{name}.png"), picture)
    (folder / "rgb.txt").write_text("".join(f"{time:f} rgb/{name}.png\n" for name, time in times.items()))
    return folder


def colours(source) -> list[list[int]]:
    return [frame.colour.mean(axis=(0, 1)).tolist() for frame in source]


@pytest.mark.parametrize("name", ["auto", "rgb.txt"])
def test_pictures_are_those_nearest_in_time(with_colour, name):
    assert colours(open_source(with_colour, colour=name)) == [[200, 0, 0], [0, 200, 0]]
    assert all(frame.colour is None for frame in open_source(with_colour))


def test_a_picture_far_away_or_damaged_is_black(with_colour):
    (with_colour / "rgb" / "red.png").write_bytes((with_colour / "rgb" / "green.png").read_bytes())
    (with_colour / "rgb" / "green.png").write_bytes(b"no picture")
    assert colours(TumFolder(with_colour, colour="auto")) == [[0, 200, 0], [0, 0, 0]]
    rows = (with_colour / "rgb.txt").read_text().splitlines()
    (with_colour / "rgb.txt").write_text(f"{rows[0]}\n{rows[2]}\n")
    assert colours(TumFolder(with_colour, colour="auto")) == [[0, 200, 0], [0, 200, 0]]  # 66 ms are near enough
    (with_colour / "rgb.txt").write_text(f"{rows[2].replace('blue', 'red')}\n")
    assert colours(TumFolder(with_colour, colour="auto")) == [[0, 0, 0], [0, 0, 0]]


def test_missing_pictures_do_not_stop_the_depth(with_colour):
    (with_colour / "rgb" / "red.png").unlink()
    assert colours(TumFolder(with_colour, colour="auto")) == [[0, 0, 0], [0, 200, 0]]


def test_colour_that_is_not_there_is_an_error(with_colour):
    with pytest.raises(SourceError, match="no topic '/camera/rgb'; give --colour auto"):
        open_source(with_colour, colour="/camera/rgb")
    for path in (with_colour / "rgb").iterdir():
        path.unlink()
    with pytest.raises(PosepipeError, match=r"blue.png: No such file"):
        open_source(with_colour, colour="auto")
    (with_colour / "rgb.txt").write_text("# none\n")
    with pytest.raises(SourceError, match="lists no picture"):
        open_source(with_colour, colour="auto")
    (with_colour / "rgb.txt").unlink()
    with pytest.raises(SourceError, match=r"no rgb.txt there"):
        open_source(with_colour, colour="auto")
