"""Training pixels of labelled frames: roughly even over the parts, the person cropped and bordered.

The pixels of a frame depend on (seed, frame) alone, whoever reads the frames and in what order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.learn.depth_features import bordered_depth
from posepipe.learn.responses import PixelSamples


def draw_pixels(parts: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw labelled pixels with probability ~ 1 / sqrt(pixels of the part).

    A pixel from a small part is likelier than one from a large part, yet large parts keep more
    pixels in all: between the data's own shares and even shares.

    Parameters
    ----------
    parts : uint8 (H, W), 0 = not a person
    count : int, at most so many are drawn, without repeats

    Returns
    -------
    int32 (n, 2), row and column, in image order
    """
    pixels = np.argwhere(parts).astype(np.int32)
    if len(pixels) <= count:
        return pixels
    label = parts[pixels[:, 0], pixels[:, 1]]
    weight = 1 / np.sqrt(np.bincount(label))[label]
    # Gumbel-top-k: the `count` largest keys are a weighted draw without replacement
    key = np.log(weight) + rng.gumbel(size=len(pixels))
    return pixels[np.sort(np.argpartition(key, -count)[-count:])]


def sample_pixels(
    frames: Iterable[tuple[int, LabelledFrame]], pixels_per_person: int, seed: tuple[int, ...]
) -> PixelSamples:
    """Collect training pixels.

    Parameters
    ----------
    frames : pairs of (position in the dataset, frame)
    pixels_per_person : int
    seed : with the position of the frame, the only randomness

    Raises
    ------
    ValueError
        When no frame shows a person.
    """
    images, shapes, frame_of, pixel, scale, label = [], [], [], [], [], []
    for index, frame in frames:
        rng = np.random.default_rng([*seed, index])
        for person in range(1, int(frame.people.max(initial=0)) + 1):
            mask = (frame.people == person) & (frame.depth.depth_m > 0)
            chosen = draw_pixels(np.where(mask, frame.parts, 0), pixels_per_person, rng)
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
    if not images:
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
