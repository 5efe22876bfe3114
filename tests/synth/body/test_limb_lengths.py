"""Limb lengths: what a factor changes of a person, and what it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import RestBody, rest_body, sample_body
from synth.body.limb_lengths import LIMBS, LimbScales, scale_limbs
from synth.body.skinning import POSED_BONES, pose_joints

ASSET = load_body_asset()


@pytest.fixture(scope="module")
def person() -> RestBody:
    return sample_body(ASSET, np.random.default_rng(3))


def bone_m(body: RestBody, start: str, end: str) -> float:
    return float(np.linalg.norm(body.bone_heads_m[ASSET.bone(start)] - body.bone_heads_m[ASSET.bone(end)]))


def skin_of(bone: str) -> np.ndarray:
    """Vertices that one bone alone moves."""
    return np.flatnonzero((ASSET.weight_bones[:, 0] == ASSET.bone(bone)) & (ASSET.weights[:, 0] > 0.999))


@pytest.mark.parametrize("limb", range(len(LIMBS)))
def test_each_bone_is_as_much_longer_as_its_factor(person, limb):
    (upper, lower, end), side = LIMBS[limb]
    scaled = scale_limbs(ASSET, person, LimbScales(1.2, 0.9, 1.1, 0.8))
    factors = (1.2, 0.9) if upper == "upperarm" else (1.1, 0.8)
    for start, stop, factor in zip((upper, lower), (lower, end), factors, strict=True):
        bone = f"{start}_{side}", f"{stop}_{side}"
        assert bone_m(scaled, *bone) == pytest.approx(factor * bone_m(person, *bone), rel=1e-5)


def test_hands_feet_head_and_trunk_keep_their_size(person):
    scaled = scale_limbs(ASSET, person, LimbScales(1.3, 1.3, 1.3, 1.3))
    for bone in ("hand_l", "middle_03_r", "foot_r", "head"):
        rows = skin_of(bone)
        assert len(rows) > 10
        moved = scaled.vertices_m[rows] - person.vertices_m[rows]
        assert np.ptp(moved, axis=0).max() < 1e-5  # as a whole


def test_a_longer_forearm_is_no_thicker(person):
    scaled = scale_limbs(ASSET, person, LimbScales(forearm=1.3))
    rows = skin_of("lowerarm_l")
    assert radius_m(scaled, rows) == pytest.approx(radius_m(person, rows), abs=1e-4)


def radius_m(body: RestBody, rows: np.ndarray) -> np.ndarray:
    """Distance of skin from the line of the left forearm."""
    elbow, wrist = body.bone_heads_m[ASSET.bone("lowerarm_l")], body.bone_heads_m[ASSET.bone("hand_l")]
    along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    from_elbow = body.vertices_m[rows] - elbow
    return np.linalg.norm(from_elbow - (from_elbow @ along)[:, None] * along, axis=1)


def test_longer_legs_make_a_taller_person_on_the_floor(person):
    scaled = scale_limbs(ASSET, person, LimbScales(thigh=1.1, shank=1.1))
    leg_m = person.bone_heads_m[ASSET.bone("thigh_l"), 1] - person.bone_heads_m[ASSET.bone("foot_l"), 1]
    assert scaled.vertices_m[:, 1].min() == pytest.approx(0, abs=1e-6)
    assert scaled.height_m == pytest.approx(scaled.vertices_m[:, 1].max())
    assert scaled.height_m == pytest.approx(person.height_m + 0.1 * leg_m, abs=2e-3)


def test_factors_of_one_change_nothing(person):
    same = scale_limbs(ASSET, person, LimbScales())
    np.testing.assert_allclose(same.vertices_m, person.vertices_m, atol=1e-7)
    assert same.height_m == pytest.approx(person.height_m)


def test_posed_joints_are_those_of_the_longer_limb(person):
    turns = np.tile([0.0, 0, 0, 1], (len(POSED_BONES), 1))
    bodies = person, scale_limbs(ASSET, person, LimbScales(upper_arm=1.2))
    usual, longer = (pose_joints(ASSET, body, turns) for body in bodies)
    shoulder, elbow, wrist = (HUMAN.joint_index(f"right_{name}") for name in ("shoulder", "elbow", "wrist"))
    np.testing.assert_allclose(longer[elbow] - longer[shoulder], 1.2 * (usual[elbow] - usual[shoulder]), atol=1e-5)
    np.testing.assert_allclose(longer[wrist] - longer[elbow], usual[wrist] - usual[elbow], atol=1e-5)


def test_people_of_the_body_file_have_short_arms():
    """Figures of `synth.recipe.proportion_recipe`: shares of the height of adults, and how little they vary."""
    rows = np.flatnonzero((ASSET.people_years >= 20) & (ASSET.people_years <= 60))
    adults = [rest_body(ASSET, ASSET.people[row]) for row in rows]
    for start, end, share in (("upperarm_l", "lowerarm_l", 0.146), ("lowerarm_l", "hand_l", 0.142)):
        shares = np.array([bone_m(body, start, end) / body.height_m for body in adults])
        by_sex = [shares[(ASSET.people_male[rows] > 0.5) == male] for male in (False, True)]
        assert np.mean([each.mean() for each in by_sex]) == pytest.approx(share, abs=0.001)
        assert max(each.std() / each.mean() for each in by_sex) < 0.04
