"""Recordings as sources: a cut one plays its complete frames, with one warning."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingWriter
from posepipe.sources.formats.recording_file import RecordingSource

CAMERA = Intrinsics(20.0, 20.0, 7.5, 5.5)


@pytest.fixture
def cut(tmp_path):
    """A recording of four frames and half of a fifth."""
    path = tmp_path / "a.mcap"
    writer = RecordingWriter(path, CAMERA, 12, 16)
    rng = np.random.default_rng(0)
    sizes = []
    for i in range(5):
        writer.write(DepthFrame(rng.integers(500, 4000, (12, 16), dtype=np.uint16), CAMERA, i / 30, i))
        sizes.append(path.stat().st_size)
    writer.close()
    path.write_bytes(path.read_bytes()[: (sizes[3] + sizes[4]) // 2 - 100])
    return path


def test_a_cut_recording_plays_and_warns_once(cut, caplog):
    with caplog.at_level(logging.WARNING), RecordingSource(cut) as source:
        assert source.frame_count == 4
        assert len(list(source)) == 4
        assert len(list(source)) == 4
    (record,) = caplog.records
    assert "4 complete frames" in record.getMessage()
    assert str(cut) in record.getMessage()


def test_a_complete_recording_logs_no_warning(tmp_path, caplog):
    with RecordingWriter(tmp_path / "a.mcap", CAMERA, 12, 16) as writer:
        writer.write(DepthFrame(np.ones((12, 16), np.float32), CAMERA))
    with RecordingSource(tmp_path / "a.mcap") as source:
        assert len(list(source)) == 1
    assert not caplog.records


@pytest.mark.parametrize(("start_ns", "first_ns"), [(0, 0), (1_700_000_000_000_000_000, 1_700_000_001_500_000_000)])
def test_times_count_from_the_first_frame(tmp_path, start_ns, first_ns):
    with RecordingWriter(tmp_path / "a.mcap", CAMERA, 12, 16, start_time_ns=start_ns) as writer:
        for i in (45, 46, 47):  # of a source that was played from 1.5 s
            writer.write(DepthFrame(np.ones((12, 16), np.float32), CAMERA, i / 30, i))
    with RecordingSource(tmp_path / "a.mcap") as source:
        assert source.start_time_ns == first_ns
        assert [frame.timestamp_s for frame in source] == pytest.approx([0, 1 / 30, 2 / 30])
