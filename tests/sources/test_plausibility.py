"""Implausible depth and lenses are logged once for each source; plausible ones log nothing."""

from __future__ import annotations

import json
import logging
import socket
import threading

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.sources import open_source
from posepipe.sources.base.plausibility import JUDGED_FRAMES, PlausibilityCheck, lens_problem
from posepipe.sources.playback import SlicedSource
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.depth_senders import time_ns_of

LENS = Intrinsics(28.0, 28.5, 15.5, 11.5)
LONG_LENS = Intrinsics(280.0, 285.0, 15.5, 11.5)
SHAPE = (24, 32)
COUNT = 4

ROOM_MM = np.linspace(1000, 5400, SHAPE[0] * SHAPE[1]).astype(np.uint16).reshape(SHAPE)  # median 3,200 mm
PICTURE = np.linspace(40, 250, SHAPE[0] * SHAPE[1]).astype(np.uint16).reshape(SHAPE)


def png_folder(path, levels, lens=LENS, unit_m=0.001):
    path.mkdir()
    write_camera_file(path / "camera.json", CameraFile(SHAPE[1], SHAPE[0], lens, unit_m, 30.0))
    for i in range(COUNT):
        cv2.imwrite(str(path / f"{i}.png"), levels)
    return path


def npz_pack(path, levels, lens=LENS, unit_m=0.001):
    millimetres = np.rint(levels * (unit_m / 0.001)).astype(np.uint16)  # the pack's own unit
    np.savez(path, depth_mm=np.stack([millimetres] * COUNT), K=np.array([lens.fx, lens.fy, lens.cx, lens.cy]))
    return path


def with_times(path, times):
    """Give a pack as many frames as times, seconds."""
    np.savez(path, **{**np.load(path), "depth_mm": np.stack([ROOM_MM] * len(times)), "timestamp_s": np.array(times)})
    return path


def mcap_file(path, levels, lens=LENS, unit_m=0.001):
    pixels, encoding = (levels, "16UC1") if unit_m == 0.001 else ((levels * unit_m).astype(np.float32), "32FC1")
    messages = [ros.camera_info(camera=lens, shape=SHAPE)]
    messages += [ros.image(pixels, ros.START_NS + i * 10**8, encoding=encoding) for i in range(COUNT)]
    return ros.write_mcap(path, messages)


FILES = {"frames": png_folder, "pack.npz": npz_pack, "recording.mcap": mcap_file}


def warnings_of(source, caplog) -> list[str]:
    """What is logged while a source plays, twice where it can."""
    with caplog.at_level(logging.WARNING), source:
        for _ in source:
            pass
        if source.frame_count is not None:
            list(source)
    return [record.getMessage() for record in caplog.records]


def only(messages: list[str], name: object, *words: str) -> None:
    (message,) = messages
    assert message.startswith(f"{name}: implausible")
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("name", FILES)
def test_plausible_files_log_nothing(tmp_path, caplog, name):
    assert warnings_of(open_source(FILES[name](tmp_path / name, ROOM_MM)), caplog) == []


@pytest.mark.parametrize("name", ["frames", "recording.mcap"])
def test_millimetres_taken_for_metres_are_named_once(tmp_path, caplog, recwarn, name):
    path = FILES[name](tmp_path / name, ROOM_MM, unit_m=1.0)
    only(warnings_of(open_source(path), caplog), path, "3,200 m", "1,000 times too large")
    assert not recwarn.list


def test_millimetres_in_floating_point_are_named(tmp_path, caplog):
    path = png_folder(tmp_path / "frames", ROOM_MM)
    for i, png in enumerate(sorted(path.glob("*.png"))):
        png.unlink()
        np.save(path / f"{i}.npy", ROOM_MM.astype(np.float32))
    only(warnings_of(open_source(path), caplog), path, "taken for metres", "floating point have no unit: save them in")


@pytest.mark.parametrize("name", ["frames", "recording.mcap"])
def test_levels_per_metre_taken_for_a_unit_are_named_once(tmp_path, caplog, name):
    path = FILES[name](tmp_path / name, ROOM_MM, unit_m=1000.0)
    only(warnings_of(open_source(path), caplog), path, "3,199,500 m", "far too large", "0.001 for millimetres")


@pytest.mark.parametrize("name", FILES)
def test_metres_taken_for_millimetres_are_named_once(tmp_path, caplog, name):
    path = FILES[name](tmp_path / name, ROOM_MM, unit_m=1e-6)
    only(warnings_of(open_source(path), caplog), path, "the median is 0.003", "1,000 times too small")


