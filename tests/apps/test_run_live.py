"""``posepipe run`` on a camera: dropped frames are counted, and Ctrl-C ends it with all results kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partialmethod

import pytest

from apps.cli import main
from posepipe.sinks import read_results
from posepipe.sources.cameras import LiveSource
from tests.support.commands import error_of, free_port
from tests.support.empty_rooms import save_room
from tests.support.recordings.depth_senders import connect, frame_bytes, header_line, stream_bytes

if os.name == "nt":
    pytest.skip("sends through a named pipe", allow_module_level=True)


def send_for_ever(path):
    try:
        with open(path, "wb", buffering=0) as stream:
            stream.write(header_line())
            for i in range(1_000_000):
                stream.write(frame_bytes(i))
                time.sleep(0.0005)
    except BrokenPipeError:
        pass


def test_ctrl_c_ends_a_camera_and_its_drops_are_counted(tmp_path):
    pipe, out = tmp_path / "depth.pipe", tmp_path / "results.jsonl"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "apps.cli", "run", f"camera:pipe:{pipe}", "--out", str(out)]
    runner = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sender = threading.Thread(target=send_for_ever, args=[pipe], daemon=True)
    sender.start()
    deadline = time.monotonic() + 60
    while not (out.exists() and out.read_text().count("\n") > 5):
        assert time.monotonic() < deadline
        assert runner.poll() is None
        time.sleep(0.02)
    runner.send_signal(signal.SIGINT)
    printed, errors = runner.communicate(timeout=30)
    sender.join()
    assert runner.returncode == 130
    assert "Traceback" not in errors
    frames = [frame.frame for frame in read_results(out).frames]
    assert frames == sorted(frames)
    dropped = int(printed.split("(")[1].split(" dropped)")[0])
    assert printed.startswith(f"{len(frames)} frames (")
    assert dropped >= frames[-1] + 1 - len(frames) > 0  # those after the last that was taken count, too


def test_a_sender_gone_for_good_leaves_all_results(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.RETURN_WAIT_S", 0.05)
    monkeypatch.setattr(LiveSource, "__init__", partialmethod(LiveSource.__init__, pauses_s=(0.0, 0.05)))
    port = free_port()

    def send():
        with connect(port) as sender:
            sender.sendall(stream_bytes(1))

    sending = threading.Thread(target=send)
    sending.start()
    line = error_of(capsys, "run", f"camera:socket:{port}", "--out", tmp_path / "results.jsonl")
    sending.join()
    assert line.endswith(f"camera:socket:{port}: no sender came back within 0.05 s")
    assert len(read_results(tmp_path / "results.jsonl").frames) == 1


@pytest.mark.parametrize("live", [True, False])
def test_kernels_are_loaded_before_a_camera_begins(tmp_path, monkeypatch, live):
    begun, start = [], LiveSource._start
    monkeypatch.setattr("posepipe.precompilation.load_kernels", lambda: begun.append("kernels"))
    monkeypatch.setattr(LiveSource, "_start", lambda self: (begun.append("camera"), start(self)))
    stream = tmp_path / "depth.bin"
    stream.write_bytes(header_line() + frame_bytes(0))
    source = f"camera:pipe:{stream}" if live else str(save_room(tmp_path / "room.npz"))
    assert main(["run", source, "--out", str(tmp_path / "results.jsonl")]) == 0
    assert begun[:2] == (["kernels", "camera"] if live else [])
