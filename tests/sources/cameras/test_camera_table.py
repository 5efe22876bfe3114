"""``camera:NAME[:ARGUMENT]``: names, devices, and packages that are missing."""

from __future__ import annotations

import sys

import pytest

from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import CAMERAS, realsense
from posepipe.sources.cameras.depth_camera import choose_device, import_sdk


@pytest.mark.parametrize("name", ["camera:", "camera:nothing", "camera::1", "camera:RealSense"])
def test_an_unknown_camera_is_an_error_that_lists_the_known(name):
    with pytest.raises(SourceError, match=rf"^{name}: there is no camera '.*'; known are realsense, .*socket$"):
        open_source(name)


def test_a_camera_has_no_topics():
    with pytest.raises(SourceError, match="a camera has one depth stream and no topics"):
        open_source("camera:realsense", topic="/depth")


@pytest.mark.parametrize("name", CAMERAS)
def test_every_camera_that_cannot_be_opened_is_one_line(name, monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.SENDER_WAIT_S", 0.1)
    monkeypatch.setattr("posepipe.sources.cameras.ros2.PUBLISHER_WAIT_S", 0.1)
    argument = {"socket": ":0", "pipe": ":nothing-there"}.get(name, ":not-a-serial")
    with pytest.raises(SourceError) as problem:
        open_source(f"camera:{name}{argument}")
    assert str(problem.value).startswith(f"camera:{name}{argument}: ")
    assert "\n" not in str(problem.value)


def test_a_missing_package_names_its_install_command():
    with pytest.raises(SourceError, match=r"needs the Python package no_such_sdk: pip install it \(No module"):
        import_sdk("camera:x", "no_such_sdk", "pip install it")


def test_a_platform_without_a_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyrealsense2", None)
    monkeypatch.setattr(realsense.platform, "machine", lambda: "armv7l")
    with pytest.raises(SourceError, match=r"its maker builds none for \w+ armv7l and Python 3"):
        open_source("camera:realsense")
    monkeypatch.setattr(realsense, "_WHEELS", {(sys.platform, "armv7l"): ()})
    with pytest.raises(SourceError, match=r"pip install 'posepipe\[realsense\]'"):
        open_source("camera:realsense")


def test_a_missing_system_library_names_the_package_to_install(tmp_path, monkeypatch):
    answer = "libusb-1.0.so.0: cannot open shared object file:\n No such file or directory"
    (tmp_path / "pyrealsense2.py").write_text(f"raise ImportError({answer!r})")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyrealsense2", raising=False)
    with pytest.raises(SourceError) as problem:
        open_source("camera:realsense")
    wanted = "camera:realsense: needs the system library libusb-1.0.so.0: apt install libusb-1.0-0 (libusb-1.0.so.0: "
    assert str(problem.value) == wanted + "cannot open shared object file: No such file or directory)"


@pytest.mark.parametrize(("argument", "index"), [("", 0), ("B", 1), ("1", 1), ("0", 0), ("7", 2)])
def test_a_camera_is_chosen_by_serial_number_or_index(argument, index):
    assert choose_device("camera:x", argument, ["A", "B", "7"], "X") == index


@pytest.mark.parametrize("argument", ["C", "3", "-1", "1.0"])
def test_a_missing_camera_is_an_error_that_lists_the_others(argument):
    with pytest.raises(SourceError, match=r"camera:x: no such camera; connected are A, B \(0 to 1\)"):
        choose_device("camera:x", argument, ["A", "B"], "X")