@pytest.mark.parametrize("name", FILES)
def test_a_lens_ten_times_too_long_is_named_once(tmp_path, caplog, name):
    path = FILES[name](tmp_path / name, ROOM_MM, lens=LONG_LENS)
    only(warnings_of(open_source(path), caplog), path, "fx 280", "6.54 degrees", "people would be tiny", "--camera")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("stretch", [1, 256, 257])
def test_levels_of_8_bits_are_named_once(tmp_path, caplog, name, stretch):
    path = FILES[name](tmp_path / name, PICTURE * np.uint16(stretch))
    only(warnings_of(open_source(path), caplog), path, "8-bit image", "16-bit millimetres")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("factor", [4, 5])
def test_a_unit_several_times_too_large_is_named_once(tmp_path, caplog, name, factor):
    path = FILES[name](tmp_path / name, ROOM_MM, unit_m=factor / 1000)
    only(warnings_of(open_source(path), caplog), path, f"median is {3.2 * factor:.0f} m", "0.0002, as 5,000 levels")


@pytest.mark.parametrize("name", FILES)
def test_a_unit_ten_times_too_small_is_named_once(tmp_path, caplog, name):
    path = FILES[name](tmp_path / name, ROOM_MM, unit_m=0.0001)
    only(warnings_of(open_source(path), caplog), path, "nearer than 0.52 m", "unit (depth_unit_m) is too small")


def test_a_scene_that_is_too_far_away_is_named(tmp_path, caplog):
    path = npz_pack(tmp_path / "a.npz", ROOM_MM * np.uint16(10))
    only(warnings_of(open_source(path), caplog), path, "32 m", "or the scene is too far away")


def test_times_that_go_back_are_named_once(tmp_path, caplog):
    path = npz_pack(tmp_path / "a.npz", ROOM_MM)
    np.savez(path, **np.load(path), timestamp_s=np.array([0.0, 0.1, 0.05, 0.2]))
    only(warnings_of(open_source(path), caplog), path, "frame 2 is 0.05 s before", "in order of time?")
    caplog.clear()
    folder = png_folder(tmp_path / "tum", ROOM_MM)
    (folder / "depth.txt").write_text("".join(f"{time} {i}.png\n" for i, time in enumerate((5.0, 6.0, 3.0, 2.0))))
    only(warnings_of(open_source(folder), caplog), folder, "frame 2 is 3 s before", "2 such frames")


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([7.0, 7.0, 7.0, 8.0], ("2 of 4 frames have the time of the one before", "rounded to seconds, or float32?")),
        (np.float32(1.7e9) + np.arange(4, dtype=np.float32) / 30, ("3 of 4 frames",)),
        ([0.0, 33.3, 66.6, 99.9], ("33.3 s apart", "milliseconds, taken for seconds?")),
        ([0.0, 3.3e-8, 6.6e-8, 1e-7], ("3.3e-08 s apart", "milliseconds or microseconds, taken for nanoseconds?")),
        ([0.0, 0.1, 2.1, 2.2], ()),
        ([0.0, 1.0, 2.0, 9.0], ()),
        ([0.0, 0.0, 0.033, 0.067], ()),
    ],
)
def test_times_that_stand_or_leap_are_named_once(tmp_path, caplog, times, words):
    path = with_times(npz_pack(tmp_path / "a.npz", ROOM_MM), times)
    messages = warnings_of(open_source(path), caplog)
    if words:
        only(messages, path, *words)
    else:
        assert messages == []


@pytest.mark.parametrize(
    ("times", "gap"),
    [
        ([0.0, 0.1, 3600.2, 3600.3], "frame 2 is 3,600.1 s after the one before"),
        ([0.0, 0.1, 2.2, 2.3, 2.4, 4.5, 4.6], "frame 2 is 2.1 s after the one before, the first of 2 gaps"),
    ],
)
def test_gaps_in_the_times_are_named_once(tmp_path, caplog, times, gap):
    path = with_times(npz_pack(tmp_path / "a.npz", ROOM_MM), times)
    (message,) = warnings_of(open_source(path), caplog)
    assert message.startswith(f"{path}: a gap in the times, {gap}; people who are tracked have new ids after it;")


