"""From a captured skeleton to rotations of our 20 posed bones.

Rigs differ in rest pose, bone axes and number of bones. For each bone of ours a constant rotation K transforms our rest
pose into the pose in which the captured person stands (`synth.motion.mocap.stance`). The rotation of the source's joint
since that pose, in our axes, is applied after it:

    rotation(t) = since(t) K,    since(t) = W G(t) inverse(S) inverse(A)

G(t) and S are the joint's global rotations in the frame and in the standing pose. A and W are the rotations from the
source's axes to ours. K depends on the bone:

- Arms and legs: K rotates our rest direction, from a joint to the next, into the source's. Down a limb each K adds the
  shortest rotation to the K before it, so that there is no twist between upper arm and forearm.
- Trunk, neck and head: people stand straight in both. K is the identity if the source stands at rest. In a frame that
  replaces the rest pose, K is the lean from hips to neck, with the direction of hips and shoulders.
- Feet are flat on the floor at rest; K is the rotation about the vertical that toes show. In a frame that replaces the
  rest pose, K rotates our foot's direction into the source's.

The directions of limbs are therefore those of the source in every frame. Twist about a limb's own axis is that of the
source since the standing pose. The twist in that pose itself (palms, elbow hinges) is unknown; CMU's elbows differ by
about 30 degrees. A source without collar bones gets them as the embedded bank does (`synth.tools.build_pose_bank`).
Spines of any number of bones are distributed over our three.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from synth.body.skinning import POSED_BONES, rotation_matrices
from synth.geometry.quaternions import from_rotation_vector, inverse, multiply, slerp
from synth.motion.mocap.bone_maps import MappedBones
from synth.motion.mocap.capture import Capture
from synth.motion.mocap.mean_body import mean_body
from synth.motion.mocap.stance import Stance, shortest_rotation, trunk
from synth.motion.poses.pose_variation import without_heading

CLAVICLE_FREE_RAD = np.radians(45)
CLAVICLE_SHARE = 0.3
"""Share of an arm's elevation beyond CLAVICLE_FREE_RAD that the collar bone takes. A real collar bone rises by about 30
degrees until the arm points up; a source without one keeps its shoulders fixed to the chest."""

SPINE = ("spine_01", "spine_02", "spine_03")
NECK = ("neck_01", "head")
MIN_LEVEL_SHARE = 0.5
"""Minimum share of a foot's length that is level. Steeper feet have no direction (end sites that point down)."""


def retarget(capture: Capture, bones: MappedBones, stance: Stance) -> np.ndarray:
    """Compute the rotations of our bones in every frame, without heading.

    Returns
    -------
    float32 (T, 20, 4)
        Global, quaternions xyzw in the order of POSED_BONES.
    """
    since = _since_stance(capture, stance)
    joint = {bone: since[:, row] for bone, row in bones.joints.items()}
    spine, neck = (since[:, bones.chains[chain]] for chain in ("spine", "neck"))
    ours = {"pelvis": multiply(joint["pelvis"], _trunk_turn(bones, stance, "thigh"))}
    chest_turn = _trunk_turn(bones, stance, "upperarm")
    ours |= _spread(ours["pelvis"], multiply(spine, chest_turn), SPINE)
    ours |= _spread(ours["spine_03"], neck, NECK)
    for side in "lr":
        arm, leg = _arm_turns(bones, stance, side), _leg_turns(bones, stance, side)
        for bone, turn in zip((f"{b}_{side}" for b in ("upperarm", "lowerarm", "hand")), arm, strict=True):
            ours[bone] = multiply(joint[bone], turn)
        for bone, turn in zip((f"{b}_{side}" for b in ("thigh", "calf", "foot")), leg, strict=True):
            ours[bone] = multiply(joint[bone], turn)
        collar = f"clavicle_{side}"
        ours[collar] = multiply(joint[collar], chest_turn) if collar in joint else _lifted_collar(ours, side)
    return without_heading(np.stack([ours[bone] for bone in POSED_BONES], axis=1))


def _since_stance(capture: Capture, stance: Stance) -> np.ndarray:
    """Rotation of each joint since the standing pose, in our axes: (T, J, 4)."""
    since = multiply(capture.rotations, inverse(stance.rotations))
    return multiply(multiply(stance.world_to_ours, since), inverse(stance.to_ours))


