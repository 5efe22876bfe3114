"""Bodies of primitives: sides mirror each other, joints lie inside, and a wrong file says what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import mirror_name
from posepipe.errors import FormatError
from synth.body.creatures import Bone, Creature, JointPlace, read_creature
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
            "before its parent",
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


def test_more_parts_than_labels_are_refused():
    bones = tuple(replace(STICK.bones[0], name=f"bone {k}", part=f"part {k}") for k in range(254))
    with pytest.raises(ValueError, match="at most 253 parts"):
        replace(STICK, bones=bones, joints={"top": JointPlace("bone 0", 1.0)})
