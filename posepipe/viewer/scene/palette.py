"""Colours of the live view: warm = the person's left, cold = the right, green = the middle."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.sinks.images.drawing import part_colours

BACKGROUND = (122, 128, 138)
"""Colour of surfaces that are no person: floor, walls, furniture."""
PAGE = (20, 20, 20)
"""Colour of the page, into which trails fade."""
_LEFT, _RIGHT, _MIDDLE = 0.075, 0.585, 0.36  # hues


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """Colours, RGB, of the parts, joints and bones of a body."""

    parts: np.ndarray  #: uint8 (C, 3), of every label; row 0 = BACKGROUND
    joints: np.ndarray  #: uint8 (J, 3)
    bones: np.ndarray  #: uint8 (B, 3), in the order of ``body.bones()``

    @classmethod
    def of(cls, body: BodyDefinition) -> Palette:
        """Make the palette of a body.

        Parts have the colours of all posepipe images. Joints and bones are coloured by side only, which makes a swap of
        sides visible.
        """
        parts = part_colours(body)[:, ::-1].copy()
        parts[0] = BACKGROUND
        joints = np.array([_side(name, 1.0, 0.95) for name in body.joints], np.uint8).reshape(-1, 3)
        bones = np.array([_side(body.joints[row], 0.25, 0.95) for row, _ in body.bones()], np.uint8).reshape(-1, 3)
        return cls(parts, joints, bones)


def _side(joint: str, saturation: float, value: float) -> tuple[int, int, int]:
    hue = _LEFT if joint.startswith("left_") else _RIGHT if joint.startswith("right_") else _MIDDLE
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
    return round(255 * red), round(255 * green), round(255 * blue)
