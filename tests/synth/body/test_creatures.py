"""Bodies of primitives: sides mirror each other, joints lie inside, and a wrong file says what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import mirror_name
from posepipe.errors import FormatError
from synth.body.creatures import Bone, Creature, JointPlace, read_creature
from synth.scene.subjects import Creatures
from tests.support.paths import EXAMPLES

QUADRUPED = EXAMPLES / "quadruped.toml"

STICK = Creature(
    "stick",
    (Bone("stick", (0, 0, 0), (0, 1, 0), (0.1, 0.05), "wood"),),
    {"top": JointPlace("stick", 1.0, ("wood",))},
    scale=(1, 1),
    stoutness=(1, 1),
)


def test_a_stick_is_as_long_and_as_thick_as_its_bone_says():
    drawn = STICK.draw(np.random.default_rng(0))
    low, high = drawn.vertices_m.min(axis=0), drawn.vertices_m.max(axis=0)
    np.testing.assert_allclose(low[1], -0.1, atol=1e-6)  # rounded ends
    np.testing.assert_allclose(high[1], 1.05, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(drawn.vertices_m[:, [0, 2]], axis=1).max(), 0.1, atol=1e-6)
    np.testing.assert_allclose(drawn.joints_m, [[0, 1, 0]], atol=1e-6)


def test_a_capsule_is_closed():
    # every edge belongs to two triangles, but for the poles, whose corners lie on one point
    triangles, labels = STICK.mesh()
    vertices = STICK.draw(np.random.default_rng(0)).vertices_m.round(5)
    _, place = np.unique(vertices, axis=0, return_inverse=True)
    corners = place.ravel()[triangles]
    corners = corners[[len(set(c)) == 3 for c in corners.tolist()]]
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert len(labels) == len(triangles)


def test_left_and_right_mirror_each_other():
    creature = read_creature(QUADRUPED)
    body = creature.body
    rest = {bone.name: bone for bone in creature.bones}
    for bone in creature.bones:
        other = rest[mirror_name(bone.name)]
        assert other.start == pytest.approx((-bone.start[0], *bone.start[1:])) or bone.start[0] == 0
    mirror = body.mirrored_joints()
    assert (mirror[mirror] == np.arange(len(mirror))).all()
    assert sum(mirror != np.arange(len(mirror))) == 8


def test_joints_lie_inside_their_bones_in_every_pose():
    creature = read_creature(QUADRUPED)
    rng = np.random.default_rng(1)
    corners = len(STICK.draw(rng).vertices_m)
    for _ in range(50):
        drawn = creature.draw(rng)
        for joint, place in zip(drawn.joints_m, creature.joints.values(), strict=True):
            bone = [b.name for b in creature.bones].index(place.bone)
            capsule = drawn.vertices_m[bone * corners : (bone + 1) * corners]
            assert (joint >= capsule.min(axis=0) - 1e-4).all()
            assert (joint <= capsule.max(axis=0) + 1e-4).all()


def test_poses_and_sizes_vary_and_one_seed_gives_one_creature():
    creature = read_creature(QUADRUPED)
    one, same, other = (creature.draw(np.random.default_rng(seed)) for seed in (2, 2, 3))
    np.testing.assert_array_equal(one.vertices_m, same.vertices_m)
    assert np.abs(one.joints_m - other.joints_m).max() > 0.02


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = 'x'", "bones"),
        ("name = 'x'\n[[bones]]\nname = 'a'", "missing"),
        (
            "name = 'x'\n[[bones]]\nname='a'\nstart=[0,0]\nend=[0,1,0]\nradius=[1,1]\npart='p'\n[joints]",
            "start wants 3 numbers",
        ),
        (
            "name='x'\n[[bones]]\nname='a'\nparent='b'\nstart=[0,0,0]\nend=[0,1,0]\nradius=[1,1]\npart='p'\n[joints]",
            "bone 'a' has the parent 'b', which is no bone",
        ),
        (
            "name='x'\n[[bones]]\nname='a'\nstart=[0,0,0]\nend=[0,1,0]\nradius=[0,1]\npart='p'\n[joints]",
            "radius must be above 0",
        ),
        (
            "name='x'\n[[bones]]\nname='a'\nstart=[0,0,0]\nend=[0,1,0]\nradius=[1,1]\npart='p'\n[joints]\nj={bone='c'}",
            "no bone",
        ),
        ("not toml", "expected"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text, complaint, tmp_path):
    path = tmp_path / "creature.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"(?i)" + complaint):
        read_creature(path)


def creature(head="name='x'", joint="{bone='a'}", **bone) -> str:
    """A creature of one bone and one joint, with changes."""
    fields = {"name": "'a'", "start": "[0,0,0]", "end": "[0,1,0]", "radius": "[1,1]", "part": "'p'", **bone}
    rows = "\n".join(f"{name} = {value}" for name, value in fields.items())
    return f"{head}\njoints = {{j = {joint}}}\n[[bones]]\n{rows}\n"


HOSTILE = {
    "deep": (f"x = {'[' * 2000}{']' * 2000}", "nested at most 16 deep"),
    "400 digits": (creature(end=f"[{'9' * 400}, 1, 0]"), "bones: wanted an integer of at most 64 bits"),
    "name": (creature("name = 3"), "a creature: name wants text, got 3"),
    "colour": (creature("name = 'x'\ncolour = 3"), "a creature: no field colour; it has name, bones"),
    "bones": ("name = 'x'\nbones = 3\njoints = {}", "bones wants a list of tables"),
    "a bone": ("name = 'x'\nbones = [3]\njoints = {}", "each of bones wants a table, got 3"),
    "no bones": ("name = 'x'\nbones = []\njoints = {}", "at least one of bones"),
    "joints": ("name = 'x'\nbones = []\njoints = [1]", r"joints wants a table, got \[1\]"),
    "no joints": (creature().replace("joints = {j = {bone='a'}}", "joints = {}"), "at least one of bones and one of"),
    "a joint": (creature(joint="3"), "joint 'j' wants a table, got 3"),
    "field of a joint": (creature(joint="{bone='a', colour=3}"), "joint 'j': no field colour"),
    "bone of a joint": (creature(joint="{bone=3}"), "a joint: bone wants text, got 3"),
    "along": (creature(joint="{bone='a', along='x'}"), "along wants a number, none beyond 100, got 'x'"),
    "parts": (creature(joint="{bone='a', parts='p'}"), "parts wants a list of names, got 'p'"),
    "a part of a joint": (creature(joint="{bone='a', parts=[3]}"), "parts wants text, got 3"),
    "parent of a joint": (creature(joint="{bone='a', parent=3}"), "parent wants text, got 3"),
    "circle": (creature(joint="{bone='a', parent='j'}"), "every joint has a parent"),
    "longer circle": (
        creature(joint="{bone='a'}, k = {bone='a', parent='l'}, l = {bone='a', parent='k'}"),
        "the parents of joint 'k' form a circle",
    ),
    "two sides": (
        creature(name="'left_a'", joint="{bone='left_a'}, right_k = {bone='right_a'}, left_k = {bone='left_a'}"),
        "'right_k' and 'left_k': give one of them",
    ),
    "scale": (creature("name = 'x'\nscale = 3"), "scale wants 2 numbers, none beyond 1000, got 3"),
    "negative": (creature("name = 'x'\nscale = [-1, -2]"), r"scale wants \(min, max\) from 0.001"),
    "name of a bone": (creature(name="3"), "a bone: name wants text, got 3"),
    "part of a bone": (creature(part="3"), "bone 'a': part wants text, got 3"),
    "parent of a bone": (creature(parent="3"), "bone 'a': parent wants text, got 3"),
    "bone before its parent": (
        creature(parent="'b'") + "[[bones]]\nname='b'\nstart=[0,0,0]\nend=[0,1,0]\nradius=[1,1]\npart='p'\n",
        "bone 'a' comes before its parent 'b'",
    ),
    "nested": (creature(end="[0, [1], 0]"), "bone 'a': end wants 3 numbers"),
    "text": (creature(end="['x', 1, 0]"), "bone 'a': end wants 3 numbers"),
    "huge": (creature(end="[0, 1e200, 0]"), "bone 'a': end wants 3 numbers, none beyond 100"),
    "turn": (creature(turn_x_deg="[9, -9]"), r"bone 'a': turn_x_deg wants \(min, max\)"),
    "twice": (creature() + "".join(creature().partition("[[bones]]")[1:]), "two bones have the name 'a'"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_wrong_types_and_sizes_name_file_and_field(tmp_path, name):
    text, says = HOSTILE[name]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"mine\.toml: .*{says}"):
        read_creature(path)


def test_the_smallest_creature_is_drawn(tmp_path):
    (tmp_path / "mine.toml").write_text(creature())
    assert len(read_creature(tmp_path / "mine.toml").draw(np.random.default_rng(0)).joints_m) == 1


def test_a_creature_of_one_joint_is_a_subject_without_bones():
    subject = Creatures(STICK).draw(np.random.default_rng(0))
    assert subject.truth is not None
    assert np.isnan(subject.truth.bone_lengths_m).tolist() == [[True]]


def test_more_parts_than_labels_are_refused():
    bones = tuple(replace(STICK.bones[0], name=f"bone {k}", part=f"part {k}") for k in range(254))
    with pytest.raises(ValueError, match="at most 253 parts"):
        replace(STICK, bones=bones, joints={"top": JointPlace("bone 0", 1.0)})
