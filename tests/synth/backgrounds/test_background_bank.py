"""Backgrounds are read from any source of frames, each with its own camera."""

import numpy as np
import pytest

from posepipe.errors import PosepipeError
from synth.backgrounds import background_bank
from synth.backgrounds.background_bank import BackgroundBank, read_backgrounds
from tests.support.empty_rooms import save_room
from tests.support.rendered_people import recipe_of, render_people


def test_every_frame_keeps_its_own_camera(tmp_path):
    bank = read_backgrounds([save_room(tmp_path / "a.npz", focals=(200.0, 250.0))])
    assert [frame.intrinsics.fx for frame in bank.sources[0]] == [200.0, 250.0]


def test_the_digest_knows_depth_and_camera(tmp_path):
    one, same, other, farther = (
        read_backgrounds([save_room(tmp_path / f"{k}.npz", **room)]).digest()
        for k, room in enumerate([{}, {}, {"focals": (201.0,)}, {"wall_m": 4.1}])
    )
    assert one == same
    assert len({one, other, farther}) == 3


def test_sources_are_drawn_evenly(tmp_path):
    long = save_room(tmp_path / "long.npz", focals=(200.0,) * 20)
    bank = read_backgrounds([long, save_room(tmp_path / "short.npz", focals=(300.0,))])
    rng = np.random.default_rng(0)
    drawn = [bank.draw(rng).intrinsics.fx for _ in range(200)]
    assert 70 < drawn.count(300.0) < 130


def test_frames_without_readings_are_refused(tmp_path):
    path = tmp_path / "dark.npz"
    np.savez(path, depth_mm=np.zeros((2, 24, 32), np.uint16), K=np.array([30.0, 30.0, 16.0, 12.0]))
    with pytest.raises(PosepipeError, match=r"readings in at least 10% .* got none in .*dark.npz"):
        read_backgrounds([path])


def test_datasets_with_people_are_refused(tmp_path):
    render_people(tmp_path / "people", recipe_of(frames=1))
    with pytest.raises(PosepipeError, match=r"wanted frames without people, frame 0 of .*people shows some"):
        read_backgrounds([tmp_path / "people"])
    render_people(tmp_path / "empty", recipe_of(frames=1, room_share=1.0, empty_room_share=1.0))
    assert read_backgrounds([tmp_path / "empty"]).sources


def test_large_images_fill_a_bank_with_fewer_frames(tmp_path, monkeypatch):
    path = save_room(tmp_path / "a.npz", focals=(200.0, 210.0, 220.0, 230.0, 240.0))
    monkeypatch.setattr(background_bank, "MAX_BANK_BYTES", 3 * 2 * 240 * 320 + 9)
    bank = read_backgrounds([path])
    assert [frame.intrinsics.fx for frame in bank.sources[0]] == [200.0, 220.0, 240.0]
    assert len(read_backgrounds([path, path, path, path]).sources[0]) == 1


def test_a_bank_needs_frames():
    with pytest.raises(ValueError, match="at least one frame"):
        BackgroundBank(())
