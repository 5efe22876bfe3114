"""A file that is written at the end of a run belongs to one run at a time."""

from __future__ import annotations

import sys

import pytest

from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.sinks.images.video import VideoSink
from posepipe.sinks.motion.motion_formats import MOTION_SUFFIXES, open_motion_sink
from tests.support.found_people import result, standing_m, track

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")


def sink_for(path):
    return VideoSink(path, HUMAN) if path.suffix == ".mp4" else open_motion_sink(path, HUMAN)


@pytest.mark.parametrize("suffix", [*MOTION_SUFFIXES, ".mp4"])
def test_a_second_run_is_refused_and_costs_the_first_nothing(tmp_path, suffix):
    path = tmp_path / "new" / f"a{suffix}"
    frames = [result(i, (track(1, standing_m()),)) for i in range(3)]
    with sink_for(path) as first:
        first.write(frames[0])
        with (
            pytest.raises(PosepipeError, match=rf"a{suffix}: another program is writing this file; give"),
            sink_for(path),
        ):
            pass
        for frame in frames[1:]:
            first.write(frame)
    content = path.read_bytes()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    with sink_for(path) as after:
        for frame in frames:
            after.write(frame)
    assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", [*MOTION_SUFFIXES, ".mp4"])
def test_a_run_without_people_or_frames_leaves_nothing(tmp_path, suffix):
    with sink_for(tmp_path / "new" / f"a{suffix}"):
        pass
    assert not list(tmp_path.iterdir())
