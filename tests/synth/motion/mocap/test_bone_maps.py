"""Bone maps: each finds the skeletons it was written for, and what is said where none does."""

import pytest

from posepipe.errors import FormatError
from synth.motion.mocap.bone_maps import (
    CHAINS,
    NEEDED,
    OPTIONAL,
    choose_bones,
    plain_names,
    read_bone_map,
    shipped_bone_maps,
)

MAPS = shipped_bone_maps()
SKELETONS = {  # joints as these sources name them, the root first
    "cmu_asf": """root lhipjoint lfemur ltibia lfoot ltoes rhipjoint rfemur rtibia rfoot rtoes lowerback upperback
        thorax lowerneck upperneck head lclavicle lhumerus lradius lwrist lhand lfingers lthumb rclavicle rhumerus
        rradius rwrist rhand rfingers rthumb""",
    "motionbuilder": """Hips LHipJoint LeftUpLeg LeftLeg LeftFoot LeftToeBase RHipJoint RightUpLeg RightLeg RightFoot
        RightToeBase LowerBack Spine Spine1 Neck Neck1 Head LeftShoulder LeftArm LeftForeArm LeftHand LeftFingerBase
        LeftHandIndex1 LThumb RightShoulder RightArm RightForeArm RightHand RightFingerBase RightHandIndex1 RThumb""",
    "biovision": """Hips LeftUpLeg LeftLowLeg LeftFoot RightUpLeg RightLowLeg RightFoot Chest Neck Head LeftCollar
        LeftUpArm LeftLowArm LeftHand RightCollar RightUpArm RightLowArm RightHand""",
    "by_joint": """Hips Chest Chest2 Chest3 Chest4 Neck Head RightCollar RightShoulder RightElbow RightWrist LeftCollar
        LeftShoulder LeftElbow LeftWrist RightHip RightKnee RightAnkle RightToe LeftHip LeftKnee LeftAnkle LeftToe""",
    "poser": """hip abdomen chest neck head leftEye rCollar rShldr rForeArm rHand rThumb1 rMid1 lCollar lShldr lForeArm
        lHand lMid1 rButtock rThigh rShin rFoot lButtock lThigh lShin lFoot""",
    "unreal": """root pelvis spine_01 spine_02 spine_03 neck_01 head clavicle_l upperarm_l lowerarm_l hand_l middle_01_l
        clavicle_r upperarm_r lowerarm_r hand_r thigh_l calf_l foot_l ball_l thigh_r calf_r foot_r ball_r""",
    "rokoko": """Hips Spine1 Spine3 Spine4 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand RightShoulder RightArm
        RightForeArm RightHand LeftThigh LeftShin LeftFoot LeftToe RightThigh RightShin RightFoot RightToe""",
    "bandai_namco": """joint_Root Hips Spine Chest Neck Head Shoulder_L UpperArm_L LowerArm_L Hand_L Shoulder_R
        UpperArm_R LowerArm_R Hand_R UpperLeg_L LowerLeg_L Foot_L Toes_L UpperLeg_R LowerLeg_R Foot_R Toes_R""",
    "mocapnet": """hip abdomen chest neck neck1 head jaw rcollar rshoulder relbow rhand metacarpal1.r finger3-1.r rthumb
        lcollar lshoulder lelbow lhand metacarpal1.l finger3-1.l rbuttock rhip rknee rfoot toe1-1.r lbuttock lhip lknee
        lfoot toe1-1.l""",
}


def taken(bones, names):
    return {bone: names[row] for bone, row in bones.joints.items()}


@pytest.mark.parametrize("source", SKELETONS)
def test_known_sources_find_their_map(tmp_path, source):
    names = SKELETONS[source].split()
    bones = choose_bones(tmp_path, names, MAPS)
    own = next(bone_map for bone_map in MAPS if bone_map.name == source)
    assert all(joint in own.joints[bone] for bone, joint in taken(bones, names).items())


@pytest.mark.parametrize("bone_map", MAPS, ids=lambda bone_map: bone_map.name)
def test_a_map_is_chosen_for_its_own_names(tmp_path, bone_map):
    names = [name for joints in bone_map.joints.values() for name in joints]
    bones = choose_bones(tmp_path, names, MAPS)
    assert taken(bones, names) == {bone: joints[0] for bone, joints in bone_map.joints.items() if bone not in CHAINS}
    assert [names[row] for row in bones.chains["spine"]] == list(bone_map.joints["spine"])


