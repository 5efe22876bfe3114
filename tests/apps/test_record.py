"""Recordings that are killed, interrupted or run out of disk hold every whole frame; those that are not, everything."""

from __future__ import annotations

import logging
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from apps import record
from apps.cli import main
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.io.growing_file import GrowingFile
from posepipe.processes.interrupts import delayed_interrupt
from posepipe.recording import RecordingReader
from posepipe.sources import open_source
from tests.support.recordings.depth_senders import (
    INTRINSICS,
    START_NS,
    depth_mm_of,
    frame_bytes,
    header_line,
    stream_bytes,
    time_ns_of,
)

if os.name == "nt":
    pytest.skip("sends through named pipes", allow_module_level=True)

SHAPE = (96, 128)  # of a live sender: a frame is 25 kB, more than its chunk's head and index


def feed(path, shape=SHAPE):
    """Send frames into a pipe until its reader is gone, from a thread."""

    def send():
        try:
            with open(path, "wb", buffering=0) as stream:
                stream.write(header_line(width=shape[1], height=shape[0]))
                for i in range(100_000):
                    stream.write(frame_bytes(i, shape))
                    time.sleep(0.002)
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def start_recording(pipe, file, *options, **process):
    command = [sys.executable, "-m", "apps.cli", "record", f"camera:pipe:{pipe}", str(file), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **process)


def wait_for_size(file, size, process):
    deadline = time.monotonic() + 20
    while not (file.exists() and file.stat().st_size > size):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, "nothing is recorded"
        time.sleep(0.005)


def frames_are_those_that_were_sent(frames, shape=SHAPE):
    for i, frame in enumerate(frames):
        np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), depth_mm_of(i, shape))
        assert (frame.index, round(frame.timestamp_s * 1e9)) == (i, time_ns_of(i) - START_NS)
    return len(frames)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "depth.pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def stream(tmp_path):
    """A file of what a sender wrote: 20 frames."""
    path = tmp_path / "stream.bin"
    path.write_bytes(stream_bytes(20))
    return path


def test_a_recording_has_every_value_and_every_time(stream, tmp_path, capsys):
    file = tmp_path / "walk.mcap"
    assert main(["record", f"camera:pipe:{stream}", str(file)]) == 0
    with RecordingReader(file) as reader:
        assert (reader.complete, reader.intrinsics, reader.start_time_ns) == (True, INTRINSICS, START_NS)
        assert frames_are_those_that_were_sent(list(reader), (24, 32)) == 20
        assert reader.metadata == {"command": "posepipe record stream.bin walk.mcap"}
    megabytes = file.stat().st_size / 1e6
    assert capsys.readouterr().out == f"20 frames in 0.6 s, 0 dropped, {megabytes:.1f} MB -> {file}\n"


def test_depth_finer_than_a_millimetre_stays_so(tmp_path):
    (tmp_path / "fine.bin").write_bytes(header_line(depth_unit_m=0.00025) + frame_bytes(0))
    assert main(["record", f"camera:pipe:{tmp_path / 'fine.bin'}", str(tmp_path / "fine.mcap")]) == 0
    with open_source(tmp_path / "fine.mcap") as source:
        wanted = depth_mm_of(0).astype(np.float32) * np.float32(0.00025)
        np.testing.assert_array_equal(next(iter(source)).depth_m, wanted)


def test_files_are_recorded_as_well_and_come_out_the_same(stream, tmp_path):
    first, second = tmp_path / "first.mcap", tmp_path / "second.mcap"
    assert main(["record", f"camera:pipe:{stream}", str(first)]) == 0
    assert main(["record", str(first), str(second), "--frame-step", "2", "--rotate", "90"]) == 0
    with open_source(first) as a, open_source(second) as b:
        assert (a.start_time_ns, a.shape, b.shape) == (b.start_time_ns, (24, 32), (32, 24))
        for one, other in zip(islice(iter(a), 0, None, 2), b, strict=True):
            np.testing.assert_array_equal(np.rot90(one.depth_m, -1), other.depth_m)
            assert one.timestamp_s == other.timestamp_s


@pytest.mark.parametrize(("options", "frames"), [(["--frames", "7"], 7), (["--seconds", "0.1"], 4), ([], 20)])
def test_a_recording_ends_when_it_was_asked_to(stream, tmp_path, options, frames):
    file = tmp_path / "short.mcap"
    assert main(["record", f"camera:pipe:{stream}", str(file), *options]) == 0
    with RecordingReader(file) as reader:
        assert len(reader) == frames


