"""Colour beside depth: of ROS recordings, where it is asked for; shown, recorded and never searched for people."""

from __future__ import annotations

import struct
from dataclasses import replace

import cv2
import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import DepthFrame
from posepipe.recording.ros.colour_images import RGB_ORDER
from posepipe.sources import open_source
from posepipe.sources.rotation import RotatedSource
from tests.support.paths import WALK
from tests.support.recordings import ros_writers as made

ROWS, COLS = np.indices((6, 8))
RGB = np.stack([25 * COLS, 30 * ROWS, 200 - 20 * COLS], axis=-1).astype(np.uint8)
WRITERS = {".bag": made.write_bag, ".db3": made.write_db3, ".mcap": made.write_mcap}
TOPIC = "/camera/color/image_raw"


def pixels_of(encoding):
    order = RGB_ORDER[encoding]
    pixels = np.full((*RGB.shape[:2], 4 if "a" in encoding else 3), 7, np.uint8)
    for channel, place in enumerate(order):
        pixels[:, :, place] = RGB[:, :, channel]
    return pixels.reshape(RGB.shape[0], -1)


def with_colour(encoding="rgb8", count=3, topic=TOPIC):
    times_ns = [made.START_NS + i * 10**9 // 30 + 5_000_000 for i in range(count)]
    pixels = pixels_of(encoding)
    images = [replace(made.image(pixels, t, topic, encoding=encoding, padding=3), topic=topic) for t in times_ns]
    for message in images:  # the width of `made.image` is that of its bytes
        message.fields["width"] = RGB.shape[1]
    return [*made.depth_recording(colour=False), *images]


def colours(path, name="auto"):
    with open_source(path, colour=name) as source:
        return [frame.colour for frame in source]


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("encoding", RGB_ORDER)
def test_colour_is_rgb_whatever_the_order_of_its_bytes(tmp_path, suffix, encoding):
    found = colours(WRITERS[suffix](tmp_path / f"walk{suffix}", with_colour(encoding)))
    assert len(found) == 3
    for colour in found:
        np.testing.assert_array_equal(colour, RGB)


def test_colour_is_read_only_where_it_is_asked_for(tmp_path):
    path = made.write_mcap(tmp_path / "walk.mcap", with_colour())
    with open_source(path) as source:
        assert [frame.colour for frame in source] == [None] * 3


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_compressed_colour_is_unpacked(tmp_path, suffix):
    smooth = cv2.GaussianBlur(cv2.resize(RGB, (64, 48)), (9, 9), 4)
    data = cv2.imencode(suffix, smooth[:, :, ::-1])[1].tobytes()
    message = made.compressed_image(data, made.START_NS, "/rgb/compressed", format="jpeg")
    first, *_, last = colours(made.write_mcap(tmp_path / "m.mcap", [*made.depth_recording(20, colour=False), message]))
    assert np.abs(first.astype(int) - smooth).max() <= (0 if suffix == ".png" else 24)
    assert not last.any()  # 0.6 s later


def test_a_damaged_image_is_black_and_loses_no_depth(tmp_path):
    messages = with_colour()
    messages[-1].fields["data"] = messages[-1].fields["data"][:9]
    found = colours(made.write_mcap(tmp_path / "m.mcap", messages))
    assert [bool(each.any()) for each in found] == [True, True, False]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8" + b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60_000, 60_000, 3),
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 60_000, 60_000, 8, 2, 0, 0, 0),
        b"\xff\xd8\xff\xe0\x00\x00" * 4,
        b"\xff\xd8" + b"\xff" * 60,
        # a marker without length, behind which decoders find another size than a reader of lengths
        b"\xff\xd8\xff\xd0\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60_000, 60_000, 3),
        b"\xff\xd8\xff\x01\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60_000, 60_000, 3),
    ],
)
def test_sizes_are_checked_before_a_decoder_sees_them(tmp_path, data):
    message = made.compressed_image(data, topic="/rgb/compressed", format="jpeg")
    with pytest.raises(FormatError, match=r"60000x60000 pixels|no colour stream"):
        colours(made.write_mcap(tmp_path / "m.mcap", [*made.depth_recording(colour=False), message]))


def test_grey_pictures_are_no_colour(tmp_path):
    grey = cv2.imencode(".jpg", np.full((8, 8), 90, np.uint8))[1].tobytes()
    infrared = made.compressed_image(grey, topic="/infra1/compressed", format="mono8; jpeg compressed")
    path = made.write_mcap(tmp_path / "m.mcap", [*with_colour(), infrared])
    np.testing.assert_array_equal(colours(path)[0], RGB)
    with pytest.raises(FormatError, match="/infra1/compressed is no colour stream"):
        colours(path, "/infra1/compressed")


