"""Sampling of training pixels from labelled frames, roughly even over the classes; each segment is cropped.

The pixels of a frame depend only on (seed, frame), not on the order in which frames are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.io.growing_array import GrowingArray
from posepipe.io.scratch_array import ScratchArray
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.depth.splitting.responses import PixelSamples

Segmentation = Callable[[LabelledFrame], np.ndarray]
"""Maps a frame to the segments that a forest classifies separately: uint8 (H, W), 1 and up, 0 = none."""

MAX_BACKGROUND_SHARE = 0.25
"""Maximum share of a segment's pixels that are drawn from class 0, not a person."""


def true_people(frame: LabelledFrame) -> np.ndarray:
    """Segment by the truth: each person, with held objects, is one segment."""
    return frame.people


def draw_pixels(parts: np.ndarray, mask: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw pixels with probability proportional to 1 / sqrt(pixels of the class).

    The shares of the classes lie between those of the data and equal ones.

    Parameters
    ----------
    parts : uint8 (H, W), 0 = not a person
    mask : bool (H, W), where to draw
    count : int, maximum number of pixels, drawn without replacement; at most MAX_BACKGROUND_SHARE are of class 0
    rng : numpy.random.Generator

    Returns
    -------
    int32 (n, 2), row and column, in image order
    """
    background = _draw_evenly(parts, mask & (parts == 0), int(count * MAX_BACKGROUND_SHARE), rng)
    people = _draw_evenly(parts, mask & (parts > 0), count - len(background), rng)
    pixels = np.concatenate([background, people])
    return pixels[np.lexsort((pixels[:, 1], pixels[:, 0]))]


def _draw_evenly(parts: np.ndarray, mask: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    pixels = np.argwhere(mask).astype(np.int32)
    if len(pixels) <= count:
        return pixels
    label = parts[pixels[:, 0], pixels[:, 1]]
    weight = 1 / np.sqrt(np.bincount(label))[label]
    # Gumbel-top-k: the `count` largest keys are a weighted sample without replacement
    key = np.log(weight) + rng.gumbel(size=len(pixels))
    return pixels[np.argpartition(key, -count)[len(pixels) - count :]]


def sample_pixels(
    frames: Iterable[tuple[int, LabelledFrame]],
    pixels_per_person: int,
    seed: tuple[int, ...],
    segmentation: Segmentation = true_people,
    image_file: ScratchArray | None = None,
    may_lack_people: bool = False,
) -> PixelSamples:
    """Sample the training pixels of labelled frames.

    Parameters
    ----------
    frames : pairs of (position in the dataset, frame)
    pixels_per_person : int, also for segments of background
    seed : of the random generator, together with the position of the frame
    segmentation : segments of a frame; probes outside the segment of a pixel read background
    image_file : stores the images on disk; None = in memory
    may_lack_people : True = accept frames without people, for a part of a dataset

    Returns
    -------
    PixelSamples

    Raises
    ------
    ValueError
        When no frame shows a person, unless that is accepted.
    """
    samples = join_samples((_of_frame(*each, pixels_per_person, seed, segmentation) for each in frames), image_file)
    return samples if may_lack_people else with_people(samples)


def with_people(samples: PixelSamples) -> PixelSamples:
    """The samples; raises ValueError when no frame shows a person."""
    if not samples.label.any():
        raise ValueError("the training frames show no person: every label is 0; check the dataset's labels")
    return samples


def join_samples(parts: Iterable[PixelSamples], image_file: ScratchArray | None = None) -> PixelSamples:
    """Put the samples of several sets of frames one after another; ``image_file`` stores the images on disk."""
    images = GrowingArray() if image_file is None else image_file
    joined: dict[str, list[np.ndarray]] = {name: [own] for name, own in _NO_SAMPLES.items()}
    n_images = n_values = 0
    for part in parts:
        assert isinstance(part.images, np.ndarray)
        images.append(part.images)
        moved = replace(part, start=part.start + n_values, image=part.image + np.int32(n_images))
        for name, arrays in joined.items():
            arrays.append(getattr(moved, name))
        n_images, n_values = n_images + len(part.start), n_values + len(part.images)
    return PixelSamples(
        images=images.finish() if isinstance(images, GrowingArray) else images,
        **{name: np.concatenate(arrays) for name, arrays in joined.items()},
    )


_NO_SAMPLES: dict[str, np.ndarray] = {
    "start": np.zeros(0, np.int64),
    "shape": np.zeros((0, 2), np.int32),
    "image": np.zeros(0, np.int32),
    "pixel": np.zeros((0, 2), np.int16),
    "scale": np.zeros((0, 2), np.float32),
    "label": np.zeros(0, np.uint8),
    "frame": np.zeros(0, np.int32),
}


def _of_frame(
    index: int, frame: LabelledFrame, pixels_per_person: int, seed: tuple[int, ...], segmentation: Segmentation
) -> PixelSamples:
    """Samples of one frame; parameters are those of `sample_pixels`."""
    rng = np.random.default_rng([*seed, index])
    segments = segmentation(frame)
    images, shapes, pixel, scale, label = [], [], [], [], []
    for segment in range(1, int(segments.max(initial=0)) + 1):
        mask = (segments == segment) & (frame.depth.depth_m > 0)
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
        pixel.append(in_image.astype(np.int16))
        scale.append((focal / depth_m[:, None]).astype(np.float32))
        label.append(frame.parts[chosen[:, 0], chosen[:, 1]])
    shape = np.array(shapes, np.int32).reshape(-1, 2)
    sizes = shape.prod(axis=1, dtype=np.int64)
    return PixelSamples(
        images=np.concatenate([np.zeros(0, np.int16), *images]),
        start=np.cumsum(sizes) - sizes,
        shape=shape,
        image=np.repeat(np.arange(len(shape), dtype=np.int32), [len(own) for own in pixel]),
        pixel=np.concatenate([_NO_SAMPLES["pixel"], *pixel]),
        scale=np.concatenate([_NO_SAMPLES["scale"], *scale]),
        label=np.concatenate([_NO_SAMPLES["label"], *label]),
        frame=np.full(len(shape), index, np.int32),
    )