def test_an_older_recording_is_replaced_only_when_asked(stream, tmp_path, capsys):
    file = tmp_path / "old.mcap"
    file.write_bytes(b"older")
    assert main(["record", f"camera:pipe:{stream}", str(file)]) == 1
    assert "old.mcap exists; give another name, or --overwrite" in capsys.readouterr().err
    assert file.read_bytes() == b"older"
    assert main(["record", f"camera:pipe:{tmp_path / 'nothing'}", str(file), "--overwrite"]) == 1
    assert file.read_bytes() == b"older"  # a camera that does not answer replaces nothing
    assert main(["record", f"camera:pipe:{stream}", str(file), "--overwrite"]) == 0
    with RecordingReader(file) as reader:
        assert len(reader) == 20


def test_a_recording_never_replaces_what_it_is_made_from(stream, tmp_path, capsys):
    file = tmp_path / "a.mcap"
    assert main(["record", f"camera:pipe:{stream}", str(file)]) == 0
    before = file.read_bytes()
    assert main(["record", str(file), str(file), "--overwrite"]) == 1
    assert "would replace a file of the source" in capsys.readouterr().err
    assert main(["record", str(tmp_path), str(tmp_path / "b.mcap")]) == 1
    assert file.read_bytes() == before
    assert main(["record", f"camera:pipe:{file}", str(file), "--overwrite"]) == 1
    assert "would replace a file of the source" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_another_suffix_is_wrong_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["record", "camera:realsense", "walk.bag"])
    assert stop.value.code == 2
    assert "wanted a name that ends in .mcap" in capsys.readouterr().err


def test_a_sender_that_ends_within_a_frame_keeps_the_whole_ones(tmp_path, capsys):
    (tmp_path / "cut.bin").write_bytes(stream_bytes(5)[:-9])
    assert main(["record", f"camera:pipe:{tmp_path / 'cut.bin'}", str(tmp_path / "cut.mcap")]) == 1
    captured = capsys.readouterr()
    assert "4 frames in 0.1 s" in captured.out
    assert "error: camera:pipe:" in captured.err
    with RecordingReader(tmp_path / "cut.mcap") as reader:
        assert (reader.complete, len(reader)) == (True, 4)


def test_frames_that_the_camera_dropped_are_counted(tmp_path, capsys, monkeypatch):
    stream = tmp_path / "stream.bin"
    stream.write_bytes(stream_bytes(6))

    def lossy(*arguments):
        source = open_source(*arguments)
        counted = iter([0, 1, 4, 5, 6, 9])
        take = source._camera.read

        def read(timeout_s):
            frame = take(timeout_s)
            return frame and type(frame)(frame.depth, frame.time_ns, frame.since_epoch, next(counted))

        source._camera.read = read
        return source

    monkeypatch.setattr(record, "open_named", lambda args, every_frame: lossy(args.source, None, None, every_frame))
    assert main(["record", f"camera:pipe:{stream}", str(tmp_path / "lossy.mcap")]) == 0
    captured = capsys.readouterr()
    assert "6 frames in 0.2 s, 4 dropped" in captured.out
    assert "4 dropped" in captured.err  # on the progress line


def killed_recording(pipe, file, seconds):
    """Kill a recorder that many seconds after its first frames; the number of frames that were saved."""
    recorder = start_recording(pipe, file, "--overwrite")
    sender = feed(pipe)
    wait_for_size(file, 60_000, recorder)
    time.sleep(seconds)
    recorder.kill()
    recorder.communicate()
    sender.join()
    with RecordingReader(file) as reader:
        assert not reader.complete
        lost = int(re.search(r"read, (\d+) bytes", reader.missing)[1])
        count = frames_are_those_that_were_sent(list(reader))
    assert lost < file.stat().st_size / count * 1.5  # less than one frame and its index
    return count


def test_a_killed_recorder_loses_at_most_one_frame(pipe, tmp_path, caplog):
    file = tmp_path / "killed.mcap"
    counts = []
    for i in range(3):
        file.unlink(missing_ok=True)
        counts.append(killed_recording(pipe, file, random.Random(i).uniform(0, 0.1)))
    assert min(counts) >= 2
    with caplog.at_level(logging.WARNING), open_source(file) as source:
        assert sum(1 for _ in source) == counts[-1]
    assert f"was not closed: {counts[-1]} complete frames were read" in caplog.text


