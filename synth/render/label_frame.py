"""Label the readings of a sensor with the truth about the rendered scene."""

from __future__ import annotations

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame, LabelledFrame, clean_depth
from synth.geometry.mesh import BACKGROUND, HELD
from synth.recipe import FPS
from synth.render.label_spread import NOTHING, SPREAD_PX, spread_ids
from synth.render.rasterizer import paint
from synth.render.render_frame import RenderedFrame
from synth.render.visibility import visible_joints
from synth.sensors.noise_fields import Window


def label_frame(
    rendered: RenderedFrame, readings_m: np.ndarray, intrinsics: Intrinsics, body: BodyDefinition, index: int
) -> LabelledFrame:
    """Label depth readings of a rendered scene.

    Parameters
    ----------
    rendered : RenderedFrame
    readings_m : float32 (H, W), metres
        What the sensor reads of the scene; 0 = no reading. Labels follow the readings that noise has moved.
    intrinsics : Intrinsics
    body : BodyDefinition
        Of the subjects.
    index : int
        Of the frame.

    Returns
    -------
    LabelledFrame
        Held objects belong to their person and are no part. Background has no person and no part.
    """
    readings_m = clean_depth(readings_m)  # as the depth frame below: what it drops has no label
    window = Window.around(readings_m > 0, SPREAD_PX)
    cropped_m = window.of(readings_m)
    ids = window.of(rendered.triangle_ids)
    spread_ids(ids, cropped_m)
    labelled_m = cv2.copyTo(cropped_m, (ids != NOTHING).view(np.uint8))
    parts = paint(ids, rendered.parts)
    parts[parts >= min(HELD, BACKGROUND)] = 0
    people = paint(ids, rendered.people)
    cropped_lens = intrinsics.cropped(window.top, window.left)
    visible = visible_joints(labelled_m, parts, people, rendered.joints_m, cropped_lens, body)
    shape = readings_m.shape
    frame = DepthFrame(window.within(shape, labelled_m), intrinsics, index / FPS, index)
    labels = window.within(shape, parts), window.within(shape, people)
    return LabelledFrame(frame, *labels, rendered.joints_m, visible, rendered.bodies)
