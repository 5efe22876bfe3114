"""Training pixels of labelled frames: roughly even over the classes, each piece of a picture cropped and bordered.

The pixels of a frame depend on (seed, frame) alone, whoever reads the frames and in what order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.learn.depth.depth_features import bordered_depth
from posepipe.learn.depth.responses import PixelSamples

Segmentation = Callable[[LabelledFrame], np.ndarray]
"""Tells apart what a forest will look at one by one: a frame to uint8 (H, W), 1 and up, 0 = nothing."""

NOBODY_SHARE = 0.25
"""Of the pixels of a piece, so many at most are drawn from class 0, not a person: one class of many."""


def true_people(frame: LabelledFrame) -> np.ndarray:
    """The `Segmentation` that knows the truth: each person, with what he carries, is a piece."""
    return frame.people


def draw_pixels(parts: np.ndarray, mask: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw pixels with probability ~ 1 / sqrt(pixels of the class).

    A pixel from a small part is likelier than one from a large part, yet large parts keep more
    pixels in all: between the data's own shares and even shares.

    Parameters
    ----------
    parts : uint8 (H, W), 0 = not a person
    mask : bool (H, W), where to draw
    count : int, at most so many are drawn, without repeats, NOBODY_SHARE of them at most from class 0

    Returns
    -------
    int32 (n, 2), row and column, in image order
    """
    nobody = _draw_evenly(parts, mask & (parts == 0), int(count * NOBODY_SHARE), rng)
    people = _draw_evenly(parts, mask & (parts > 0), count - len(nobody), rng)
    pixels = np.concatenate([nobody, people])
    return pixels[np.lexsort((pixels[:, 1], pixels[:, 0]))]


def _draw_evenly(parts: np.ndarray, mask: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    pixels = np.argwhere(mask).astype(np.int32)
    if len(pixels) <= count:
        return pixels
    label = parts[pixels[:, 0], pixels[:, 1]]
    weight = 1 / np.sqrt(np.bincount(label))[label]
    # Gumbel-top-k: the `count` largest keys are a weighted draw without replacement
    key = np.log(weight) + rng.gumbel(size=len(pixels))
    return pixels[np.argpartition(key, -count)[-count:]]


def sample_pixels(
    frames: Iterable[tuple[int, LabelledFrame]],
    pixels_per_person: int,
    seed: tuple[int, ...],
    segmentation: Segmentation = true_people,
) -> PixelSamples:
    """Collect training pixels.

    Parameters
    ----------
    frames : pairs of (position in the dataset, frame)
    pixels_per_person : int, and of any other piece
    seed : with the position of the frame, the only randomness
    segmentation : what probes read as one piece; the rest is background to it

    Raises
    ------
    ValueError
        When no frame shows a person.
    """
    images, shapes, frame_of, pixel, scale, label = [], [], [], [], [], []
    for index, frame in frames:
        rng = np.random.default_rng([*seed, index])
        pieces = segmentation(frame)
        for piece in range(1, int(pieces.max(initial=0)) + 1):
            mask = (pieces == piece) & (frame.depth.depth_m > 0)
            chosen = draw_pixels(frame.parts, mask, pixels_per_person, rng)
            if len(chosen) == 0:
                continue
            rows, cols = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
            box = np.s_[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
            image = bordered_depth(frame.depth.depth_m[box], mask[box])
            in_image = chosen - [rows[0] - 1, cols[0] - 1]
            depth_m = image[in_image[:, 0], in_image[:, 1]].astype(np.float32) * np.float32(0.001)
            focal = np.array([frame.depth.intrinsics.fy, frame.depth.intrinsics.fx], np.float32)
            images.append(image.ravel())
            shapes.append(image.shape)
            frame_of.append(index)
            pixel.append(in_image.astype(np.int16))
            scale.append(focal / depth_m[:, None])
            label.append(frame.parts[chosen[:, 0], chosen[:, 1]])
    if not any(labels.any() for labels in label):
        raise ValueError("the training frames show nobody: every label is 0; check the dataset's labels")
    sizes = np.array([len(i) for i in images], np.int64)
    counts = [len(p) for p in pixel]
    return PixelSamples(
        images=np.concatenate(images),
        start=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        shape=np.array(shapes, np.int32),
        image=np.repeat(np.arange(len(images), dtype=np.int32), counts),
        pixel=np.concatenate(pixel),
        scale=np.concatenate(scale).astype(np.float32),
        label=np.concatenate(label),
        frame=np.array(frame_of, np.int32),
    )