def _trunk_turn(bones: MappedBones, stance: Stance, pair: str) -> np.ndarray:
    """K of pelvis or chest: upright as the trunk, with the direction of a pair of joints, hips or shoulders."""
    if stance.at_rest:
        return np.array([0.0, 0.0, 0.0, 1.0])
    up = trunk(stance.places, bones)
    up /= np.linalg.norm(up)
    across = stance.places[bones.joints[f"{pair}_l"]] - stance.places[bones.joints[f"{pair}_r"]]
    left = across - (across @ up) * up
    left /= np.linalg.norm(left)
    return Rotation.from_matrix(np.stack([left, up, np.cross(left, up)], axis=1)).as_quat()


def _spread(base: np.ndarray, links: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Our bones along a chain of links (T, L, 4), at even distances; our last bone moves with the last link."""
    nodes = [base, *np.moveaxis(links, 1, 0)]
    spread = {}
    for count, name in enumerate(names, 1):
        link, share = divmod(count * links.shape[1] / len(names), 1)
        lower = nodes[int(link)]
        spread[name] = slerp(lower, nodes[int(link) + 1], share) if share > 1e-9 else lower
    return spread


def _arm_turns(bones: MappedBones, stance: Stance, side: str) -> list[np.ndarray]:
    """K of upper arm, forearm and hand; without fingers, the hand continues the forearm."""
    heads_m = mean_body().heads_m
    chain = [f"{bone}_{side}" for bone in ("upperarm", "lowerarm", "hand")]
    places = [stance.places[bones.joints[bone]] for bone in chain]
    ours = np.diff([heads_m[bone] for bone in (*chain, f"middle_01_{side}")], axis=0)
    upper_arm, forearm = np.diff(places, axis=0)
    palm = forearm
    if f"fingers_{side}" in bones.joints:
        to_fingers = stance.places[bones.joints[f"fingers_{side}"]] - places[2]
        palm = to_fingers if np.linalg.norm(to_fingers) > 0.01 * np.linalg.norm(forearm) else forearm
    return _chain_turns(ours, np.stack([upper_arm, forearm, palm]))


def _leg_turns(bones: MappedBones, stance: Stance, side: str) -> list[np.ndarray]:
    """K of thigh, lower leg and foot."""
    heads_m = mean_body().heads_m
    chain = [f"{bone}_{side}" for bone in ("thigh", "calf", "foot")]
    places = [stance.places[bones.joints[bone]] for bone in chain]
    turns = _chain_turns(np.diff([heads_m[bone] for bone in chain], axis=0), np.diff(places, axis=0))
    foot_turn = np.array([0.0, 0.0, 0.0, 1.0])
    if f"toes_{side}" in bones.joints:
        ours = heads_m[f"ball_{side}"] - heads_m[chain[2]]
        theirs = stance.places[bones.joints[f"toes_{side}"]] - places[2]
        if np.linalg.norm(theirs * [1, 0, 1]) > MIN_LEVEL_SHARE * np.linalg.norm(theirs):
            kept = np.array([1, 0, 1]) if stance.at_rest else np.ones(3)
            foot_turn = shortest_rotation(ours * kept, theirs * kept)
    return [*turns, foot_turn]


def _chain_turns(ours: np.ndarray, theirs: np.ndarray) -> list[np.ndarray]:
    """Rotations of a chain's directions into others, both (N, 3), each the shortest after the one before it."""
    turns, turn = [], np.array([0.0, 0.0, 0.0, 1.0])
    for direction, wanted in zip(ours, theirs, strict=True):
        turn = multiply(shortest_rotation(rotation_matrices(turn) @ direction, wanted), turn)
        turns.append(turn)
    return turns


def _lifted_collar(ours: dict[str, np.ndarray], side: str) -> np.ndarray:
    """A collar bone that rises, relative to the chest, with an arm that is lifted beyond CLAVICLE_FREE_RAD."""
    heads_m = mean_body().heads_m
    arm_m = heads_m[f"lowerarm_{side}"] - heads_m[f"upperarm_{side}"]
    held = rotation_matrices(multiply(inverse(ours["spine_03"]), ours[f"upperarm_{side}"]))
    arm = held @ (arm_m / np.linalg.norm(arm_m))
    axis = np.cross([0, -1, 0], arm)
    sine = np.linalg.norm(axis, axis=1)
    elevation_rad = np.arctan2(sine, -arm[:, 1])
    lift_rad = CLAVICLE_SHARE * np.clip(elevation_rad - CLAVICLE_FREE_RAD, 0, np.pi / 2)
    return multiply(ours["spine_03"], from_rotation_vector(axis * (lift_rad / np.maximum(sine, 1e-9))[:, None]))