@pytest.mark.slow
def test_a_hundred_killed_recorders_lose_at_most_a_frame_each(pipe, tmp_path):
    file = tmp_path / "killed.mcap"
    for i in range(100):
        file.unlink(missing_ok=True)
        assert killed_recording(pipe, file, random.Random(1000 + i).uniform(0, 0.3)) >= 2


def test_ctrl_c_closes_the_recording_and_tells_what_was_kept(pipe, tmp_path):
    file = tmp_path / "stopped.mcap"
    recorder = start_recording(pipe, file)
    sender = feed(pipe)
    wait_for_size(file, 100_000, recorder)
    recorder.send_signal(signal.SIGINT)
    out, err = recorder.communicate(timeout=20)
    sender.join()
    assert recorder.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "posepipe: stopped; what was finished is kept"
    with RecordingReader(file) as reader:
        assert reader.complete
        count = frames_are_those_that_were_sent(list(reader))
    assert out.startswith(f"{count} frames in ")


def test_ctrl_c_ends_the_wait_for_a_sender_at_once(tmp_path):
    recorder = subprocess.Popen(
        [sys.executable, "-m", "apps.cli", "record", "camera:socket:0", str(tmp_path / "never.mcap")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert recorder.stderr is not None
    assert "waiting for a sender on 127.0.0.1:" in recorder.stderr.readline()
    recorder.send_signal(signal.SIGINT)
    _, err = recorder.communicate(timeout=20)
    assert recorder.returncode == 130
    assert "Traceback" not in err
    assert not (tmp_path / "never.mcap").exists()


def test_ctrl_c_waits_for_the_frame_that_is_being_written():
    done = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with delayed_interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append("written")
        done.append("after")
    except KeyboardInterrupt:
        done.append("stopped")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["written", "stopped"]


def test_a_full_disk_is_one_line_and_keeps_the_frames_before_it(pipe, tmp_path):
    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    file = tmp_path / "full.mcap"
    recorder = start_recording(pipe, file, preexec_fn=small_disk)
    sender = feed(pipe)
    out, err = recorder.communicate(timeout=30)
    sender.join()
    assert recorder.returncode == 1
    assert err.splitlines()[-1] == f"posepipe: error: {file}: File too large"
    assert "Traceback" not in err
    with RecordingReader(file) as reader:
        count = frames_are_those_that_were_sent(list(reader))
        assert " 0 bytes after" in reader.missing  # of the frame that found no room nothing is left
    assert out.startswith(f"{count} frames in ")
    assert count >= 5


@pytest.mark.parametrize("frames", [0, 8, 20])
def test_a_failed_write_leaves_no_part_of_a_frame(stream, tmp_path, monkeypatch, frames):
    """A failed write leaves a part of it behind, and what is written after it would make that unreadable."""
    file = tmp_path / "full.mcap"
    real, parts = GrowingFile._append, []

    def fail_at_the_end(growing, part):
        if len(parts) == frames:  # the part after the frames: another frame, or the index
            real(growing, part[:300])
            raise OSError(28, "No space left on device")
        parts.append(part)
        real(growing, part)

    monkeypatch.setattr(GrowingFile, "_append", fail_at_the_end)
    assert main(["record", f"camera:pipe:{stream}", str(file)]) == 1
    if frames == 0:
        assert not list(tmp_path.glob("full*"))
        return
    assert file.stat().st_size == sum(map(len, parts))
    with RecordingReader(file) as reader:
        assert frames_are_those_that_were_sent(list(reader), (24, 32)) == frames


def test_a_folder_that_does_not_exist_is_made(stream, tmp_path, capsys):
    file = Path(tmp_path) / "new" / "deep" / "walk.mcap"
    assert main(["record", f"camera:pipe:{stream}", str(file)]) == 0
    with RecordingReader(file) as reader:
        assert len(reader) == 20
    capsys.readouterr()
    assert main(["record", f"camera:pipe:{stream}", str(file / "walk.mcap")]) == 1
    captured = capsys.readouterr()
    assert "walk.mcap: " in captured.err.splitlines()[-1]
    assert "nothing was recorded" in captured.out


def test_frames_that_are_all_damaged_are_an_error(tmp_path, capsys):
    write_camera_file(tmp_path / "camera.json", CameraFile(*SHAPE[::-1], INTRINSICS, 0.001, 30.0))
    (tmp_path / "0.png").touch()
    assert main(["record", str(tmp_path), str(tmp_path.with_suffix(".mcap"))]) == 1
    assert "no frame came" in capsys.readouterr().err
    assert not tmp_path.with_suffix(".mcap").exists()
