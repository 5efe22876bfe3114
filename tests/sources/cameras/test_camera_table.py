"""``camera:NAME[:ARGUMENT]``: names, and packages that are not there."""

from __future__ import annotations

import pytest

from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import CAMERAS
from posepipe.sources.cameras.depth_camera import import_sdk


@pytest.mark.parametrize("name", ["camera:", "camera:nothing", "camera::1", "camera:RealSense"])
def test_an_unknown_camera_is_told_which_there_are(name):
    with pytest.raises(SourceError, match=rf"^{name}: there is no camera '.*'; known are realsense, .*socket$"):
        open_source(name)


def test_a_camera_has_no_topics():
    with pytest.raises(SourceError, match="a camera has one depth stream and no topics"):
        open_source("camera:realsense", topic="/depth")


@pytest.mark.parametrize("name", CAMERAS)
def test_every_camera_says_in_one_line_why_it_cannot_be_opened(name, monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.SENDER_WAIT_S", 0.1)
    argument = {"socket": ":0", "pipe": ":nothing-there"}.get(name, ":not-a-serial")
    with pytest.raises(SourceError) as problem:
        open_source(f"camera:{name}{argument}")
    assert str(problem.value).startswith(f"camera:{name}{argument}: ")
    assert "\n" not in str(problem.value)


def test_a_missing_package_is_told_with_how_to_install_it():
    with pytest.raises(SourceError, match=r"needs the Python package no_such_sdk: pip install it \(No module"):
        import_sdk("camera:x", "no_such_sdk", "pip install it")
