"""Write our poses as motion capture of other systems: other names, rest poses, axes, units and channel orders.

Nothing here calls the readers under test. A source skeleton is our mean rig in another rest pose; files hold rotations
from that pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.skinning import POSED_BONES

PARENTS = {"pelvis": None, "spine_01": "pelvis", "spine_02": "spine_01", "spine_03": "spine_02"}
PARENTS |= {"neck_01": "spine_03", "head": "neck_01", "crown": "head"}
for _side in "lr":
    _arm = [f"{bone}_{_side}" for bone in ("clavicle", "upperarm", "lowerarm", "hand", "middle_01")]
    _leg = [f"{bone}_{_side}" for bone in ("thigh", "calf", "foot", "ball")]
    PARENTS |= dict(zip(_arm, ["spine_03", *_arm], strict=False)) | dict(zip(_leg, ["pelvis", *_leg], strict=False))

UNREAL = {bone: bone for bone in PARENTS} | {"crown": "head end"}
MIXAMO = {"pelvis": "Hips", "spine_01": "Spine", "spine_02": "Spine1", "spine_03": "Spine2", "neck_01": "Neck"}
CMU = {"pelvis": "root", "spine_01": "lowerback", "spine_02": "upperback", "spine_03": "thorax", "neck_01": "upperneck"}
MIXAMO |= {"head": "Head", "crown": "HeadTop_End"}
CMU |= {"head": "head", "crown": "head end"}
_LIMBS = {
    "clavicle": ("Shoulder", "clavicle"),
    "upperarm": ("Arm", "humerus"),
    "lowerarm": ("ForeArm", "radius"),
    "hand": ("Hand", "hand"),
    "middle_01": ("HandMiddle1", "fingers"),
    "thigh": ("UpLeg", "femur"),
    "calf": ("Leg", "tibia"),
    "foot": ("Foot", "foot"),
    "ball": ("ToeBase", "toes"),
}
for _side, _word in (("l", "Left"), ("r", "Right")):
    for _bone, (_mixamo, _cmu) in _LIMBS.items():
        MIXAMO[f"{_bone}_{_side}"] = _word + _mixamo
        CMU[f"{_bone}_{_side}"] = _side + _cmu

T_POSE = {"upperarm": (1, 0, 0), "lowerarm": (1, 0, 0), "hand": (1, 0, 0), "thigh": (0, -1, 0), "calf": (0, -1, 0)}
SPREAD_T_POSE = T_POSE | {"thigh": (0.342, -0.94, 0), "calf": (0.342, -0.94, 0)}  # as CMU's legs
HANGING = T_POSE | {"upperarm": (0.05, -1, 0), "lowerarm": (0.05, -1, 0), "hand": (0.05, -1, 0)}
_TIPS = {"upperarm": "lowerarm", "lowerarm": "hand", "hand": "middle_01", "thigh": "calf", "calf": "foot"}


def bone_starts():
    """Where each bone of the mean rig begins at rest, by name, metres; ``crown`` is the head's tip."""
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    starts = {bone: rest.bone_heads_m[asset.bone(bone)].astype(float) for bone in PARENTS if bone != "crown"}
    return starts | {"crown": rest.bone_tails_m[asset.bone("head")].astype(float)}


def _rest_turns(directions):
    """Turn of each bone from our rest into the source's: limbs along ``directions``, the left side's."""
    starts = bone_starts()
    turns = {bone: Rotation.identity() for bone in PARENTS}
    for side, mirror in (("l", 1), ("r", -1)):
        for chain in (("upperarm", "lowerarm", "hand"), ("thigh", "calf")):
            turn = Rotation.identity()
            for bone in chain:
                if bone not in directions:
                    continue
                now = turn.apply(starts[f"{_TIPS[bone]}_{side}"] - starts[f"{bone}_{side}"])
                wanted = np.array(directions[bone], float) * [mirror, 1, 1]
                turn = Rotation.align_vectors([wanted], [now])[0] * turn
                turns[f"{bone}_{side}"] = turn
        turns[f"middle_01_{side}"], turns[f"ball_{side}"] = turns[f"hand_{side}"], turns[f"foot_{side}"]
    return turns


@dataclass
class SourceSkeleton:
    """The skeleton of another system for the same person."""

    names: dict[str, str]
    rest: dict[str, tuple] = field(default_factory=lambda: dict(T_POSE))  #: directions of limbs, left side, our axes
    axes: Rotation = field(default_factory=Rotation.identity)  #: our axes to the file's
    unit: float = 100.0  #: file units a metre
    left_out: tuple[str, ...] = ()  #: bones that this skeleton does not have

    @property
    def bones(self):
        return [bone for bone in PARENTS if bone not in self.left_out]

    def parent(self, bone):
        parent = PARENTS[bone]
        while parent in self.left_out:
            parent = PARENTS[parent]
        return parent

    def offsets(self):
        """From the parent's joint, in the source's rest pose, file axes and units."""
        starts, turns = bone_starts(), _rest_turns(self.rest)
        placed = {"pelvis": starts["pelvis"]}
        for bone, parent in PARENTS.items():
            if parent is not None:
                placed[bone] = placed[parent] + turns[parent].apply(starts[bone] - starts[parent])
        placed = {bone: self.axes.apply(place) * self.unit for bone, place in placed.items()}
        return {bone: placed[bone] - (placed[self.parent(bone)] if self.parent(bone) else 0) for bone in self.bones}

    def rotations(self, poses):
        """Global rotations from the source's rest, in file axes, by bone; ``poses`` (T, 20, 4) of ours."""
        turns = _rest_turns(self.rest)
        rotations = {}
        for bone in self.bones:
            posed = bone if bone in POSED_BONES else PARENTS[bone]
            ours = Rotation.from_quat(poses[:, POSED_BONES.index(posed)])
            rotations[bone] = self.axes * ours * turns[posed].inv() * self.axes.inv()
        return rotations


