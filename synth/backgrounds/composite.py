"""Composite rendered people into a real frame: occlusion, the shadow they cast, noise on their own pixels alone."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from synth.backgrounds.background_view import BackgroundView
from synth.geometry.mesh import BACKGROUND
from synth.render.label_spread import NOTHING
from synth.render.render_frame import RenderedFrame
from synth.sensors.sensor_noise import add_sensor_noise, margin_px, within_range
from synth.sensors.sensor_presets import TRIANGULATING, SensorPreset
from synth.sensors.triangulation import disparity_seen_twice

SILHOUETTE_M = 0.05
"""A reading beside a silhouette belongs to the person when it is nearer than the background by more than this."""


def hide_behind(rendered: RenderedFrame, filled_m: np.ndarray) -> RenderedFrame:
    """Return rendered people without the pixels that a room hides.

    Parameters
    ----------
    rendered : RenderedFrame
        Of people, and of furniture that was rendered with them.
    filled_m : float32 (H, W), metres
        The room's depth without holes; 0 where the real camera did not look.
    """
    shown = (rendered.depth_m > 0) & (rendered.depth_m < filled_m)
    depth_m = np.where(shown, rendered.depth_m, np.float32(0))
    return replace(rendered, depth_m=depth_m, triangle_ids=np.where(shown, rendered.triangle_ids, np.int32(NOTHING)))


def composite(
    rendered: RenderedFrame,
    view: BackgroundView,
    filled_m: np.ndarray,
    sensor: SensorPreset,
    noise: bool,
    rng: np.random.Generator,
) -> tuple[RenderedFrame, np.ndarray]:
    """Composite people into a real frame.

    Readings of the room stay as they are, its holes too, but where people are nearer, or where their shadow falls:
    where the projector's or second camera's view of the room is blocked.

    Parameters
    ----------
    rendered : RenderedFrame
        Without the pixels that the room hides, see `hide_behind`.
    view : BackgroundView
    filled_m : float32 (H, W), metres
        The room's depth without holes.
    sensor : SensorPreset
    noise : bool
        Whether the sensor's noise is added to people.
    rng : numpy.random.Generator

    Returns
    -------
    rendered : RenderedFrame
        Ids follow the readings; those of the room are one more triangle, labelled BACKGROUND.
    readings_m : float32 (H, W), metres
    """
    shown = rendered.triangle_ids != NOTHING
    ideal_m = np.where(shown, rendered.depth_m, filled_m)
    if noise:
        own, blocked, sensed_m = _sense(rendered, ideal_m, filled_m, sensor, rng)
    else:
        own, blocked, sensed_m = shown, np.zeros(shown.shape, bool), within_range(ideal_m, sensor)
    room_m = np.where(blocked, np.float32(0), view.depth_m)
    readings_m = np.where(own, sensed_m, room_m)
    room_id = len(rendered.parts)
    ids = np.where(own, _nearest_ids(rendered.triangle_ids, shown), np.int32(room_id))
    labelled = replace(
        rendered,
        depth_m=readings_m,
        triangle_ids=np.where(readings_m > 0, ids, np.int32(NOTHING)).astype(np.int32),
        parts=np.append(rendered.parts, np.uint8(BACKGROUND)),
        people=np.append(rendered.people, np.uint8(0)),
    )
    return labelled, readings_m


def _sense(
    rendered: RenderedFrame,
    ideal_m: np.ndarray,
    filled_m: np.ndarray,
    sensor: SensorPreset,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sense the whole scene; which readings are of people, which of the room are lost by them, and the readings."""
    shown = rendered.triangle_ids != NOTHING
    sensed_m = add_sensor_noise(ideal_m, sensor, rng)
    reach = 2 * margin_px(sensor) + 1
    near = cv2.dilate(shown.view(np.uint8), np.ones((reach, reach), np.uint8)).view(bool)
    people_m = _nearest(rendered.depth_m, shown)
    nearer_people = np.abs(sensed_m - people_m) < np.abs(sensed_m - filled_m)
    own = near & (sensed_m > 0) & nearer_people & (shown | (filled_m - sensed_m > SILHOUETTE_M))
    blocked = near & (sensed_m == 0)
    if sensor.family in TRIANGULATING:
        blocked |= ~_seen_twice(ideal_m, sensor) & _seen_twice(filled_m, sensor) & ~shown
    return own, blocked, sensed_m


def _seen_twice(depth_m: np.ndarray, sensor: SensorPreset) -> np.ndarray:
    """Whether both viewpoints of a triangulating sensor see each pixel's surface: bool (H, W)."""
    disparity = np.empty(depth_m.shape, np.float32)
    pixels_per_match = sensor.intrinsics.fx / sensor.matching_fx
    disparity_seen_twice(depth_m, sensor.matching_fx * sensor.baseline_m, pixels_per_match, disparity)
    return disparity > 0


def _nearest_ids(ids: np.ndarray, shown: np.ndarray) -> np.ndarray:
    return _nearest(ids, shown) if shown.any() else ids


def _nearest(image: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Value of the nearest shown pixel, for each pixel."""
    if not shown.any():
        return np.zeros_like(image)
    hidden = (~shown).astype(np.uint8)
    _, labels = cv2.distanceTransformWithLabels(hidden, cv2.DIST_L1, 3, labelType=cv2.DIST_LABEL_PIXEL)
    values = np.zeros(labels.max() + 1, image.dtype)
    values[labels[shown]] = image[shown]
    return values[labels]
