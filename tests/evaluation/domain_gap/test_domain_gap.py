"""Statistics of depth on images whose statistics are known."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.evaluation.domain_gap.__main__ import main
from posepipe.evaluation.domain_gap.depth_statistics import (
    WINDOW_PX,
    hole_share,
    measure_depth,
    plane_residuals,
    raggedness,
    residual_image,
)
from posepipe.evaluation.domain_gap.figure import draw_comparison
from posepipe.frames import DepthFrame

LENS = Intrinsics(285.6, 285.6, 100, 100)


def disc(radius_px=60.0, depth_m=2.0):
    rows, cols = np.mgrid[:200, :200]
    return np.where((rows - 100) ** 2 + (cols - 100) ** 2 < radius_px**2, depth_m, 0).astype(np.float32)


def test_a_hole_counts_and_a_bay_does_not():
    depth_m = disc()
    filled = (depth_m > 0).sum()
    depth_m[90:100, 90:110] = 0
    assert hole_share(depth_m) == pytest.approx(200 / filled)
    open_bay = disc()
    open_bay[:100, 95:105] = 0
    assert hole_share(open_bay) == 0


def test_a_frayed_silhouette_is_longer_than_a_smooth_one():
    rng = np.random.default_rng(0)
    smooth, frayed = disc(), disc()
    border = (disc(60) > 0) & (disc(56) == 0)
    frayed[border & (rng.random(border.shape) < 0.5)] = 0
    assert raggedness(smooth, 285.6) == pytest.approx(1, abs=0.03)
    assert raggedness(frayed, 285.6) > 1.3


def test_residuals_are_the_noise_whatever_the_slope():
    rows, cols = np.mgrid[:200, :200]
    clean = (2 + 0.002 * rows - 0.001 * cols).astype(np.float32)
    noise = np.random.default_rng(1).normal(0, 0.003, clean.shape)
    _, residual = plane_residuals(clean)
    assert residual.max() < 1e-5
    depth, residual = plane_residuals((clean + noise).astype(np.float32))
    assert np.sqrt((residual**2).mean()) == pytest.approx(0.003, rel=0.03)
    assert np.abs(depth - 2).max() < 0.45


def test_windows_across_an_edge_are_left_out():
    step = np.full((100, 100), 2.0, np.float32)
    step[:, 50:] = 2.5
    _, residual = plane_residuals(step)
    assert residual.max() < 1e-6


def test_frames_without_people_do_not_count():
    frames = [DepthFrame(disc(), LENS), DepthFrame(np.zeros((200, 200), np.float32), LENS)]
    assert measure_depth(frames).figures()["frames"] == 1


@pytest.mark.parametrize("depth_m", [1.0, 2.0, 3.0, 4.0])
def test_noise_quadratic_in_distance_is_found_at_every_distance(depth_m):
    """As a Kinect measures: in steps of z^2 / 343, two of which span more than 3 cm from 2.3 m on."""
    true = np.full((200, 200), 343 / depth_m) + np.random.default_rng(0).normal(0, 0.6, (200, 200))
    stepped_m = (343 / np.rint(true)).astype(np.float32)
    _, residual = plane_residuals(stepped_m)
    assert np.median(residual) == pytest.approx(0.6 * depth_m**2 / 343, rel=0.3)


def test_the_residual_image_shows_the_residuals_where_they_are():
    rng = np.random.default_rng(2)
    depth_m = np.where(disc() > 0, disc() + rng.normal(0, 0.004, (200, 200)), 0).astype(np.float32)
    image = residual_image(depth_m)
    middle = WINDOW_PX // 2
    at_windows = image[middle:-middle, middle:-middle][::2, ::2]
    _, residual = plane_residuals(depth_m)
    np.testing.assert_allclose(at_windows[~np.isnan(at_windows)], residual, rtol=1e-5)
    assert np.isnan(image[disc() == 0]).all()


@pytest.mark.parametrize("shape", [(1, 1), (4, 9), (5, 5), (240, 3)])
def test_images_smaller_than_a_window_have_no_residuals(shape):
    depth_m = np.full(shape, 2.0, np.float32)
    assert residual_image(depth_m).shape == shape
    assert len(plane_residuals(depth_m)[0]) == (shape == (5, 5))
    assert measure_depth([DepthFrame(depth_m, LENS)]).figures()["frames"] == 1


def noisy_source(path, sigma_m, frames=3):
    rng = np.random.default_rng(3)
    shown = np.stack([disc(50 + 3 * k, 2 + 0.3 * k) for k in range(frames)])
    noisy = np.where(shown > 0, shown + rng.normal(0, sigma_m, shown.shape), 0)
    np.savez(path, depth_mm=np.rint(noisy * 1000).astype(np.uint16), K=[285.6, 285.6, 100, 100])
    return str(path)


@pytest.fixture
def sources(tmp_path):
    return [noisy_source(tmp_path / "calm.npz", 0.002), noisy_source(tmp_path / "rough.npz", 0.006)]


def test_the_figure_shows_a_frame_of_each_and_curves_of_both(tmp_path, sources, capsys):
    main([*sources, "--figure", str(tmp_path / "both.png")])
    assert "residual 2-2.25 m, mm" in capsys.readouterr().out
    image = cv2.imread(str(tmp_path / "both.png"))
    left, right = np.hsplit(image[40:310], 2)
    for half in (left, right):
        assert (half < 10).all(axis=2).mean() > 0.2  # depth on black
    curves = image[340:].reshape(-1, 3).astype(int)
    for colour in ((160, 90, 30), (40, 110, 225)):
        assert (np.abs(curves - colour).max(axis=1) < 8).sum() > 300


def test_a_source_of_private_people_is_drawn_as_curves_alone(tmp_path, sources):
    main([*sources, "--figure", str(tmp_path / "one.png"), "--curves-only", sources[1]])
    image = cv2.imread(str(tmp_path / "one.png"))
    left, right = np.hsplit(image[40:310], 2)
    assert (left < 10).all(axis=2).mean() > 0.2
    assert (right < 50).all(axis=2).sum() == 0  # paper and ink: neither black nor a person
    curves = image[340:].reshape(-1, 3).astype(int)
    assert (np.abs(curves - (40, 110, 225)).max(axis=1) < 8).sum() > 300


def test_borders_single_pixels_and_noiseless_depth_are_drawn():
    cut, dot = disc(), np.zeros((200, 200), np.float32)
    cut[:, :100] = 0
    dot[0, 199] = 3.0
    for depth_m in (cut, dot):
        sources = {name: measure_depth([DepthFrame(depth_m, LENS)]) for name in ("first", "second")}
        assert draw_comparison(sources).shape[2] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--figure", "x.png", "a"], "wanted two sources"),
        (["--figure", "x.jpg", "a", "b"], "ends on .png"),
        (["a", "b", "--curves-only", "c"], "c is none of the sources"),
        (["a", "--frames", "0"], "wanted 1 or more"),
        (["no_such_source"], "no such file"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = f"{ended.value.code}\n{capsys.readouterr().err}"
    assert message in said
    assert "Traceback" not in said


def test_frames_without_readings_are_refused_by_name(tmp_path):
    np.savez(tmp_path / "empty.npz", depth_mm=np.zeros((4, 24, 32), np.uint16), K=[50, 50, 16, 12])
    with pytest.raises(SystemExit, match=r"empty\.npz: all of 4 frames are empty"):
        main([str(tmp_path / "empty.npz")])


def test_whole_scenes_are_refused_by_name(tmp_path, sources):
    room_mm = np.full((2, 20, 30), 2500, np.uint16)
    np.savez(tmp_path / "room.npz", depth_mm=room_mm, K=[30.0, 30.0, 15, 10])
    with pytest.raises(SystemExit, match=r"room.npz: readings cover 100% .*; wanted people who are cut out"):
        main([sources[0], str(tmp_path / "room.npz")])