@pytest.mark.parametrize("bone_map", MAPS, ids=lambda bone_map: bone_map.name)
def test_left_and_right_are_named_alike(bone_map):
    swaps = {"left": "right", "l": "r", "L": "R", "Left": "Right"}
    for bone, joints in bone_map.joints.items():
        if bone.endswith("_l"):
            mirrored = bone_map.joints[bone[:-1] + "r"]
            assert len(mirrored) == len(joints)
            for left, right in zip(joints, mirrored, strict=True):
                assert any(left.replace(a, b, 1) == right or left[:-1] + b == right for a, b in swaps.items())


def test_the_cmu_database_is_mapped_joint_by_joint(tmp_path):
    names = SKELETONS["cmu_asf"].split()
    bones = choose_bones(tmp_path, names, MAPS)
    assert [names[row] for row in bones.chains["neck"]] == ["lowerneck", "upperneck", "head"]
    joints = taken(bones, names)
    assert (joints["pelvis"], joints["hand_l"], joints["toes_r"]) == ("root", "lhand", "rtoes")


def test_prefix_namespace_case_and_separators_do_not_matter(tmp_path):
    biped = (
        "Pelvis|Spine|Spine1|Neck|Head|L Clavicle|L UpperArm|L Forearm|L Hand|R Clavicle|R UpperArm|R Forearm|R Hand"
    )
    biped += "|L Thigh|L Calf|L Foot|L Toe0|R Thigh|R Calf|R Foot|R Toe0"
    spellings = [
        ["Bip01", *(f"Bip01 {name}" for name in biped.split("|"))],
        ["Hips", *(f"Bip001_{name.replace(' ', '_')}" for name in biped.split("|"))],
        ["ME:Bip01", *(f"ME:Bip01-{name.lower()}" for name in biped.split("|"))],
    ]
    chosen = [choose_bones(tmp_path, names, MAPS) for names in spellings]
    assert chosen[0] == chosen[1] == chosen[2]
    assert spellings[0][chosen[0].joints["calf_r"]] == "Bip01 R Calf"
    mixamo = [f"mixamorig:{name}" for name in SKELETONS["motionbuilder"].split()]
    assert choose_bones(tmp_path, mixamo, MAPS) == choose_bones(tmp_path, SKELETONS["motionbuilder"].split(), MAPS)


def test_a_prefix_ends_with_a_separator():
    assert plain_names(["root", "LeftArm", "LeftHand"]) == ["root", "leftarm", "lefthand"]
    assert plain_names(["root", "a b_c", "a b_d"]) == ["root", "c", "d"]
    assert plain_names(["alone"]) == ["alone"]


def test_without_a_fitting_map_the_error_names_bones_and_joints(tmp_path):
    names = [name for name in SKELETONS["cmu_asf"].split() if name not in ("ltibia", "rhand")]
    with pytest.raises(FormatError) as caught:
        choose_bones(tmp_path / "dog.bvh", names, MAPS)
    said = str(caught.value)
    assert "dog.bvh" in said
    assert "the nearest, cmu_asf, misses calf_l (ltibia), hand_r (rhand);" in said
    assert "the joints are root, lhipjoint, lfemur" in said
    assert "--bone-map" in said
    assert "docs/reference/formats.md" in said


def own_map(**changes):
    fields = {bone: f'"{bone.upper()}"' for bone in NEEDED} | changes
    return "".join(f"{bone} = {names}\n" for bone, names in fields.items() if names is not None)


def test_a_map_of_one_s_own(tmp_path):
    path = tmp_path / "dog.toml"
    path.write_text(own_map(hand_l='["PAW", "HAND_L"]', spine='["LOW", "HIGH"]', toes_l='"TOES"', up='"z"'))
    names = ["x", "HIGH", "LOW", "hand l", *(bone for bone in NEEDED if bone != "spine")]
    bones = choose_bones(path, names, [read_bone_map(path)])
    assert [names[row] for row in bones.chains["spine"]] == ["LOW", "HIGH"]
    assert names[bones.joints["hand_l"]] == "hand l"
    assert not set(OPTIONAL) & set(bones.joints)
    assert bones.up == "z"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pelvis = ", "cannot read it"),
        (own_map(tail='"Tail"'), "no bone tail"),
        (own_map(calf_r=None), "lacks calf_r"),
        (own_map(calf_r="3"), "calf_r: wanted the name"),
        (own_map(calf_r="[]"), "calf_r: wanted the name"),
        (own_map(up='"up"'), "up: wanted one of x, y, z"),
        (f"x = {'[' * 2000}{']' * 2000}", "nested at most 16 deep"),
        (f"thigh_l = {'9' * 5000}", "cannot read it"),
    ],
)
def test_a_broken_map_is_one_line(tmp_path, text, said):
    path = tmp_path / "map.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"map\.toml: .*{said}"):
        read_bone_map(path)
