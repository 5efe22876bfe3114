"""Training pixels: what is drawn depends on (seed, frame) alone, and small parts get more than their share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.splitting.pixel_sampling import draw_pixels, sample_pixels
from posepipe.learn.depth.splitting.responses import PixelSamples
from tests.support.toy_person import toy_frame, toy_frames


def of_frame(samples: PixelSamples, frame: int) -> dict[str, np.ndarray]:
    """What one frame, with one person, gave."""
    image = int(np.flatnonzero(samples.frame == frame)[0])
    own = samples.image == image
    start = samples.start[image]
    return {
        "pixel": samples.pixel[own],
        "label": samples.label[own],
        "scale": samples.scale[own],
        "image": samples.images[start : start + samples.shape[image].prod()],
    }


def test_the_pixels_of_a_frame_depend_on_seed_and_frame_alone():
    frames = list(enumerate(toy_frames(5)))
    all_in_order = sample_pixels(frames, 50, (1, 2))
    backwards, alone = sample_pixels(frames[::-1], 50, (1, 2)), sample_pixels(frames[3:4], 50, (1, 2))
    for other in (backwards, alone):
        for name, value in of_frame(other, 3).items():
            np.testing.assert_array_equal(value, of_frame(all_in_order, 3)[name], err_msg=name)


def test_another_seed_and_another_position_draw_other_pixels():
    frame = toy_frame(0)
    pixels = [
        of_frame(sample_pixels([(index, frame)], 50, seed), index)["pixel"]
        for index, seed in ((0, (1, 2)), (0, (1, 3)), (1, (1, 2)))
    ]
    assert not np.array_equal(pixels[0], pixels[1])
    assert not np.array_equal(pixels[0], pixels[2])


def test_pixels_are_drawn_by_the_inverse_root_of_part_size():
    # parts of 1600, 400 and 100 pixels: per pixel 1 : 2 : 4, so per part 4 : 2 : 1
    parts = np.zeros((70, 70), np.uint8)
    parts[:40, :40], parts[40:60, :20], parts[60:, 60:] = 1, 2, 3
    counts = np.zeros(4)
    for seed in range(400):
        pixels = draw_pixels(parts, parts > 0, 7, np.random.default_rng(seed))
        counts += np.bincount(parts[pixels[:, 0], pixels[:, 1]], minlength=4)
    np.testing.assert_allclose(counts / counts.sum(), [0, 4 / 7, 2 / 7, 1 / 7], atol=0.045)  # five standard deviations


def test_pixels_are_drawn_from_parts_without_repeats_in_order():
    parts = toy_frame(1).parts
    pixels = draw_pixels(parts, parts > 0, 80, np.random.default_rng(1))
    assert (pixels.shape, pixels.dtype) == ((80, 2), np.int32)
    flat = pixels[:, 0] * parts.shape[1] + pixels[:, 1]
    assert (np.diff(flat) > 0).all()
    assert (parts[pixels[:, 0], pixels[:, 1]] > 0).all()


@pytest.mark.parametrize("labelled", [0, 1, 5])
def test_fewer_pixels_than_wanted_are_all_drawn(labelled):
    parts = np.zeros((4, 4), np.uint8)
    parts.flat[:labelled] = 2
    pixels = draw_pixels(parts, parts > 0, 5, np.random.default_rng(2))
    assert pixels.tolist() == [[k // 4, k % 4] for k in range(labelled)]


def test_samples_show_their_own_depth_label_and_scale():
    frames = toy_frames(4)
    samples = sample_pixels(enumerate(frames), 60, (3,))
    fx, fy = frames[0].depth.intrinsics.fx, frames[0].depth.intrinsics.fy
    for n in range(len(samples.label)):
        image = samples.image[n]
        height, width = samples.shape[image]
        start = samples.start[image]
        bordered = samples.images[start : start + height * width].reshape(height, width)
        depth_mm = int(bordered[tuple(samples.pixel[n])])
        frame = frames[samples.frame[image]]
        rows, cols = np.nonzero(frame.people)
        row, col = samples.pixel[n] + [rows.min() - 1, cols.min() - 1]
        assert depth_mm == round(float(frame.depth.depth_m[row, col]) * 1000)
        assert samples.label[n] == frame.parts[row, col]
        np.testing.assert_allclose(samples.scale[n], [fy * 1000 / depth_mm, fx * 1000 / depth_mm], rtol=1e-6)
        assert (bordered[[0, -1]] == 10_000).all()
        assert (bordered[:, [0, -1]] == 10_000).all()


def two_people() -> LabelledFrame:
    """Two toy people side by side, the second 1 m further away."""
    left, right = toy_frame(1), toy_frame(2)
    return LabelledFrame(
        DepthFrame(
            np.hstack([left.depth.depth_m, np.where(right.depth.depth_m > 0, right.depth.depth_m + 1, 0)]),
            Intrinsics(60.0, 90.0, 63.5, 23.5),
        ),
        np.hstack([left.parts, right.parts]),
        np.hstack([left.people, 2 * right.people]),
        np.concatenate([left.joints_m, right.joints_m]),
        np.concatenate([left.visible, right.visible]),
    )


def test_every_person_is_cut_out_for_himself():
    samples = sample_pixels([(7, two_people())], 40, (4,))
    assert samples.frame.tolist() == [7, 7]
    assert np.bincount(samples.image).tolist() == [40, 40]
    first = samples.images[: samples.start[1]]
    second = samples.images[samples.start[1] :]
    assert first[first < 10_000].max() < 2700
    assert second[second < 10_000].min() > 2900
    np.testing.assert_allclose(samples.scale[:, 0] / samples.scale[:, 1], 1.5, rtol=1e-6)


def test_pixels_without_a_reading_are_never_drawn():
    frame = toy_frame(3)
    depth_m = frame.depth.depth_m.copy()
    depth_m[frame.parts == 2] = 0
    holed = replace(frame, depth=DepthFrame(depth_m, frame.depth.intrinsics))
    assert 2 not in sample_pixels([(0, holed)], 1000, (5,)).label


def test_frames_without_people_are_passed_over():
    frame = toy_frame(4)
    empty = replace(frame, parts=np.zeros_like(frame.parts), people=np.zeros_like(frame.people))
    samples = sample_pixels([(0, empty), (1, frame)], 10, (6,))
    assert samples.frame.tolist() == [1]


def test_frames_without_any_person_are_refused():
    frame = toy_frame(5)
    empty = replace(frame, parts=np.zeros_like(frame.parts), people=np.zeros_like(frame.people))
    with pytest.raises(ValueError, match="every label is 0"):
        sample_pixels([(0, empty), (1, empty)], 10, (7,))
    with pytest.raises(ValueError):
        sample_pixels([], 10, (7,))


def test_at_most_a_quarter_of_the_pixels_are_background():
    frame = two_people()
    whole = np.ones(frame.parts.shape, bool)
    pixels = draw_pixels(frame.parts, whole, 40, np.random.default_rng(8))
    labels = frame.parts[pixels[:, 0], pixels[:, 1]]
    assert (labels == 0).sum() == 10
    assert len(labels) == 40


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_quarter_of_few_pixels_is_none_of_background(count):
    parts = np.zeros((20, 20), np.uint8)
    parts[5:10, 5:10] = 1
    pixels = draw_pixels(parts, np.ones(parts.shape, bool), count, np.random.default_rng(3))
    assert len(pixels) == count
    assert parts[tuple(pixels.T)].all()


def test_furniture_gives_samples_of_class_0():
    frame = two_people()
    chair = np.zeros_like(frame.people)
    rows, cols = np.nonzero((frame.people == 0) & (frame.depth.depth_m == 0))
    depth_m = frame.depth.depth_m.copy()
    depth_m[rows[:200], cols[:200]] = 2.5
    chair[rows[:200], cols[:200]] = 3
    furnished = replace(frame, depth=replace(frame.depth, depth_m=depth_m))
    samples = sample_pixels([(0, furnished)], 40, (9,), lambda f: np.maximum(f.people, chair))
    assert (samples.label[samples.image == 2] == 0).all()
    assert (samples.image == 2).sum() == 10
