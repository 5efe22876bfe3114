"""Naive reader of BVH files, after the format's description: Meredith and Maddock, University of Sheffield, 2001.

Word by word, one joint, one channel and one frame at a time. A joint's matrix is its parent's, times its offset (and
position channels), times its rotations in the order in which they are listed.
"""

from __future__ import annotations

import math

import numpy as np


def read_bvh(text):
    """Joint names, their parents' names, frame time in seconds, and where every joint is: (T, J, 3), file units."""
    words = text.split()
    joints, open_joints, at = [], [], 1
    assert words[0] == "HIERARCHY"
    while words[at] != "MOTION":
        word = words[at]
        if word in ("ROOT", "JOINT", "End"):
            name = None if word == "End" else words[at + 1]
            assert (word == "ROOT") == (not joints)
            joints.append({"name": name, "parent": open_joints[-1] if open_joints else None, "channels": []})
            at += 2
        elif word == "{":
            open_joints.append(joints[-1])
            at += 1
        elif word == "}":
            open_joints.pop()
            at += 1
        elif word == "OFFSET":
            open_joints[-1]["offset"] = [float(number) for number in words[at + 1 : at + 4]]
            at += 4
        elif word == "CHANNELS":
            count = int(words[at + 1])
            open_joints[-1]["channels"] = words[at + 2 : at + 2 + count]
            at += 2 + count
        else:
            raise AssertionError(word)
    assert not open_joints
    assert words[at + 1] == "Frames:"
    frames = int(words[at + 2])
    assert words[at + 3 : at + 5] == ["Frame", "Time:"]
    frame_s = float(words[at + 5])
    numbers = [float(word) for word in words[at + 6 :]]
    channels = sum(len(joint["channels"]) for joint in joints)
    assert len(numbers) == frames * channels
    rows = [numbers[i * channels : (i + 1) * channels] for i in range(frames)]
    named = [joint for joint in joints if joint["name"]]
    places = np.array([_places(joints, row) for row in rows])
    parents = [joint["parent"] and joint["parent"]["name"] for joint in named]
    return [joint["name"] for joint in named], parents, frame_s, places


def _places(joints, row):
    row, places = iter(row), []
    for joint in joints:
        matrix = np.eye(4) if joint["parent"] is None else joint["parent"]["matrix"]
        matrix = matrix @ _translation(joint["offset"])
        for channel in joint["channels"]:
            axis, value = "XYZ".index(channel[0]), next(row)
            if channel.endswith("position"):
                matrix = matrix @ _translation([value if i == axis else 0 for i in range(3)])
            else:
                matrix = matrix @ _rotation(axis, math.radians(value))
        joint["matrix"] = matrix
        if joint["name"]:
            places.append(matrix[:3, 3])
    return places


def _translation(offset):
    matrix = np.eye(4)
    matrix[:3, 3] = offset
    return matrix


def _rotation(axis, angle):
    one, two = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(4)
    matrix[one, one] = matrix[two, two] = math.cos(angle)
    matrix[one, two], matrix[two, one] = -math.sin(angle), math.sin(angle)
    return matrix
