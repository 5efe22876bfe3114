"""C3D files about as long as their 16 bits count: ezc3d reads as many frames as were written."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.sinks.motion.c3d import c3d_bytes
from posepipe.sinks.motion.person_motion import PersonMotion

DOT = BodyDefinition("dot", ("all",), ("tip",), {}, {"tip": None})


def motion(joints_m, frame_s):
    return PersonMotion(
        person=1,
        file_name="a.c3d",
        body=DOT,
        axes="camera",
        frame_s=frame_s,
        first_frame=0,
        first_s=0.0,
        joints_m=joints_m,
        absent=np.zeros(joints_m.shape[:2], bool),
        lengths_m=np.zeros((1, 1)),
        turns=None,
        left_out=0,
    )


@pytest.mark.parametrize("frames", [65_534, 65_535, 65_536])
def test_ezc3d_reads_all_frames_of_a_long_file(tmp_path, frames):
    ezc3d = pytest.importorskip("ezc3d")
    x_m = np.arange(frames) / 1000
    joints_m = np.stack([x_m, np.zeros(frames), np.ones(frames)], axis=1)[:, None]
    (tmp_path / "a.c3d").write_bytes(c3d_bytes(motion(joints_m, 0.1)))
    points_mm = ezc3d.c3d(str(tmp_path / "a.c3d"))["data"]["points"]
    np.testing.assert_allclose(points_mm[0, 0], np.arange(frames), rtol=1e-6)


def test_times_that_hardly_differ_are_refused():
    with pytest.raises(ValueError, match="frames 1e-300 s apart; are the timestamps right"):
        c3d_bytes(motion(np.ones((2, 1, 3)), 1e-300))
