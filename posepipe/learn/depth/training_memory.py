"""Memory that growing a tree takes, stated before it begins and bounded on demand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from posepipe.errors import PosepipeError
from posepipe.frames import LabelledFrame
from posepipe.io.growing_array import SPARE_SHARE
from posepipe.learn.depth.splitting.binned_splits import BATCH_SAMPLES, FEATURE_BLOCK
from posepipe.learn.depth.splitting.pixel_sampling import Segmentation, sample_pixels, true_people
from posepipe.learn.depth.splitting.responses import READ_PIXELS
from posepipe.learn.growing import PARTITION_SAMPLES

PROBED_FRAMES = 32
"""Frames read to estimate the memory of a training run."""
PROCESS_BYTES = 400_000_000
"""The program itself, with its compiled kernels."""
ORDER_BYTES = 4
"""Of a sample: its place in the tree."""
PARTITION_BYTES = 45
"""Of a sample, while the samples of a level are sent to the children."""
BRANCH_BYTES = 50
"""Of each of PARTITION_SAMPLES samples, while their branches are found."""
SPLIT_BYTES = FEATURE_BLOCK + 50
"""Of a sample of a batch: its bins, its places, label and class code."""
MIN_BATCH_SAMPLES = 1 << 16
"""Fewer would read the images too often."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """How a tree is grown within a limit of memory. The tree does not depend on it."""

    memory: int  #: bytes, estimated peak of the process
    disk: int = 0  #: bytes of images that stay on disk; 0 = images are held in memory
    batch_samples: int = BATCH_SAMPLES  #: samples whose bins are held at once


def plan_memory(
    dataset: Sequence[LabelledFrame],
    trees: int,
    pixels_per_person: int,
    segmentation: Segmentation = true_people,
    limit: int | None = None,
) -> MemoryPlan:
    """Estimate the memory of growing one tree after the other, from a few frames.

    Parameters
    ----------
    dataset : labelled frames of all trees
    trees : int, among which the frames are divided
    pixels_per_person : int
    segmentation : segments of a frame that are classified separately
    limit : bytes; images that do not fit stay on disk. None = everything in memory

    Returns
    -------
    MemoryPlan

    Raises
    ------
    PosepipeError
        When the training does not fit even with its images on disk.
    ValueError
        When the frames show no person.
    """
    rows = range(0, len(dataset), max(1, len(dataset) // PROBED_FRAMES))
    probe = sample_pixels(((row, dataset[row]) for row in rows), pixels_per_person, (0,), segmentation)
    scale = -(-len(dataset) // trees) / len(rows)
    images = int(scale * (2 * probe.shape.prod(axis=1).sum() + probe.start.nbytes + probe.shape.nbytes))
    samples = int(scale * len(probe.label))
    kept = int(scale * (probe.image.nbytes + probe.pixel.nbytes + probe.scale.nbytes + probe.label.nbytes))
    fixed = PROCESS_BYTES + kept + ORDER_BYTES * samples
    partition = PARTITION_BYTES * samples + BRANCH_BYTES * min(samples, PARTITION_SAMPLES)
    batch = SPLIT_BYTES * min(samples, BATCH_SAMPLES)
    in_memory = fixed + images + max(int(SPARE_SHARE * images), partition, batch)
    if limit is None or in_memory <= limit:
        return MemoryPlan(in_memory)
    fixed += 2 * READ_PIXELS
    smallest = fixed + max(partition, SPLIT_BYTES * MIN_BATCH_SAMPLES)
    if smallest > limit:
        raise PosepipeError(
            f"training needs at least {smallest / 1e9:.1f} GB of memory with its images on disk, the limit is"
            f" {limit / 1e9:.1f} GB; raise it, or train on fewer frames or pixels"
        )
    batch_samples = min(samples, (limit - fixed) // SPLIT_BYTES)
    return MemoryPlan(fixed + max(partition, SPLIT_BYTES * batch_samples), images, batch_samples)


def installed_memory() -> int | None:
    """Return the memory of this machine, bytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None
