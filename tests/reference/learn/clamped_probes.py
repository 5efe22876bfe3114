"""Naive twin of posepipe/learn/depth/probes/clamped_probes.py, and of the reader of the trees that have such probes.

Rules of the Point Cloud Library's people detector (Buys et al. 2014), straight from the text of a tree file.
"""

from __future__ import annotations

BACKGROUND_MM = 32_767


def read_tree(text):
    """Nodes, rows of five numbers, and labels, both in heap order."""
    numbers = [int(word) for word in text.split()]
    n_nodes = 2 ** numbers[0] - 1
    nodes = [numbers[1 + 5 * n : 6 + 5 * n] for n in range(n_nodes)]
    return nodes, numbers[1 + 5 * n_nodes :]


def probe(image_mm, row, col, du, dv, focal):
    """Depth in millimetres at an offset, columns before rows; beyond the image, of its nearest border pixel."""
    depth_mm = image_mm[row][col]
    r = row + int(dv * 1000 / depth_mm * focal / 525)
    c = col + int(du * 1000 / depth_mm * focal / 525)
    r, c = min(max(r, 0), len(image_mm) - 1), min(max(c, 0), len(image_mm[0]) - 1)
    return image_mm[r][c]


def label_of(nodes, labels, image_mm, row, col, focal):
    """Label of a pixel; ``image_mm`` is rows of whole millimetres, BACKGROUND_MM beside the person."""
    n = 0
    while n < len(nodes):
        du1, dv1, du2, dv2, threshold = nodes[n]
        response = probe(image_mm, row, col, du1, dv1, focal) - probe(image_mm, row, col, du2, dv2, focal)
        n = 2 * n + 2 if response > threshold else 2 * n + 1
    return labels[n - len(nodes)]