@pytest.mark.parametrize(
    ("start_s", "end_s", "gap"),
    [
        (0.0, 0.2, ""),
        (0.0, 60.1, "frame 3 is 59.8 s after the one before; people"),
        (60.0, 100.0, ""),
        (60.0, 900.2, "frame 6 is 839.8 s after the one before; people"),
        (0.0, None, "frame 3 is 59.8 s after the one before, the first of 2 gaps"),
    ],
)
def test_a_gap_is_named_where_it_is_played(tmp_path, caplog, start_s, end_s, gap):
    times = [0.0, 0.1, 0.2, 60.0, 60.1, 60.2, 900.0, 900.1, 900.2]
    path = with_times(npz_pack(tmp_path / "a.npz", ROOM_MM), times)
    messages = warnings_of(SlicedSource(open_source(path), start_s, end_s, frame_step=2), caplog)
    assert [message.partition("a gap in the times, ")[2][: len(gap)] for message in messages] == [gap] * bool(gap)


@pytest.mark.parametrize(
    ("unit_m", "lens", "words"),
    [
        (0.001, LENS, ()),
        (1.0, LENS, ("1,000 times too large",)),
        (1e-6, LENS, ("1,000 times too small",)),
        (0.001, LONG_LENS, ("people would be tiny",)),
    ],
)
def test_a_sender_is_warned_of_once(caplog, unit_m, lens, words):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    header = {"width": SHAPE[1], "height": SHAPE[0], "fx": lens.fx, "fy": lens.fy, "cx": lens.cx, "cy": lens.cy}
    stream = json.dumps({**header, "depth_unit_m": unit_m}).encode() + b"\n"
    for i in range(COUNT):
        stream += time_ns_of(i).to_bytes(8, "little") + ROOM_MM.astype("<u2").tobytes()

    def send() -> None:
        for _ in range(100):
            try:
                with socket.create_connection(("127.0.0.1", port), 5) as connection:
                    connection.sendall(stream)
                return
            except ConnectionRefusedError:
                threading.Event().wait(0.05)

    sender = threading.Thread(target=send)
    sender.start()
    name = f"camera:socket:{port}"
    frames = 0
    with caplog.at_level(logging.WARNING), open_source(name, every_frame=True) as source:
        for _ in source:
            frames += 1
            if frames == COUNT:
                break
    sender.join()
    messages = [record.getMessage() for record in caplog.records if "implausible" in record.getMessage()]
    if words:
        only(messages, name, *words)
    else:
        assert messages == []


@pytest.mark.parametrize(("fx", "plausible"), [(57.0, True), (4.5, True), (4.0, False), (180.0, True), (190.0, False)])
def test_the_field_of_view_is_between_10_and_150_degrees(fx, plausible):
    assert (lens_problem(Intrinsics(fx, 30.0, 15.5, 11.5), SHAPE) == "") == plausible
    assert (lens_problem(Intrinsics(30.0, fx, 11.5, 15.5), SHAPE[::-1]) == "") == plausible


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("centre", [(0.0, 0.0), (0.5, 0.5), (31.5, 23.5), (15.5, 23.5)])
def test_an_optical_axis_far_from_the_middle_is_named_once(tmp_path, caplog, name, centre):
    path = FILES[name](tmp_path / name, ROOM_MM, lens=Intrinsics(28.0, 28.5, *centre))
    which = f"cy {centre[1]:g} is far from the middle of 24 rows"
    if centre[0] != 15.5:
        which = f"cx {centre[0]:g} is far from the middle of 32 columns"
    only(warnings_of(open_source(path), caplog), path, which, "in pixels of this image size?")


def test_a_camera_may_begin_with_noise(caplog):
    check = PlausibilityCheck("camera")
    far = np.full(SHAPE, 60000, np.uint16)
    with caplog.at_level(logging.WARNING):
        for depth in [np.zeros(SHAPE, np.uint16), *[far] * (JUDGED_FRAMES - 1), ROOM_MM, *[far] * JUDGED_FRAMES]:
            check.inspect(depth, LENS)
    assert caplog.records == []


@pytest.mark.parametrize("empty", [0, 65535, np.nan, np.inf])
def test_frames_without_readings_decide_nothing(caplog, empty):
    check = PlausibilityCheck("camera", 1)
    dtype = np.uint16 if empty in (0, 65535) else np.float32
    speck = np.full(SHAPE, empty, dtype)
    speck[0, :5] = 60000
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            check.inspect(speck, LENS)
        check.inspect(ROOM_MM * np.float32(1), LENS)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["camera"]
