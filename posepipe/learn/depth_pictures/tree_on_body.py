"""The upper levels of a depth tree on one person: two probes at each node, parts where the levels end."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.probes.probe_rules import METRIC
from posepipe.learn.depth.splitting.depth_features import depth_differences
from posepipe.learn.depth_pictures.tree_traffic import TreeTraffic
from posepipe.learn.tree import LEAF

TILE = (120, 150)
"""Width and height of a node, pixels."""
MAX_LEVELS = 5
"""Levels of inner nodes at most: a sixth would be 64 tiles wide."""
_GAP, _LEVEL_GAP, _TEXT_PX = 8, 26, 14
_PAPER, _INK = (255, 255, 255), (60, 60, 60)
_OTHERS, _LEFT, _RIGHT = (232, 232, 232), (178, 114, 0), (0, 159, 230)
"""Pixels that do not reach a node; those that go to its first and second child: blue and orange of Okabe and Ito."""
_U, _V = (0, 0, 220), (0, 140, 0)
_PARTS_SHOWN = 3


@dataclass(frozen=True, slots=True, eq=False)
class PersonView:
    """One person, cut out."""

    depth_m: np.ndarray  #: float32 (H, W), metres
    mask: np.ndarray  #: bool (H, W), the person
    intrinsics: Intrinsics


def draw_tree_on_body(forest: DepthForest, tree: int, view: PersonView, levels: int = 4) -> np.ndarray:
    """Draw a tree.

    At each node, the pixels that reach it are blue or orange, by the child that they go to. One of them has a cross,
    with its probes u (red) and v (green); a probe at the pixel itself is not drawn. Below the last level stand the most
    probable parts of the pixels that get there.

    Parameters
    ----------
    forest : DepthForest with the probe rules of posepipe
    tree : int, its number, from 0
    view : PersonView
    levels : int, of inner nodes, 1 to MAX_LEVELS

    Returns
    -------
    uint8 (H, W, 3), BGR

    Raises
    ------
    ValueError
        For other levels, a forest of another program, or nobody in view.
    """
    if not 1 <= levels <= MAX_LEVELS:
        raise ValueError(f"a drawing has 1 to {MAX_LEVELS} levels, got {levels}")
    if forest.probes != METRIC:
        raise ValueError("only trees with the probe rules of posepipe are drawn")
    pixels = np.argwhere(view.mask & (view.depth_m > 0)).astype(np.int32)
    if len(pixels) == 0:
        raise ValueError("a tree is drawn on a person, and nobody is in view")
    return _Drawing(forest, tree, view, pixels).draw(levels)


class _Drawing:
    def __init__(self, forest: DepthForest, tree: int, view: PersonView, pixels: np.ndarray) -> None:
        self._tree, self._offsets, self._body = forest.trees[tree], forest.offsets[tree], forest.body
        self._view, self._pixels = view, pixels
        leaves = forest.find_leaves(view.depth_m, view.mask, pixels, view.intrinsics)[:, tree]
        self._traffic = TreeTraffic.of(self._tree, leaves)

    def draw(self, levels: int) -> np.ndarray:
        """Draw nodes level by level; ``reached`` holds the pixels of each place of a level, or None for no node."""
        columns = 2**levels
        width = columns * (TILE[0] + _GAP) + _GAP
        height = (levels + 1) * (TILE[1] + _LEVEL_GAP)
        picture = np.full((height, width, 3), _PAPER, np.uint8)
        reached: list[tuple[int, np.ndarray] | None] = [(0, np.arange(len(self._pixels)))]
        for level in range(levels + 1):
            below: list[tuple[int, np.ndarray] | None] = []
            for place, each in enumerate(reached):
                left, top = self._corner(level, place, width)
                below += [None, None]
                if each is None:
                    continue
                node, own = each
                if level == levels or self._tree.feature[node] == LEAF:
                    self._draw_parts(picture, left, top, node, own)
                    continue
                right = self._goes_right(node, own)
                self._draw_split(picture, left, top, node, own, right)
                for k, (child, side) in enumerate(zip(self._tree.children(node), (~right, right), strict=True)):
                    below[-2 + k] = child, own[side]
                    to = self._corner(level + 1, 2 * place + k, width)
                    start, end = (left + TILE[0] // 2, top + TILE[1] + _TEXT_PX), (to[0] + TILE[0] // 2, to[1])
                    cv2.line(picture, start, end, (_LEFT, _RIGHT)[k], 1, cv2.LINE_AA)
            reached = below
        return picture

    def _corner(self, level: int, place: int, width: int) -> tuple[int, int]:
        """Left and top of a node."""
        return round((place + 0.5) * width / 2**level - TILE[0] / 2), level * (TILE[1] + _LEVEL_GAP) + 4

    def _goes_right(self, node: int, own: np.ndarray) -> np.ndarray:
        feature = self._offsets[self._tree.feature[node]][None]
        view = self._view
        response = depth_differences(view.depth_m, view.mask, self._pixels[own], feature, view.intrinsics)[:, 0]
        return response > self._tree.threshold[node]

    def _draw_split(
        self, picture: np.ndarray, left: int, top: int, node: int, own: np.ndarray, right: np.ndarray
    ) -> None:
        colours = np.where(right[:, None], np.array(_RIGHT), np.array(_LEFT))
        to_tile = self._draw_person(picture, left, top, own, colours)
        if len(own):
            self._draw_probes(picture, to_tile, self._pixels[own[len(own) // 2]], node)
        threshold_cm = 100 * float(self._tree.threshold[node])
        self._text(picture, left, top + TILE[1] + 10, f"{len(own)} px   > {threshold_cm:.1f} cm", _INK)

    def _draw_probes(self, picture: np.ndarray, to_tile: _ToTile, pixel: np.ndarray, node: int) -> None:
        """Draw the probes of a node at a pixel."""
        view = self._view
        scale = np.array([view.intrinsics.fy, view.intrinsics.fx]) / float(view.depth_m[tuple(pixel)])
        start = to_tile.point(pixel)
        for offset, colour in zip(self._offsets[self._tree.feature[node]], (_U, _V), strict=True):
            if offset.any():
                end = to_tile.point(pixel + offset * scale)
                cv2.arrowedLine(picture, start, end, colour, 1, cv2.LINE_AA, tipLength=0.2)
        cv2.drawMarker(picture, start, (0, 0, 0), cv2.MARKER_TILTED_CROSS, 8, 1, cv2.LINE_AA)

    def _draw_parts(self, picture: np.ndarray, left: int, top: int, node: int, own: np.ndarray) -> None:
        """Draw the pixels that get to a node, and the most probable parts of them."""
        self._draw_person(picture, left, top, own, np.broadcast_to(np.array(_INK), (len(own), 3)))
        if len(own) == 0:
            return
        posterior = self._traffic.posteriors[node]
        for line, code in enumerate(np.argsort(-posterior, kind="stable")[:_PARTS_SHOWN]):
            if posterior[code] >= 0.01:
                name = _name(self._body, int(code))
                self._text(picture, left, top + TILE[1] - 24 + 12 * line, f"{posterior[code]:.0%} {name}", _U)

    def _draw_person(self, picture: np.ndarray, left: int, top: int, own: np.ndarray, colours: np.ndarray) -> _ToTile:
        """Draw the silhouette, and some pixels of it in their colours, (P, 3)."""
        low, high = self._pixels.min(axis=0), self._pixels.max(axis=0) + 1
        shown = np.full((*(high - low), 3), _PAPER, np.uint8)
        shown[tuple((self._pixels - low).T)] = _OTHERS
        shown[tuple((self._pixels[own] - low).T)] = colours
        zoom = min((TILE[0]) / shown.shape[1], (TILE[1] - 2 * _TEXT_PX) / shown.shape[0])
        size = max(1, int(shown.shape[1] * zoom)), max(1, int(shown.shape[0] * zoom))
        image = cv2.resize(shown, size, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_NEAREST)
        x, y = left + (TILE[0] - size[0]) // 2, top
        picture[y : y + size[1], x : x + size[0]] = image
        return _ToTile(low, zoom, x, y)

    def _text(self, picture: np.ndarray, left: int, base: int, text: str, colour: tuple[int, int, int]) -> None:
        cv2.putText(picture, text, (left, base), cv2.FONT_HERSHEY_SIMPLEX, 0.33, colour, 1, cv2.LINE_AA)


@dataclass(frozen=True, slots=True, eq=False)
class _ToTile:
    """Where a tile shows a pixel of the image."""

    low: np.ndarray
    zoom: float
    x: int
    y: int

    def point(self, pixel: np.ndarray) -> tuple[int, int]:
        """Column and row in the picture."""
        row, col = (np.asarray(pixel) + 0.5 - self.low) * self.zoom
        return int(self.x + col), int(self.y + row)


def _name(body: BodyDefinition, code: int) -> str:
    return "background" if code == 0 else body.parts[code - 1].replace("_", " ")
