"""Figures of likeness on pictures whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.likeness import hole_share, likeness, plane_residuals, raggedness


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


def test_frames_that_show_nobody_do_not_count():
    lens = Intrinsics(285.6, 285.6, 100, 100)
    frames = [DepthFrame(disc(), lens), DepthFrame(np.zeros((200, 200), np.float32), lens)]
    assert likeness(frames)["frames"] == 1
