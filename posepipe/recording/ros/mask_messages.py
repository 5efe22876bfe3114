"""Labels of every pixel as ROS 2 images: who, and which part of the body."""

from __future__ import annotations

import numpy as np

from posepipe.recording.ros.messages import IMAGE, encode_image

PEOPLE_MASK_TOPIC = "/posepipe/masks/people"
PARTS_MASK_TOPIC = "/posepipe/masks/parts"
MASK_TOPICS = {PEOPLE_MASK_TOPIC: IMAGE, PARTS_MASK_TOPIC: IMAGE}


def encode_masks(person_ids: np.ndarray, parts: np.ndarray, stamp_ns: int, frame_id: str) -> dict[str, bytes]:
    """Serialise the labels of one frame.

    Parameters
    ----------
    person_ids : uint16 (H, W), id of the person, 0 = background
    parts : uint8 (H, W), code of the part, 0 = background
    stamp_ns, frame_id : of the depth image

    Returns
    -------
    CDR bytes by topic
    """
    return {
        PEOPLE_MASK_TOPIC: encode_image(person_ids, "mono16", stamp_ns, frame_id),
        PARTS_MASK_TOPIC: encode_image(parts, "mono8", stamp_ns, frame_id),
    }