def test_a_damaged_first_image_is_black_like_any_other(tmp_path):
    whole = cv2.imencode(".jpg", np.full((8, 8, 3), 90, np.uint8))[1].tobytes()
    images = [
        made.compressed_image(data, made.START_NS + i * 10**9 // 30, "/rgb/compressed", "jpeg")
        for i, data in enumerate([head_of(whole), whole, whole])
    ]
    found = colours(made.write_mcap(tmp_path / "m.mcap", [*made.depth_recording(colour=False), *images]))
    assert [bool(each.any()) for each in found] == [False, True, True]


def head_of(jpeg):
    """A JPEG up to the tables behind its size: no pixel."""
    return jpeg[: jpeg.index(b"\xff\xc0") + 19]


def test_colour_too_wide_for_a_recording_is_one_line(tmp_path, capsys):
    wide = made.image(np.zeros((1, 3 * 70_000), np.uint8), topic=TOPIC, encoding="rgb8")
    wide.fields["width"] = 70_000
    path = made.write_mcap(tmp_path / "m.mcap", [*made.depth_recording(colour=False), wide])
    assert main(["convert", str(path), str(tmp_path / "n.mcap"), "--colour", "auto"]) == 1
    assert "colour is recorded as JPEG, of at most 65500 pixels a side" in capsys.readouterr().err.splitlines()[-1]


def test_a_stream_is_chosen_by_name_or_is_the_only_one(tmp_path):
    two = made.write_mcap(tmp_path / "two.mcap", with_colour() + with_colour(topic="/other/rgb")[-3:])
    with pytest.raises(FormatError, match=r"several colour streams, choose one with --colour: .*/other/rgb"):
        colours(two)
    np.testing.assert_array_equal(colours(two, "/other/rgb")[0], RGB)
    with pytest.raises(FormatError, match=rf"{made.DEPTH} is no colour stream; there are: .*{TOPIC}"):
        colours(two, made.DEPTH)
    none = made.write_mcap(tmp_path / "none.mcap", made.depth_recording(colour=False))
    with pytest.raises(FormatError, match="no colour stream in the recording; leave out --colour"):
        colours(none)


@pytest.mark.parametrize("source", ["camera:realsense", "pack.npz"])
def test_other_sources_have_no_colour(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    np.savez("pack.npz", depth_mm=np.full((1, 12, 16), 2000, np.uint16), K=np.array([20.0, 20.0, 7.5, 5.5]))
    with pytest.raises(PosepipeError, match=r"colour is read(; leave it out| from recordings alone)"):
        open_source(source, colour="auto")


def test_colour_rotates_with_depth_and_is_mirrored_with_it(tmp_path):
    path = made.write_mcap(tmp_path / "walk.mcap", with_colour())
    with open_source(path, colour="auto") as source:
        (turned, *_) = RotatedSource(source, mirror=True, rotate=90)
    np.testing.assert_array_equal(turned.colour, np.rot90(RGB[:, ::-1], -1))


@pytest.mark.parametrize("colour", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8)])
def test_colour_is_an_image_of_three_bytes(colour):
    with pytest.raises(ValueError, match="colour: wanted uint8"):
        DepthFrame(np.ones((2, 2), np.uint16), Intrinsics(2.0, 2.0, 0.5, 0.5), colour=colour)


def test_record_and_convert_keep_colour_that_is_asked_for(tmp_path, capsys):
    source = made.write_bag(tmp_path / "walk.bag", with_colour())
    assert main(["record", str(source), str(tmp_path / "a.mcap"), "--colour", "auto"]) == 0
    assert main(["record", str(source), str(tmp_path / "b.mcap")]) == 0
    capsys.readouterr()
    found = colours(tmp_path / "a.mcap")
    assert len(found) == 3
    for colour in found:
        assert np.abs(colour.astype(int) - RGB).mean() < 6  # it is a JPEG
    with pytest.raises(FormatError, match="no colour stream"):
        colours(tmp_path / "b.mcap")


def test_people_are_those_of_depth_and_colour_stands_beside(tmp_path):
    with open_source(WALK) as walk:
        frames = [replace(frame, colour=np.full((24, 32, 3), (255, 0, 0), np.uint8)) for frame in list(walk)[:3]]
        from posepipe.recording import RecordingWriter

        with RecordingWriter(tmp_path / "c.mcap", walk.intrinsics, *walk.shape) as writer:
            for frame in frames:
                writer.write(frame)
    results = []
    for name, typed in (("plain", []), ("colour", ["--colour", "auto"])):
        out = tmp_path / f"{name}.jsonl"
        pictures = tmp_path / name
        assert main(["run", str(tmp_path / "c.mcap"), "--out", str(out), "--pictures", str(pictures), *typed]) == 0
        results.append(out.read_text().splitlines()[1:])
        picture = cv2.imread(str(sorted(pictures.glob("*.png"))[0]))
        assert picture.shape == ((320, 1600, 3) if name == "plain" else (320, 1920, 3))
    assert results[0] == results[1]
    assert (picture[160, 1760] > [-1, -1, 240]).all()
    assert picture[160, 1760, 0] < 20
