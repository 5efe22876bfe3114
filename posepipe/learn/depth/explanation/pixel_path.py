"""Why a pixel gets its body part: the path of probes through every tree, with what each of them reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import check_depth_and_mask
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.probes import clamped_probes
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.tree import Tree

MAX_PARTS = 3
"""Maximum number of parts that a text names."""
MIN_SHARE = 0.05
"""Minimum probability of a part that a text names."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One reading beside the pixel."""

    down_m: float  #: place from the pixel, at the pixel's depth, along the rows of the image; negative = up
    right_m: float  #: along the columns; negative = left
    row: int  #: of the image; outside of it for a probe that leaves the picture
    col: int
    depth_m: float | None  #: reading on the person; None = background

    def __str__(self) -> str:
        reading = "background" if self.depth_m is None else f"{self.depth_m:.2f} m"
        return f"{_place(self.down_m, self.right_m)}: {reading}"


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """One split on the path: the difference of two readings against a threshold."""

    u: Probe
    v: Probe
    response_m: float  #: reading of ``u`` minus that of ``v``; the background reads a large depth
    threshold_m: float

    def __str__(self) -> str:
        relation = "above" if self.response_m > self.threshold_m else "at most"
        return f"{self.u}; {self.v}; difference {self.response_m:+.3f} m, {relation} {self.threshold_m:+.4g} m"


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The path of the pixel through one tree."""

    tree: int  #: number of the tree, from 0
    mirrored: bool  #: whether the tree is walked as its mirror image
    steps: tuple[ProbeStep, ...]
    leaf: int  #: row of the tree's leaves
    probabilities: np.ndarray  #: float64 (C,), posterior of the leaf, in the classes of the body
    body: BodyDefinition

    @property
    def title(self) -> str:
        """Name of the tree, and what it says of the pixel."""
        mirrored = ", mirrored" if self.mirrored else ""
        count = f"{len(self.steps)} split{'' if len(self.steps) == 1 else 's'}"
        return f"tree {self.tree + 1}{mirrored}: {_parts(self.probabilities, self.body)} after {count}"

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"{k:3d}  {step}" for k, step in enumerate(self.steps, start=1))])


@dataclass(frozen=True, slots=True, eq=False)
class PixelExplanation:
    """Why a pixel gets its part."""

    pixel: tuple[int, int]  #: row and column
    depth_m: float
    part: str  #: the most probable one
    probabilities: np.ndarray  #: float64 (C,), mean of the walks
    walks: tuple[Walk, ...]
    body: BodyDefinition

    @property
    def clearest(self) -> Walk:
        """The walk with the highest probability of the part, the first one of a tie."""
        code = int(np.argmax(self.probabilities))
        return max(self.walks, key=lambda walk: walk.probabilities[code])

    def __str__(self) -> str:
        row, col = self.pixel
        what = _parts(self.probabilities, self.body)
        lines = [f"pixel of row {row}, column {col}, at {self.depth_m:.2f} m: {what}"]
        lines += [walk.title for walk in self.walks]
        return "\n".join([*lines, "", str(self.clearest)])


def explain_pixel(
    forest: DepthForest, depth_m: np.ndarray, mask: np.ndarray, pixel: tuple[int, int], intrinsics: Intrinsics
) -> PixelExplanation:
    """Follow one pixel through all trees of a forest and keep what its probes read.

    Parameters
    ----------
    forest : DepthForest
    depth_m : float32 (H, W), metres, 0 = no reading
    mask : bool (H, W), the person; probes beside it read background
    pixel : row and column, on the person and with a reading
    intrinsics : Intrinsics

    Returns
    -------
    PixelExplanation; `str` names all trees and writes one line for each split of the clearest

    Raises
    ------
    ValueError
        For a pixel outside the person, or without a reading; for depth and mask that `DepthForest.predict` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import Intrinsics, PoseModel
    >>> from posepipe.learn import explain_pixel
    >>> depth_m = np.full((60, 40), 2.5, np.float32)
    >>> lens = Intrinsics(fx=70.0, fy=70.0, cx=19.5, cy=29.5)
    >>> explained = explain_pixel(PoseModel.load("person").forest, depth_m, depth_m > 0, (30, 20), lens)
    >>> len(explained.walks), round(float(explained.probabilities.sum()), 6)
    (6, 1.0)
    """
    row, col = pixel
    check_depth_and_mask(depth_m, mask)
    if not (0 <= row < depth_m.shape[0] and 0 <= col < depth_m.shape[1]) or not (mask[row, col] and depth_m[row, col]):
        raise ValueError(f"the pixel must lie on the person and have a reading, got row {row}, column {col}")
    reader = _reader(forest, depth_m, np.asarray(mask, bool), (int(row), int(col)), intrinsics)
    mirrored_classes = forest.packed.mirrored_classes
    walks = []
    for side in (1, -1)[: 1 + bool(len(mirrored_classes))]:
        for number, (tree, offsets) in enumerate(zip(forest.trees, forest.offsets, strict=True)):
            steps, leaf = _walk(tree, offsets, reader, side)
            shares = _posterior(tree, leaf)
            shares = shares if side > 0 else shares[mirrored_classes]
            walks.append(Walk(number, side < 0, steps, leaf, shares, forest.body))
    mean = np.mean([walk.probabilities for walk in walks], axis=0)
    part = _class_name(int(np.argmax(mean)), forest.body)
    return PixelExplanation((int(row), int(col)), float(depth_m[row, col]), part, mean, tuple(walks), forest.body)


def _walk(tree: Tree, offsets: np.ndarray, reader: _MetricProbes | _ClampedProbes, side: int) -> tuple:
    """Steps from the root to a leaf, and the leaf."""
    steps, node = [], 0
    while not tree.is_leaf[node]:
        u, v = (reader.probe(offset, side) for offset in offsets[tree.feature[node]])
        response_mm = reader.reading_mm(u) - reader.reading_mm(v)
        # in the arithmetic of the packed forest
        is_second = np.float32(response_mm) > np.float32(np.float32(1000) * tree.threshold[node])
        steps.append(ProbeStep(u, v, response_mm / 1000, float(tree.threshold[node])))
        node = int(tree.first_child[node]) + int(is_second)
    return tuple(steps), int(tree.first_child[node])


@dataclass(frozen=True, slots=True, eq=False)
class _MetricProbes:
    """Probes by the rules of posepipe: see `posepipe.learn.depth.splitting.depth_features.probe_index`."""

    image: np.ndarray  #: int16 (H + 2, W + 2), from `bordered_depth`
    pixel: tuple[int, int]
    intrinsics: Intrinsics

    def probe(self, offset_m: np.ndarray, side: int) -> Probe:
        row, col = self.pixel[0] + 1, self.pixel[1] + 1
        depth_m = np.float32(self.image[row, col]) * np.float32(0.001)
        scales = np.float32(self.intrinsics.fy) / depth_m, side * (np.float32(self.intrinsics.fx) / depth_m)
        places = [
            start + int(np.floor(np.float32(offset) * scale + np.float32(0.5)))
            for start, offset, scale in zip((row, col), offset_m, scales, strict=True)
        ]
        row, col = places[0] - 1, places[1] - 1
        found = Probe(float(offset_m[0]), side * float(offset_m[1]), row, col, None)
        read_mm = self.reading_mm(found)
        if read_mm == self.image[0, 0]:
            return found
        return Probe(found.down_m, found.right_m, row, col, read_mm / 1000)

    def reading_mm(self, probe: Probe) -> int:
        last_row, last_col = self.image.shape[0] - 1, self.image.shape[1] - 1
        row, col = min(max(probe.row + 1, 0), last_row), min(max(probe.col + 1, 0), last_col)
        return int(self.image[row, col])


@dataclass(frozen=True, slots=True, eq=False)
class _ClampedProbes:
    """Probes by the rules of the Point Cloud Library: see `posepipe.learn.depth.probes.clamped_probes`."""

    image: np.ndarray  #: int32 (H, W), millimetres
    pixel: tuple[int, int]
    intrinsics: Intrinsics
    reference_px: float

    def probe(self, offset: np.ndarray, side: int) -> Probe:
        depth_mm = max(float(self.image[self.pixel]), 1.0)
        places, metres = [], []
        for start, own, focal in zip(self.pixel, offset, (self.intrinsics.fy, self.intrinsics.fx), strict=True):
            moved_px = np.trunc(np.float64(own) * 1000.0 / depth_mm * focal / self.reference_px)
            places.append(int(start + moved_px))
            metres.append(float(own) / self.reference_px)
        found = Probe(metres[0], metres[1], places[0], places[1], None)
        read_mm = self.reading_mm(found)
        if read_mm == int(clamped_probes.BACKGROUND_MM):
            return found
        return Probe(found.down_m, found.right_m, found.row, found.col, read_mm / 1000)

    def reading_mm(self, probe: Probe) -> int:
        height, width = self.image.shape
        return int(self.image[min(max(probe.row, 0), height - 1), min(max(probe.col, 0), width - 1)])


def _reader(
    forest: DepthForest, depth_m: np.ndarray, mask: np.ndarray, pixel: tuple[int, int], intrinsics: Intrinsics
) -> _MetricProbes | _ClampedProbes:
    reference_px = forest.probes.focal_px
    if reference_px is None:
        return _MetricProbes(bordered_depth(depth_m, mask), pixel, intrinsics)
    return _ClampedProbes(clamped_probes.clamped_image(depth_m, mask), pixel, intrinsics, reference_px)


def _posterior(tree: Tree, leaf: int) -> np.ndarray:
    """Class probabilities of a leaf: float64 (C,)."""
    shares = tree.leaf_statistics[leaf].astype(np.float64)
    return shares / shares.sum()


def _class_name(code: int, body: BodyDefinition) -> str:
    return body.parts[code - 1].replace("_", " ") if code else "background"


def _parts(probabilities: np.ndarray, body: BodyDefinition) -> str:
    """Write the most probable parts: ``left hand 0.82, left wrist 0.11``."""
    order = np.argsort(-probabilities, kind="stable")[:MAX_PARTS].tolist()
    named = [code for code in order if probabilities[code] >= MIN_SHARE] or order[:1]
    return ", ".join(f"{_class_name(code, body)} {probabilities[code]:.2f}" for code in named)


def _place(down_m: float, right_m: float) -> str:
    """Write an offset in the image: ``21 cm up, 4 cm right``."""
    down_cm, right_cm = round(100 * down_m), round(100 * right_m)
    words = [f"{abs(down_cm)} cm {'down' if down_cm > 0 else 'up'}"] if down_cm else []
    words += [f"{abs(right_cm)} cm {'right' if right_cm > 0 else 'left'}"] if right_cm else []
    return ", ".join(words) or "the pixel itself"
