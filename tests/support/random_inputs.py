"""Seeded random inputs for tests and benchmarks: depth images, tables, trees, clouds. Calls nothing under test."""

from __future__ import annotations

import numpy as np

from posepipe.facing.facing_network import STRIDES, FacingNetwork, layer_shapes
from posepipe.learn.depth.splitting.responses import PixelSamples
from posepipe.learn.tree import LEAF, Tree

BACKGROUND_MM = 10_000


def depth_image(rng: np.random.Generator, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """A bumpy surface at 1 to 4 m with holes, float32 (H, W), and the mask of a person, an ellipse of it."""
    rows, cols = np.mgrid[:height, :width]
    waves = [
        rng.uniform(0.05, 0.3) * np.sin(rng.uniform(0.05, 0.5, 2) @ [rows.ravel(), cols.ravel()]) for _ in range(4)
    ]
    depth_m = (rng.uniform(1.5, 3) + sum(waves).reshape(height, width)).astype(np.float32)
    depth_m[rng.random((height, width)) < 0.05] = 0
    mask = ((rows / height - 0.5) / 0.45) ** 2 + ((cols / width - 0.5) / 0.4) ** 2 < 1
    return depth_m, mask


def boxes_before_wall(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Boxes before a tilted wall with holes: float32 (H, W), metres."""
    rows, cols = np.mgrid[:height, :width]
    depth_m = 3 + 0.01 * cols - 0.006 * rows
    for _ in range(4):
        top, left = rng.integers(height - 12), rng.integers(width - 12)
        tall, wide = rng.integers(2, 12, 2)
        depth_m[top : top + tall, left : left + wide] = rng.uniform(1, 2.8)
    depth_m[rng.random(depth_m.shape) < 0.03] = 0
    return depth_m.astype(np.float32)


def readable_pixels(rng: np.random.Generator, depth_m: np.ndarray, mask: np.ndarray, count: int) -> np.ndarray:
    """Pixels int32 (count, 2) inside the mask with a reading, drawn with repeats."""
    pixels = np.argwhere(mask & (depth_m > 0))
    return pixels[rng.integers(len(pixels), size=count)].astype(np.int32)


def moments(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Moments of parts, float64 (*shape, 10): surface, centre, variances, covariances. A fifth of them is absent."""
    cloud = rng.normal(0, 0.1, (*shape, 12, 3)) * rng.uniform(0.2, 2, (*shape, 1, 3))
    spread = np.einsum("...ni,...nj->...ij", cloud, cloud) / 12
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    centre = rng.normal(0, 0.4, (*shape, 3)) + [0.2, 0.1, 2.5]
    known = [rng.uniform(1e-4, 0.1, (*shape, 1)), centre, np.stack([spread[..., i, j] for i, j in pairs], axis=-1)]
    return np.concatenate(known, axis=-1) * (rng.random((*shape, 1)) < 0.8)


def offset_pairs(rng: np.random.Generator, count: int) -> np.ndarray:
    """Offsets float32 (count, 2, 2) up to half a metre; half of the second probes stay on the pixel."""
    offsets = rng.uniform(-0.5, 0.5, (count, 2, 2))
    offsets[::2, 1] = 0
    return offsets.astype(np.float32)


def tree(rng: np.random.Generator, depth: int, n_features: int, n_classes: int) -> Tree:
    """A tree whose nodes stand level by level; below the root a node is a leaf with probability 0.2.

    Thresholds are metres at half millimetres, so that no response of whole millimetres meets one.
    """
    feature, first_child, level = [], [], 1
    n_leaves, n_nodes = 0, 1
    for below in reversed(range(depth + 1)):
        inner = np.full(level, below > 0) & ((rng.random(level) < 0.8) | (below == depth))
        for is_inner in inner:
            feature.append(rng.integers(n_features) if is_inner else LEAF)
            first_child.append(n_nodes if is_inner else n_leaves)
            n_nodes += 2 * is_inner
            n_leaves += not is_inner
        level = 2 * inner.sum()
    return Tree(
        feature=np.array(feature, np.int32),
        threshold=((rng.integers(-400, 400, len(feature)) + 0.5) / 1000).astype(np.float32),
        first_child=np.array(first_child, np.int32),
        leaf_statistics=rng.dirichlet(np.full(n_classes, 0.5), n_leaves).astype(np.float32),
    )


def cells(rng: np.random.Generator, n_rows: int, n_codes: list[int], missing: float = 0.15) -> np.ndarray:
    """A table float64 (n_rows, F): whole numbers where a column has 0 codes, else codes; some cells missing."""
    table = np.empty((n_rows, len(n_codes)))
    for column, count in zip(table.T, n_codes, strict=True):
        column[:] = rng.integers(count, size=n_rows) if count else rng.integers(-6, 7, n_rows)
    table[rng.random(table.shape) < missing] = np.nan
    return table


def table_tree(
    rng: np.random.Generator, depth: int, n_codes: list[int], is_each: list[bool], n_combinations: int, statistics: int
) -> Tree:
    """A tree over the columns of `cells`, or F + d for combination d; no training row reached some of its leaves.

    A column of categories is asked with a branch for each, or for one against the others.
    """
    feature, threshold, n_children, level = [], [], [], 1
    for below in reversed(range(depth + 1)):
        following = 0
        for _ in range(level):
            inner = below > 0 and (below == depth or rng.random() < 0.7)
            feature.append(int(rng.integers(len(n_codes) + n_combinations)) if inner else LEAF)
            count = n_codes[feature[-1]] if inner and feature[-1] < len(n_codes) else 0
            threshold.append(float(rng.integers(count)) if count else rng.integers(-5, 5) + 0.5)
            n_children.append((count if count and is_each[feature[-1]] else 2) if inner else 0)
            following += n_children[-1]
        level = following
    feature, n_children = np.array(feature, np.int32), np.array(n_children, np.int32)
    first_child = np.where(feature == LEAF, np.cumsum(feature == LEAF) - 1, 1 + np.cumsum(n_children) - n_children)
    leaves = rng.integers(0, 5, (len(feature), statistics)).astype(np.float64)
    leaves[rng.random(len(feature)) < 0.3] = 0
    leaves[[0, *first_child[feature != LEAF]], 0] += 1  # some weight arrived at every node that asks
    return Tree(feature, np.array(threshold), first_child.astype(np.int32), leaves[feature == LEAF], n_children)


def pixel_samples(rng: np.random.Generator, n_images: int, n_samples: int, n_classes: int = 4) -> PixelSamples:
    """Samples of bordered images of different sizes, half of each image background."""
    shapes = rng.integers(8, 24, (n_images, 2)).astype(np.int32)
    images = []
    for height, width in shapes:
        image = np.full((height, width), BACKGROUND_MM, np.int16)
        image[1:-1, 1:-1] = rng.integers(1500, 2500, (height - 2, width - 2))
        image[rng.random((height, width)) < 0.3] = BACKGROUND_MM
        images.append(image.ravel())
    image = rng.integers(n_images, size=n_samples).astype(np.int32)
    inside = 1 + rng.random((n_samples, 2)) * (shapes[image] - 2)
    return PixelSamples(
        images=np.concatenate(images),
        start=np.concatenate([[0], np.cumsum(shapes.prod(1))[:-1]]).astype(np.int64),
        shape=shapes,
        image=image,
        pixel=inside.astype(np.int16),
        scale=rng.uniform(10, 60, (n_samples, 2)).astype(np.float32),
        label=rng.integers(n_classes, size=n_samples).astype(np.uint8),
        frame=np.arange(n_images, dtype=np.int32),
    )


def blobs(rng: np.random.Generator, centres: np.ndarray, count: int, spread_m: float) -> np.ndarray:
    """Points float32 (len(centres) x count, 3) scattered round each centre, in random order."""
    points = np.repeat(centres, count, axis=0) + rng.normal(0, spread_m, (len(centres) * count, 3))
    return rng.permutation(points).astype(np.float32)


def covariances(rng: np.random.Generator, size: int) -> np.ndarray:
    """Three covariances float32 (3, size, size), about 0.2 m a standard deviation."""
    factors = rng.normal(0, 0.2 / np.sqrt(size), (3, size, size))
    return (factors @ factors.transpose(0, 2, 1) + 1e-3 * np.eye(size)).astype(np.float32)


def facing_network(rng: np.random.Generator) -> FacingNetwork:
    """Draw a small facing network that half precision holds exactly, as a model file does."""
    shapes = layer_shapes(units=(4,) * len(STRIDES), hidden=8)
    weights = [rng.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape) for shape in shapes]
    rounded = [weight.astype(np.float16).astype(np.float32) for weight in weights]
    biases = [rng.normal(0, 0.1, shape[-1]).astype(np.float32) for shape in shapes]
    n = len(STRIDES)
    return FacingNetwork(tuple(zip(rounded[:n], biases[:n], strict=True)), tuple(rounded[n:]), tuple(biases[n:]))
