"""The window shows every result; without a desktop there is an error message."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from posepipe.errors import PosepipeError
from posepipe.sinks.images.window import check_display
from tests.support.paths import ROOT

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="displays have names on Linux alone")
SHOWS = """
import cv2, numpy as np
from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.images.window import TITLE, WindowSink

nothing = np.zeros((12, 16), np.uint8)
result = FrameResult(DepthFrame(np.full((12, 16), 2, np.float32), Intrinsics(15, 15, 8, 6)), nothing > 0, nothing, ())
window = WindowSink(HUMAN)
with window:
    for _ in range(3):
        window.write(result)
assert cv2.getWindowProperty(TITLE, cv2.WND_PROP_VISIBLE) == 1, "the window stays open"
print(cv2.getWindowImageRect(TITLE)[2:])

keys = iter([ord(" "), -1, -1, ord(" ")])
wait, cv2.waitKey = cv2.waitKey, lambda ms: next(keys)
window.write(result)
assert next(keys, None) is None, "space did not pause, or did not go on"
for press in (ord("q"), 27):
    cv2.waitKey = lambda ms: press
    for use in (window.hold, lambda: window.write(result)):
        try:
            use()
        except KeyboardInterrupt:
            print("quit")
cv2.waitKey = wait
window.close()
"""


@on_linux
def test_a_missing_desktop_is_an_error(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(PosepipeError, match="DISPLAY is not set; use --view page"):
        check_display()


@on_linux
def test_an_unreachable_desktop_is_an_error(monkeypatch):
    """OpenCV would end the whole program here."""
    monkeypatch.setenv("DISPLAY", ":987")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(PosepipeError, match="no window on this desktop"):
        check_display()


@pytest.fixture
def desktop():
    """A screen in memory; its name."""
    if shutil.which("Xvfb") is None:
        pytest.skip("needs Xvfb")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1700x600x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait()


@on_linux
def test_on_a_desktop_it_shows_pauses_and_quits(desktop):
    environment = {**os.environ, "DISPLAY": desktop, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        [sys.executable, "-c", SHOWS], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert shown.returncode == 0, shown.stderr
    size, *rest = shown.stdout.splitlines()
    assert size == "(1600, 320)"
    assert rest == ["quit"] * 4
