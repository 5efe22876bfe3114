"""People stay people: heights, sides and parts of the bodies that training data are made of."""

import numpy as np
import pytest

from posepipe.body import HUMAN, mirror_name
from posepipe.errors import FormatError
from synth.body.body_asset import BODY_FILE, load_body_asset, read_body_asset, write_body_asset
from synth.body.body_mesh import paint_parts, rest_body, sample_body


@pytest.fixture(scope="module")
def asset():
    return load_body_asset()


@pytest.fixture(scope="module")
def mean_body(asset):
    return rest_body(asset, np.zeros(len(asset.components_m)))


def _centres(asset, body):
    return body.vertices_m[asset.triangles].mean(1)


def _areas(asset, body):
    a, b, c = np.moveaxis(body.vertices_m[asset.triangles], 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def test_mesh_and_skeleton_are_makehumans(asset):
    assert asset.n_vertices == 13_380
    assert asset.triangles.shape == (26_756, 3)
    assert len(asset.bone_names) == 53
    np.testing.assert_allclose(asset.weights.sum(1), 1, atol=1e-6)
    assert BODY_FILE.stat().st_size < 2.7e6


def test_triangles_face_outwards(asset, mean_body):
    a, b, c = np.moveaxis(mean_body.vertices_m[asset.triangles].astype(float), 1, 0)
    litres = 1000 * np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert 40 < litres < 90


def test_a_rest_body_stands_on_the_floor_and_faces_forward(asset, mean_body):
    assert mean_body.vertices_m[:, 1].min() == pytest.approx(0, abs=1e-6)
    assert mean_body.vertices_m[:, 1].max() == pytest.approx(mean_body.height_m, abs=1e-6)
    heads = dict(zip(asset.bone_names, mean_body.bone_heads_m, strict=True))
    assert heads["hand_l"][0] > 0.3 > -0.3 > heads["hand_r"][0]
    assert heads["ball_l"][2] > heads["foot_l"][2] + 0.05  # toes in front of the ankle
    assert heads["head"][1] > heads["pelvis"][1] > heads["foot_l"][1] > 0


def test_sampled_people_have_human_heights_and_never_repeat(asset):
    rng = np.random.default_rng(7)
    bodies = [sample_body(asset, rng) for _ in range(200)]
    heights = np.array([body.height_m for body in bodies])
    assert heights.min() >= 1.10 - 1e-3
    assert heights.max() <= 2.05 + 1e-3
    assert 1.55 < np.median(heights) < 1.75
    assert (heights < 1.45).any()  # children
    assert (heights > 1.80).any()
    assert len({body.vertices_m.tobytes() for body in bodies}) == 200


def test_stored_heights_are_those_of_the_stored_shapes(asset):
    for row in range(0, len(asset.people), 40):
        body = rest_body(asset, asset.people[row])
        assert body.height_m == pytest.approx(asset.people_height_m[row], abs=0.01)


def test_one_seed_gives_one_person(asset):
    first, second = (sample_body(asset, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first.vertices_m, second.vertices_m)


def test_every_part_is_painted_and_nothing_else(asset):
    assert set(np.unique(paint_parts(asset))) == {HUMAN.part_code(part) for part in HUMAN.parts}


@pytest.mark.parametrize("part", [p for p in HUMAN.parts if p.startswith("left_")])
def test_left_and_right_parts_mirror_each_other(asset, mean_body, part):
    parts, centres, areas = paint_parts(asset), _centres(asset, mean_body), _areas(asset, mean_body)
    left, right = (parts == HUMAN.part_code(p) for p in (part, mirror_name(part)))
    assert abs(int(left.sum()) - int(right.sum())) <= 2  # MakeHuman's own weights differ in a few triangles
    assert (centres[left, 0] > 0).all()
    assert (centres[right, 0] <= 0).all()
    middle_left, middle_right = (np.average(centres[side], axis=0, weights=areas[side]) for side in (left, right))
    np.testing.assert_allclose(middle_left * [-1, 1, 1], middle_right, atol=0.005)
    assert areas[left].sum() == pytest.approx(areas[right].sum(), rel=0.03)


def test_parts_lie_in_the_order_of_the_limb(asset, mean_body):
    parts, centres = paint_parts(asset), _centres(asset, mean_body)

    def middle(part):
        return centres[parts == HUMAN.part_code(part)].mean(0)

    arm = [middle(f"left_{part}")[0] for part in ("shoulder", "upper_arm", "elbow", "lower_arm", "wrist", "hand")]
    leg = [middle(f"right_{part}")[1] for part in ("upper_leg", "knee", "lower_leg", "ankle", "foot")]
    trunk = ("left_upper_head", "left_lower_head", "neck", "left_upper_torso", "left_lower_torso", "left_upper_leg")
    assert arm == sorted(arm)
    assert leg == sorted(leg, reverse=True)
    heights = [middle(part)[1] for part in trunk]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("coefficients", [np.zeros(3), np.full(30, np.nan)])
def test_wrong_coefficients_are_refused(asset, coefficients):
    with pytest.raises(ValueError, match="finite numbers"):
        rest_body(asset, coefficients)


def test_a_written_body_reads_back(asset, tmp_path):
    write_body_asset(asset, tmp_path / "body.npz")
    again = read_body_asset(tmp_path / "body.npz")
    assert again.bone_names == asset.bone_names
    np.testing.assert_array_equal(again.components_m, asset.components_m)
    np.testing.assert_array_equal(again.triangles, asset.triangles)
    np.testing.assert_allclose(again.weights, asset.weights, atol=1e-3)  # rounded to float16 once more


def test_a_bad_body_file_is_refused_with_its_name(tmp_path):
    path = tmp_path / "body.npz"
    with pytest.raises(FormatError, match=r"body\.npz.*no such file"):
        read_body_asset(path)
    path.write_bytes(BODY_FILE.read_bytes()[:100_000])
    with pytest.raises(FormatError, match=r"body\.npz.*not a body file"):
        read_body_asset(path)
    np.savez(path, mean_m=np.zeros((2, 3)))
    with pytest.raises(FormatError, match=r"body\.npz.*wanted the arrays"):
        read_body_asset(path)
