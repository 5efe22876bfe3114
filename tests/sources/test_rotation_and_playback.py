"""Sources rotated, mirrored, sliced and paced: points in space and indices of frames stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.formats.npz_pack import NpzPack, write_npz_pack
from posepipe.sources.playback import PacedSource, SlicedSource
from posepipe.sources.rotation import ANGLES, RotatedSource

INTRINSICS = Intrinsics(20.0, 22.0, 6.0, 5.0)
SHAPE = (12, 16)
#: coordinates of the point (x, y, z) for a rotated camera, by the clockwise rotation that makes its image upright
TURNS = {0: [1, 2, 3], 90: [-2, 1, 3], 180: [-1, -2, 3], 270: [2, -1, 3]}


@pytest.fixture
def pack(tmp_path):
    rng = np.random.default_rng(0)
    frames = [DepthFrame(rng.integers(500, 4000, SHAPE, dtype=np.uint16), INTRINSICS, i / 10, i) for i in range(20)]
    write_npz_pack(tmp_path / "pack.npz", frames)
    return NpzPack(tmp_path / "pack.npz")


@pytest.mark.parametrize("angle", TURNS)
def test_up_rotates_with_the_image(pack, angle):
    up = np.array([0.1, -0.9, 0.2]) / np.linalg.norm([0.1, -0.9, 0.2])
    axes = np.array(TURNS[angle])
    frame = RotatedSource(pack, rotate=angle).transform(replace(pack[3], up=up))
    np.testing.assert_allclose(frame.up, np.sign(axes) * up[np.abs(axes) - 1])


@pytest.mark.parametrize("needed", ANGLES)
@pytest.mark.parametrize("given", ANGLES)
def test_an_accelerometer_tells_the_rotation_once(pack, caplog, needed, given):
    upright = replace(pack[3], up=(0.1, -0.9, 0.4))
    turned = RotatedSource(pack, rotate=(360 - needed) % 360).transform(upright)
    caplog.clear()
    source = RotatedSource(pack, rotate=given)
    for _ in range(2):
        source.transform(turned)
    messages = [record.getMessage() for record in caplog.records]
    if given == needed:
        assert messages == []
    else:
        (message,) = messages
        assert message.startswith(f"{pack.name}: by its accelerometer the image is not upright")
        assert message.endswith(f"give --rotate {needed}")


def test_of_a_steep_view_no_rotation_is_told(pack, caplog):
    source = RotatedSource(pack)
    source.transform(pack[3])
    source.transform(replace(pack[3], up=(0.3, 0.6, -0.75)))
    assert not caplog.records


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("angle", TURNS)
def test_points_in_space_rotate_with_the_image(pack, angle, mirror):
    turned = RotatedSource(pack, mirror, angle)
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


def test_four_rotations_and_two_mirrors_are_the_identity(pack):
    there_and_back = RotatedSource(RotatedSource(pack, True, 90), False, 270)
    frame = RotatedSource(there_and_back, True, 0)[0]
    np.testing.assert_array_equal(frame.depth_m, pack[0].depth_m)
    assert frame.intrinsics == INTRINSICS


def test_a_rotation_other_than_quarters_is_refused(pack):
    with pytest.raises(ValueError, match="rotate: wanted 0, 90, 180, 270"):
        RotatedSource(pack, rotate=45)


def test_a_slice_keeps_indices_and_times(pack):
    part = SlicedSource(pack, 0.5, 1.2, 3)
    assert [frame.index for frame in part] == [5, 8, 11]
    assert part.frame_count == 3
    assert part[1].index == 8
    np.testing.assert_allclose(part.timestamps_s, [0.5, 0.8, 1.1])
    assert [frame.timestamp_s for frame in part] == pytest.approx([0.5, 0.8, 1.1])


class _Camera(NpzPack):
    """A source with an unknown number of frames."""

    frame_count = None

    def __getitem__(self, index):
        raise TypeError("a camera has no frames to choose from")

    def __iter__(self):
        return map(self.read_frame, range(20))


def test_a_slice_of_a_camera_is_selected_as_it_comes(pack):
    camera = _Camera(pack.path)
    assert [frame.index for frame in SlicedSource(camera, 0.5, 1.2, 3)] == [5, 8, 11]
    assert [frame.index for frame in SlicedSource(camera)] == list(range(20))
    assert SlicedSource(camera, 1.0).frame_count is None


@pytest.mark.parametrize(
    ("kwargs", "message"), [({"frame_step": 0}, "frame step"), ({"start_s": 2, "end_s": 1}, "before the start")]
)
def test_an_invalid_slice_is_refused(pack, kwargs, message):
    with pytest.raises(ValueError, match=message):
        SlicedSource(pack, **kwargs)


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


def paced(folder, times_s, source_of=NpzPack):
    """Moments at which a paced source of frames of these times gives them, seconds."""
    frames = [DepthFrame(np.full(SHAPE, 2000, np.uint16), INTRINSICS, time_s) for time_s in times_s]
    write_npz_pack(folder / "pack.npz", frames)
    now, given = [0.0], []
    for _ in PacedSource(source_of(folder / "pack.npz"), lambda: now[0], lambda s: now.__setitem__(0, now[0] + s)):
        given.append(now[0])
    return given


def test_times_that_start_anew_are_paced_again(tmp_path):
    assert paced(tmp_path, (0, 0.5, 1, 0, 0.5, 1)) == [0, 0.5, 1, 1, 1.5, 2]


@pytest.mark.parametrize(
    ("times_s", "given_s"),
    [
        ((0, 0.5, 3600.5, 3601, 3601.5, 3604.5), [0, 0.5, 5.5, 6, 6.5, 9.5]),  # ten steps are 5 seconds
        ((0, 0.1, 0.2, 3600, 3600.1, 3600.2), [0, 0.1, 0.2, 2.2, 2.3, 2.4]),
        ((0, 60, 120, 180), [0, 60, 120, 180]),  # of one picture a minute
    ],
)
def test_a_gap_in_the_times_is_shortened(tmp_path, times_s, given_s):
    assert paced(tmp_path, times_s) == pytest.approx(given_s)


def test_a_gap_of_unknown_frames_is_shortened(tmp_path):
    def live(path):
        camera = _Camera(path)
        camera.__class__ = type("_Few", (_Camera,), {"__iter__": lambda self: map(self.read_frame, range(3))})
        return camera

    assert paced(tmp_path, (0, 0.1, 50), live) == pytest.approx([0, 0.1, 2.1])


def test_wrapped_sources_say_that_they_have_no_slices(pack):
    for wrapped in (RotatedSource(pack), SlicedSource(pack), SlicedSource(pack, frame_step=2)):
        with pytest.raises(TypeError, match="has no slices; give it a slice of its source"):
            wrapped[2:5]
    assert [frame.index for frame in RotatedSource(pack[2:5], rotate=90)] == [2, 3, 4]
    assert [frame.index for frame in SlicedSource(pack[2:8], frame_step=2)] == [2, 4, 6]
