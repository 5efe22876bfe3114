"""All people of a frame as one ROS 2 message of numbers, for programs that compute with joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.recording.ros.messages import SKELETONS, message_header, typestore
from posepipe.results import Track

SKELETON_TOPICS = {"/posepipe/skeletons": SKELETONS}


def encode_skeletons(people: Sequence[Track], joint_names: Sequence[str], stamp_ns: int, frame_id: str) -> bytes:
    """Serialise the joints of one frame as posepipe_msgs/Skeletons.

    Parameters
    ----------
    people : tracks with joints in camera axes, metres
    joint_names : the skeleton's joints, in its order
    stamp_ns, frame_id : of the depth image

    Returns
    -------
    CDR bytes
    """
    xyz_m = np.full((len(people), len(joint_names), 3), np.nan, np.float32)
    confidence = np.zeros((len(people), len(joint_names)), np.float32)
    for row, track in enumerate(people):
        for column, name in enumerate(joint_names):
            joint = track.pose.joints.get(name)
            if joint is not None:
                xyz_m[row, column], confidence[row, column] = joint.xyz_m, joint.confidence
    message = typestore().types[SKELETONS](
        header=message_header(stamp_ns, frame_id),
        joint_names=list(joint_names),
        person_ids=np.array([track.id for track in people], np.uint32),
        xyz_m=xyz_m.reshape(-1),
        confidence=confidence.reshape(-1),
    )
    return bytes(typestore().serialize_cdr(message, SKELETONS, little_endian=True))
