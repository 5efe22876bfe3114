"""Recordings of OpenNI: written record by record, in both codecs and both widths of positions."""

from __future__ import annotations

import numpy as np
import pytest

from apps.cli import main
from posepipe.errors import FormatError
from posepipe.recording.codecs.primesense_16z import decode_16z
from posepipe.sources import open_source
from posepipe.sources.formats.openni_file import OpenniFile
from tests.reference.recording.primesense_16z import encode_16z
from tests.support.recordings.openni_files import oni_bytes, write_oni


def depths(count=3, height=24, width=32):
    """A wall with steps, large jumps and holes: every kind of code occurs."""
    rng = np.random.default_rng(4)
    wall = 2000 + rng.integers(-3, 4, (count, height, width)).cumsum(axis=2) * 5
    wall[:, 5:9, 4:20] = 900
    wall[:, :, ::7] += rng.integers(0, 3000, (count, height, len(range(0, width, 7))))
    wall[:, 12] = 0
    return wall.astype(np.uint16)


@pytest.mark.parametrize("codec", [b"16zT", b"NONE"])
@pytest.mark.parametrize("version", [(1, 0, 0), (1, 0, 1)])
def test_depth_and_times_are_those_that_were_written(tmp_path, codec, version):
    depth_mm = depths()
    path = write_oni(tmp_path / "a.oni", depth_mm, codec, version=version, times_us=[5_000_000, 5_040_000, 5_100_000])
    with open_source(path) as source:
        assert isinstance(source, OpenniFile)
        read = np.stack([np.rint(frame.depth_m * 1000) for frame in source])
        np.testing.assert_allclose(source.timestamps_s, [0, 0.04, 0.1])
    np.testing.assert_array_equal(read, np.where(depth_mm > 9500, 0, depth_mm))


def test_a_closed_recording_says_so(tmp_path):
    with open_source(write_oni(tmp_path / "a.oni", depths())) as source:
        assert source[-1].index == len(source) - 1
    with pytest.raises(ValueError, match="this source is closed; open it again"):
        source[0]


def test_the_lens_follows_from_the_field_of_view(tmp_path):
    with open_source(write_oni(tmp_path / "a.oni", depths(1, 480, 640), b"NONE")) as source:
        assert source.intrinsics.fx == pytest.approx(575.8157)  # what OpenNI computes for a Kinect
        assert source.intrinsics.fy == pytest.approx(575.8157)
        assert (source.intrinsics.cx, source.intrinsics.cy) == (320, 240)
    with open_source(tmp_path / "a.oni", camera="kinect-v1") as source:
        assert source.intrinsics_from == "kinect-v1"


@pytest.mark.parametrize(("pixel_format", "unit_m"), [(None, 0.001), (100, 0.001), (101, 0.0001)])
def test_the_unit_is_that_of_the_pixel_format(tmp_path, pixel_format, unit_m):
    levels = depths() + np.uint16(1500)
    with open_source(write_oni(tmp_path / "a.oni", levels, pixel_format=pixel_format)) as source:
        np.testing.assert_allclose(
            source[1].depth_m, np.where(levels[1] * unit_m > 9.5, 0, levels[1] * unit_m), rtol=1e-6
        )


def test_mirrored_frames_are_mirrored_back(tmp_path):
    depth_mm = depths()
    plain, mirrored = (write_oni(tmp_path / f"{m}.oni", depth_mm, mirrored=m) for m in (False, True))
    with open_source(plain) as one, open_source(mirrored) as other:
        np.testing.assert_array_equal(one[1].depth_m, other[1].depth_m[:, ::-1])


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mirror_that_is_switched_counts_from_then_on(tmp_path, mirrored):
    depth_mm = depths()
    seen = [depth[:, ::-1] if mirrored == (k < 2) else depth for k, depth in enumerate(depth_mm)]
    path = write_oni(tmp_path / "a.oni", np.stack(seen), mirrored=mirrored, turned_at=3)
    with open_source(path) as source, open_source(write_oni(tmp_path / "b.oni", depth_mm)) as wanted:
        for one, other in zip(source, wanted, strict=True):
            np.testing.assert_array_equal(one.depth_m, other.depth_m)


@pytest.mark.parametrize("codec", [b"16zT", b"NONE"])
def test_cropped_frames_are_part_of_the_whole_image(tmp_path, codec):
    depth_mm = depths()
    kept = np.zeros_like(depth_mm)
    kept[:, 4:14, 8:28] = depth_mm[:, 4:14, 8:28]
    path = write_oni(tmp_path / "a.oni", depth_mm, codec, crop=(8, 4, 20, 10))
    with open_source(path) as source, open_source(write_oni(tmp_path / "b.oni", kept, codec)) as wanted:
        assert source.intrinsics == wanted.intrinsics
        for one, other in zip(source, wanted, strict=True):
            np.testing.assert_array_equal(one.depth_m, other.depth_m)


def test_a_cut_file_plays_its_complete_frames(tmp_path, caplog):
    content = oni_bytes(depths())
    path = tmp_path / "a.oni"
    path.write_bytes(content[:-300])
    with open_source(path) as source:
        assert len(list(source)) == 2
    assert "the file is cut" in caplog.text


def test_a_damaged_frame_is_left_out(tmp_path, caplog):
    content = bytearray(oni_bytes(depths()))
    payload = content.rindex(encode_16z(depths()[1]))
    content[payload : payload + 2] = b"\xff\xff"
    (tmp_path / "a.oni").write_bytes(content)
    with open_source(tmp_path / "a.oni") as source:
        assert [frame.index for frame in source] == [0, 2]
    assert "frame 1" in caplog.text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"codec": b"16zP"}, "readable: 16zT, uncompressed"),
        ({"pixel_format": 102}, r"wanted depth in millimetres .* got pixel format 102"),
        ({"fov": None}, "give --camera"),
        ({"fov": (0.001, 0.001)}, "give --camera"),
    ],
)
def test_what_is_not_read_is_one_line(tmp_path, changes, said):
    write_oni(tmp_path / "a.oni", depths(), **changes)
    with pytest.raises(FormatError, match=said):
        open_source(tmp_path / "a.oni")


def test_a_file_without_depth_is_one_line(tmp_path):
    (tmp_path / "a.oni").write_bytes(oni_bytes(depths())[:24])
    with pytest.raises(FormatError, match="without depth"):
        open_source(tmp_path / "a.oni")


def test_streams_of_the_wrong_size_are_refused():
    stream = encode_16z(depths()[0])
    for cut in (0, 1, 5, len(stream) // 2):
        with pytest.raises(ValueError, match="16zT"):
            decode_16z(stream[:cut], 24, 32)
    with pytest.raises(ValueError, match="has 768 pixels; wanted 32x25"):
        decode_16z(stream, 25, 32)


def test_convert_makes_a_recording_of_it(tmp_path):
    write_oni(tmp_path / "a.oni", depths())
    assert main(["convert", str(tmp_path / "a.oni"), str(tmp_path / "a.mcap")]) == 0
    with open_source(tmp_path / "a.oni") as one, open_source(tmp_path / "a.mcap") as other:
        np.testing.assert_array_equal(one[2].depth_m, other[2].depth_m)
