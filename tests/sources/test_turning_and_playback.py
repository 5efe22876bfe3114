"""Sources turned, mirrored, played in part and in real time: the same points in space, the same names of frames."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.formats.npz_pack import NpzPack, write_npz_pack
from posepipe.sources.playback import PacedSource, StretchOfSource
from posepipe.sources.turning import TurnedSource

LENS = Intrinsics(20.0, 22.0, 6.0, 5.0)
SHAPE = (12, 16)
#: what a turned camera calls the point (x, y, z), for the angle by which its picture is turned back clockwise
TURNS = {0: [1, 2, 3], 90: [-2, 1, 3], 180: [-1, -2, 3], 270: [2, -1, 3]}


@pytest.fixture
def pack(tmp_path):
    rng = np.random.default_rng(0)
    frames = [DepthFrame(rng.integers(500, 4000, SHAPE, dtype=np.uint16), LENS, i / 10, i) for i in range(20)]
    write_npz_pack(tmp_path / "pack.npz", frames)
    return NpzPack(tmp_path / "pack.npz")


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("angle", TURNS)
def test_points_in_space_turn_with_the_picture(pack, angle, mirror):
    turned = TurnedSource(pack, mirror, angle)
    frame = turned[3]
    assert frame.depth_m.shape == turned.shape == (SHAPE if angle % 180 == 0 else SHAPE[::-1])
    assert frame.intrinsics == turned.intrinsics
    wanted = pack[3].intrinsics.deproject(pack[3].depth_m).reshape(-1, 3) * ([-1, 1, 1] if mirror else [1, 1, 1])
    axes = np.array(TURNS[angle])
    wanted = np.sign(axes) * wanted[:, np.abs(axes) - 1]
    got = frame.intrinsics.deproject(frame.depth_m).reshape(-1, 3)
    for a in (wanted, got):
        a[:] = a[np.lexsort(np.round(a, 3).T)]
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_four_quarters_and_two_mirrors_are_nothing(pack):
    there_and_back = TurnedSource(TurnedSource(pack, True, 90), False, 270)
    frame = TurnedSource(there_and_back, True, 0)[0]
    np.testing.assert_array_equal(frame.depth_m, pack[0].depth_m)
    assert frame.intrinsics == LENS


def test_a_turn_that_is_no_quarter_is_refused(pack):
    with pytest.raises(ValueError, match="rotate: wanted 0, 90, 180, 270"):
        TurnedSource(pack, rotate=45)


def test_a_stretch_keeps_indices_and_times(pack):
    stretch = StretchOfSource(pack, 0.5, 1.2, 3)
    assert [frame.index for frame in stretch] == [5, 8, 11]
    assert stretch.frame_count == 3
    assert stretch[1].index == 8
    np.testing.assert_allclose(stretch.timestamps_s, [0.5, 0.8, 1.1])
    assert [frame.timestamp_s for frame in stretch] == pytest.approx([0.5, 0.8, 1.1])


class _Camera(NpzPack):
    """Says nothing of how many frames will come."""

    frame_count = None

    def __getitem__(self, index):
        raise TypeError("a camera has no frames to choose from")

    def __iter__(self):
        return (NpzPack.__getitem__(self, i) for i in range(20))


def test_a_stretch_of_a_camera_is_cut_as_it_comes(pack):
    camera = _Camera(pack.path)
    assert [frame.index for frame in StretchOfSource(camera, 0.5, 1.2, 3)] == [5, 8, 11]
    assert [frame.index for frame in StretchOfSource(camera)] == list(range(20))
    assert StretchOfSource(camera, 1.0).frame_count is None


@pytest.mark.parametrize(
    ("kwargs", "message"), [({"every": 0}, "every"), ({"start_s": 2, "end_s": 1}, "before the start")]
)
def test_a_stretch_that_makes_no_sense_is_refused(pack, kwargs, message):
    with pytest.raises(ValueError, match=message):
        StretchOfSource(pack, **kwargs)


def test_real_time_waits_for_each_frame_and_never_drops_one(pack):
    now = [100.0]
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    indices = []
    for frame in PacedSource(pack, clock=lambda: now[0], sleep=sleep):
        indices.append(frame.index)
        now[0] += 0.35 if frame.index == 4 else 0.02  # one step takes longer than three frames
    assert indices == list(range(20))
    assert slept[:4] == pytest.approx([0.08] * 4)
    assert now[0] == pytest.approx(100 + 1.9 + 0.02)
