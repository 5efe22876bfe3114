"""The body of the Point Cloud Library's people detector: 25 parts, mapped to the 20 joints of our own body.

Names and order of the parts are those of the library's label list (pcl/gpu/people, BSD-3-Clause, see
docs/reference/interchange.md): Lfoot, Lleg, Lknee, Lthigh, and so on.
"""

from __future__ import annotations

from posepipe.body import HUMAN, BodyDefinition, mirror_name


def _limb(side: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for name in names)


_ARM, _LEG = ("arm", "elbow", "forearm", "hand"), ("foot", "leg", "knee", "thigh")
_JOINTS_OF_LEFT_PARTS = ("elbow", "hand", "knee", "foot")

PCL_BODY = BodyDefinition(
    name="pcl-human",
    parts=(
        *_limb("left", *_LEG),
        *_limb("right", *_LEG),
        *("right_hips", "left_hips", "neck"),
        *_limb("right", *_ARM),
        *_limb("left", *_ARM),
        *("left_lower_head", "right_lower_head", "left_upper_head", "right_upper_head"),
        *("right_chest", "left_chest"),
    ),
    joints=HUMAN.joints,
    joint_parts={
        "head": ("left_lower_head", "right_lower_head", "left_upper_head", "right_upper_head"),
        "neck": ("neck",),
        **{name: (name,) for side in ("left", "right") for name in _limb(side, *_JOINTS_OF_LEFT_PARTS)},
    },
    parents=dict(HUMAN.parents),
)
"""Part k has the library's label k - 1."""

_LEFT_PLACES: dict[str, tuple[str, ...]] = {
    "left_leg": ("left_knee", "left_ankle"),
    "left_thigh": ("left_hip", "left_knee"),
    "left_hips": ("left_hip", "pelvis"),
    "left_arm": ("left_shoulder", "left_elbow"),
    "left_forearm": ("left_elbow", "left_wrist"),
    "left_chest": ("left_shoulder", "torso"),
}
PART_PLACES = _LEFT_PLACES | {
    mirror_name(part): tuple(mirror_name(joint) for joint in joints) for part, joints in _LEFT_PLACES.items()
}
"""Parts that no joint owns, and the joints that each lies between."""
