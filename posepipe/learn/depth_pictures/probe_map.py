"""A map of where the probes of a forest look, weighted by what their splits tell."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from posepipe.learn.depth_pictures.tree_traffic import TreeTraffic

CELL_M = 0.02
"""Side of a cell of the map, metres."""
PIXELS_A_CELL = 6
_PAPER, _INK, _RING = (255, 255, 255), (60, 60, 60), (200, 200, 200)
_RING_STEP_M = 0.2
_MARGIN = 30


def probe_map(traffic: Sequence[TreeTraffic], offsets: Sequence[np.ndarray]) -> np.ndarray:
    """Add up the information of splits where their probes look.

    Parameters
    ----------
    traffic : TreeTraffic of each tree
    offsets : float32 (F, 2, 2), metres, feature table of each tree

    Returns
    -------
    float64 (2 R + 1, 2 R + 1), share of all information in each cell of CELL_M, rows down and columns to the right; the
    pixel itself is in the middle. A split with one probe counts there; one with two counts half at each
    """
    used = [of_tree.tree.feature[of_tree.tree.feature >= 0] for of_tree in traffic]
    probes = [table[rows].astype(np.float64) for table, rows in zip(offsets, used, strict=True)]
    told = [of_tree.information()[of_tree.tree.feature >= 0] for of_tree in traffic]
    places, weights = np.concatenate(probes), np.concatenate(told)
    off_pixel = places.any(axis=2)  # probes that are not the pixel itself
    share = weights[:, None] * off_pixel / np.maximum(off_pixel.sum(axis=1, keepdims=True), 1)
    reach = int(np.ceil(np.abs(places).max(initial=CELL_M) / CELL_M))
    cells = np.rint(places / CELL_M).astype(np.int64) + reach
    side = 2 * reach + 1
    found = np.bincount((cells[..., 0] * side + cells[..., 1]).ravel(), share.ravel(), minlength=side * side)
    return found.reshape(side, side) / max(found.sum(), 1e-12)


def draw_probe_map(shares: np.ndarray, title: str) -> np.ndarray:
    """Draw a map of probes: uint8 (H, W, 3), BGR; darker = more information, rings every 20 cm."""
    dark = np.sqrt(shares / max(shares.max(), 1e-12))  # few short probes would hide all others
    picture = cv2.applyColorMap((255 * (1 - dark)).astype(np.uint8), cv2.COLORMAP_BONE)
    picture = cv2.resize(picture, None, fx=PIXELS_A_CELL, fy=PIXELS_A_CELL, interpolation=cv2.INTER_NEAREST)
    middle, a_metre = picture.shape[0] // 2, PIXELS_A_CELL / CELL_M
    for ring in range(1, int(middle / a_metre / _RING_STEP_M) + 1):
        radius = round(ring * _RING_STEP_M * a_metre)
        cv2.circle(picture, (middle, middle), radius, _RING, 1, cv2.LINE_AA)
        text = f"{100 * ring * _RING_STEP_M:.0f} cm"
        cv2.putText(
            picture, text, (middle + 4, middle - radius + 12), cv2.FONT_HERSHEY_SIMPLEX, 0.38, _INK, 1, cv2.LINE_AA
        )
    cv2.drawMarker(picture, (middle, middle), (0, 0, 200), cv2.MARKER_CROSS, 14, 1, cv2.LINE_AA)
    picture = cv2.copyMakeBorder(picture, _MARGIN, 4, 4, 4, cv2.BORDER_CONSTANT, value=_PAPER)
    cv2.putText(picture, title, (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.45, _INK, 1, cv2.LINE_AA)
    return picture
