"""A real frame as the recipe's sensor would have read it from the same place: another lens, mirrored, scaled, turned.

Depth is measured, so the change of lens and direction is exact, but for the rounding to a pixel. Readings are never
interpolated: a blend of two surfaces is on neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from synth.backgrounds.background_bank import Background
from synth.recipe import BackgroundRecipe
from synth.scene.placement import rotation_about
from synth.sensors.sensor_presets import SensorPreset


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundView:
    """What the sensor reads of an empty room."""

    depth_m: np.ndarray  #: float32 (H, W), metres, 0 = no reading
    covered: np.ndarray  #: bool (H, W), where the real camera looked


def draw_view(
    background: Background, recipe: BackgroundRecipe, sensor: SensorPreset, rng: np.random.Generator
) -> BackgroundView:
    """Draw how a background is varied, and return it through the sensor's lens.

    Parameters
    ----------
    background : Background
    recipe : BackgroundRecipe
    sensor : SensorPreset
        Its size and lens are taken.
    rng : numpy.random.Generator
    """
    depth_m = background.depth_mm.astype(np.float32) * np.float32(0.001)
    own = background.intrinsics
    if rng.random() < recipe.mirrored_room_share:
        depth_m = np.ascontiguousarray(depth_m[:, ::-1])
        own = Intrinsics(own.fx, own.fy, depth_m.shape[1] - 1 - own.cx, own.cy)
    scale = np.float32(rng.uniform(*recipe.room_scale))
    angles = np.radians(recipe.room_turn_deg) * np.clip(rng.normal(size=3), -2, 2)
    turn = rotation_about("z", angles[2]) @ rotation_about("y", angles[1]) @ rotation_about("x", angles[0])
    return resample(depth_m * scale, own, sensor, turn)


def resample(depth_m: np.ndarray, own: Intrinsics, sensor: SensorPreset, turn: np.ndarray) -> BackgroundView:
    """Return a depth image as a camera with another lens and direction reads it from the same point.

    Parameters
    ----------
    depth_m : float32 (h, w), metres
    own : Intrinsics
        Of the image.
    sensor : SensorPreset
        Its size and lens are taken.
    turn : float (3, 3)
        Rotation from the sensor's axes to those of the image.
    """
    shape = sensor.height, sensor.width
    rays = sensor.intrinsics.deproject(np.ones(shape, np.float32)) @ turn.T.astype(np.float32)
    ahead = rays[..., 2] > 0
    pixels = own.project(np.where(ahead[..., None], rays, np.float32(1)))
    rows, cols = (np.rint(pixels[..., axis]).astype(np.float32) for axis in (0, 1))
    height, width = depth_m.shape
    covered = ahead & (rows >= 0) & (rows < height) & (cols >= 0) & (cols < width)
    readings_m = cv2.remap(depth_m, cols, rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)
    along = np.where(covered, rays[..., 2], np.float32(1))  # the optical axes differ: depth along the sensor's
    return BackgroundView(np.where(covered, readings_m / along, np.float32(0)).astype(np.float32), covered)