def bvh_text(source, poses, order="ZXY", fps=10.0, own_axes=None, positions=("pelvis",)):
    """A BVH file. ``own_axes``: rotation of each bone's own axes, by bone; then its rest pose is no possible pose."""
    offsets, rotations = source.offsets(), source.rotations(poses)
    own = {bone: (own_axes or {}).get(bone, Rotation.identity()) for bone in source.bones}
    lines, columns = ["HIERARCHY"], []

    def write(bone, depth):
        parent, pad = source.parent(bone), "\t" * depth
        offset = offsets[bone] if parent is None else own[parent].inv().apply(offsets[bone])
        numbers = " ".join(f"{value:.6f}" for value in offset)
        children = [child for child in source.bones if source.parent(child) == bone]
        if bone == "crown":
            lines.extend([f"{pad}End Site", pad + "{", f"{pad}\tOFFSET {numbers}", pad + "}"])
            return
        lines.extend([f"{pad}{'JOINT' if parent else 'ROOT'} {source.names[bone]}", pad + "{"])
        lines.append(f"{pad}\tOFFSET {numbers}")
        places = ["Xposition", "Yposition", "Zposition"] if bone in positions else []
        channels = places + [f"{axis}rotation" for axis in order]
        lines.append(f"{pad}\tCHANNELS {len(channels)} {' '.join(channels)}")
        local = rotations[bone] * own[bone]
        if parent is not None:
            local = (rotations[parent] * own[parent]).inv() * local
        columns.extend([np.tile(offsets[bone], (len(poses), 1))] if places else [])
        columns.append(local.as_euler(order, degrees=True))
        for child in children:
            write(child, depth + 1)
        if not children:
            lines.append(f"{pad}\tEnd Site {{ OFFSET 0 0 0 }}")
        lines.append(pad + "}")

    write("pelvis", 0)
    lines += ["MOTION", f"Frames: {len(poses)}", f"Frame Time: {1 / fps:.6f}"]
    lines += [" ".join(f"{value:.6f}" for value in row) for row in np.concatenate(columns, axis=1)]
    return "\n".join(lines) + "\n"


def asf_amc_text(source, poses, axes_of=None, dof="rx ry rz", each=12):
    """Acclaim's skeleton and motion. ``axes_of``: Euler angles of a bone's own axes, degrees; ``each``: frames a pose.

    Bones begin where the one before ends: links that do not move lead to those that begin elsewhere.
    """
    offsets, rotations = source.offsets(), source.rotations(poses)
    axes_of, lines, tree, frames = axes_of or {}, [":bonedata"], [], []
    tips = {}
    for bone in source.bones:
        children = [child for child in source.bones if source.parent(child) == bone]
        tips[bone] = offsets[children[0]] if children and bone != "pelvis" else np.zeros(3)

    def describe(name, tip, angles=(0, 0, 0), moves=False):
        length = np.linalg.norm(tip)
        direction = tip / length if length else np.array([1.0, 0, 0])
        lines.extend(["  begin", f"    id {len(tree) + 1}", f"    name {name}"])
        lines.append(f"    direction {' '.join(f'{value:.9f}' for value in direction)}")
        lines.extend([f"    length {length:.9f}", f"    axis {' '.join(map(str, angles))}  XYZ"])
        if moves:
            lines.extend([f"    dof {dof}", "    limits (-180.0 180.0)", *["           (-180.0 180.0)"] * 2])
        lines.append("  end")

    order = dof.replace("r", "").replace(" ", "")
    for bone in source.bones:
        parent, name = source.parent(bone), source.names[bone]
        if parent is None:
            frames.append(("root", rotations[bone].as_euler("xyz", degrees=True)))
            continue
        if name.endswith(" end"):
            continue
        above, gap = source.names[parent], offsets[bone] - tips[parent]
        if np.linalg.norm(gap) > 1e-9:
            describe(f"to_{name}", gap)
            tree.append((above, f"to_{name}"))
            above = f"to_{name}"
        own = Rotation.from_euler("xyz", axes_of.get(bone, (0, 0, 0)), degrees=True)
        describe(name, tips[bone], axes_of.get(bone, (0, 0, 0)), moves=bone in POSED_BONES)
        tree.append((above, name))
        if bone in POSED_BONES:
            local = own.inv() * rotations[parent].inv() * rotations[bone] * own
            frames.append((name, local.as_euler(order, degrees=True)))
    head = "# made by hand\n:version 1.10\n:name NOBODY\n:units\n  mass 1.0\n  length 0.45\n  angle deg\n"
    head += ":documentation\n   begin with nothing\n:root\n   order TX TY TZ RX RY RZ\n   axis XYZ\n"
    head += "   position 0 0 0\n   orientation 0 0 0\n"
    hierarchy = [":hierarchy", "  begin", *(f"    {above} {name}" for above, name in tree), "  end"]
    motion = ["#!OML:ASF nobody", ":FULLY-SPECIFIED", ":DEGREES"]
    for frame in range((len(poses) - 1) * each + 1):  # frames between poses are not sampled
        motion.append(str(frame + 1))
        for name, angles in frames:
            values = angles[frame // each] if frame % each == 0 else np.zeros(3)
            motion.append(" ".join([name, *(["1", "2", "3"] if name == "root" else []), *(f"{v:.6f}" for v in values)]))
    return head + "\n".join([*lines, *hierarchy]) + "\n", "\n".join(motion) + "\n"
