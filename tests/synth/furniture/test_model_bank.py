"""Banks of furniture: what comes with the project, and files that are none."""

from dataclasses import replace

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.io.npz import write_npz
from synth.furniture.catalogues.catalogue import CC0
from synth.furniture.kinds import KINDS, MATERIALS
from synth.furniture.model_bank import (
    BANK_FILE,
    FurnitureBank,
    bank_arrays,
    embedded_bank,
    read_bank,
    write_bank,
)
from synth.geometry.surface_heights import surface_heights_m

#: kind -> bounds of the largest extent and of the height, metres
PLAUSIBLE_M = {
    "chair": ((0.4, 1.3), (0.4, 1.3)),
    "sofa": ((1.5, 3.2), (0.6, 1.1)),
    "bed": ((0.8, 2.4), (0.6, 1.3)),
    "table": ((0.7, 2.8), (0.6, 1.1)),
    "shelf": ((0.7, 2.2), (0.7, 2.2)),
    "toy": ((0.1, 1.0), (0.01, 0.8)),
}


def test_the_embedded_bank_is_small_varied_and_public_domain():
    bank = embedded_bank()
    assert len(bank.models) >= 100
    assert len(bank.by_kind) >= 15
    assert BANK_FILE.stat().st_size < 3e6
    assert {each.licence for each in bank.models} == {CC0}
    assert (BANK_FILE.parent / "FURNITURE_NOTICE.md").is_file()
    assert not [each.name for each in bank.models if "winchester" in each.name.lower()]  # its own licence is CC-BY
    assert max(len(each.triangles) for each in bank.models) <= 1500


def test_models_fill_their_stated_size_and_stand_on_the_origin():
    for each in embedded_bank().models:
        low, high = each.vertices_m.min(axis=0), each.vertices_m.max(axis=0)
        np.testing.assert_allclose(low, each.size_m * [-0.5, 0, -0.5], atol=0.1 * each.size_m.max(), err_msg=each.name)
        np.testing.assert_allclose(high - low, each.size_m, atol=0.12 * each.size_m.max(), err_msg=each.name)
        assert each.triangles.max() < len(each.vertices_m)
        assert each.materials.max() < len(MATERIALS)
        assert each.kind in KINDS


@pytest.mark.parametrize("kind", PLAUSIBLE_M)
def test_sizes_are_those_of_real_furniture(kind):
    extent, height = PLAUSIBLE_M[kind]
    for each in embedded_bank().by_kind[kind]:
        assert extent[0] < each.size_m.max() < extent[1], each.name
        assert height[0] < each.size_m[1] < height[1], each.name


def height_at(model, x_share, z_share):
    place = np.array([[x_share * model.size_m[0], z_share * model.size_m[2]]])
    return float(surface_heights_m(model.vertices_m, model.triangles, place)[0])


def test_chairs_stand_upright_and_face_the_front():
    upright = 0
    chairs = [each for each in embedded_bank().by_kind["chair"] if each.size_m[1] > 0.6]
    for each in chairs:
        assert 0.3 < height_at(each, 0.02, 0.1) < 0.65, each.name
        top = each.vertices_m[each.vertices_m[:, 1] > 0.85 * each.size_m[1]]
        upright += top[:, 2].mean() < -0.05 * each.size_m[2]
    assert upright == len(chairs) > 8


def test_table_tops_are_on_top():
    for each in embedded_bank().by_kind["table"]:
        assert 0.6 < height_at(each, 0.05, 0.05) <= each.size_m[1] + 1e-6, each.name


def test_a_bank_reads_back_as_it_was_written(tmp_path):
    bank = FurnitureBank(embedded_bank().models[:5])
    write_bank(bank, tmp_path / "bank.npz")
    again = read_bank(tmp_path / "bank.npz")
    assert again.digest() == bank.digest() != embedded_bank().digest()
    for one, other in zip(bank.models, again.models, strict=True):
        np.testing.assert_allclose(one.vertices_m, other.vertices_m, atol=1e-6)
        assert (one.name, one.kind, one.creator, one.top_m) == (other.name, other.kind, other.creator, other.top_m)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": np.array(2, np.int32)}, "has version 2"),
        ({"kinds": np.array(["spaceship"] * 5)}, "unknown kind spaceship"),
        ({"size_m": np.zeros((5, 3), np.float32)}, "size outside"),
        ({"size_m": np.zeros((4, 3), np.float32)}, "size_m has shape"),
        ({"triangles": np.zeros((1, 3), np.uint16)}, "triangles has shape"),
        ({"vertices": np.zeros((1, 3), np.float32)}, "vertices has type float32"),
        ({"material_names": np.array(["gold"])}, "other materials"),
    ],
)
def test_a_file_that_is_no_bank_is_refused_in_a_line(tmp_path, change, message):
    arrays = bank_arrays(FurnitureBank(embedded_bank().models[:5]))
    write_npz(tmp_path / "bank.npz", {**arrays, **change})
    with pytest.raises(FormatError, match=message) as caught:
        read_bank(tmp_path / "bank.npz")
    assert "\n" not in str(caught.value)


def test_a_missing_array_and_a_triangle_out_of_range_are_refused(tmp_path):
    arrays = bank_arrays(FurnitureBank(embedded_bank().models[:2]))
    write_npz(tmp_path / "bank.npz", {name: value for name, value in arrays.items() if name != "kinds"})
    with pytest.raises(FormatError, match="lacks the arrays kinds"):
        read_bank(tmp_path / "bank.npz")
    write_npz(tmp_path / "bank.npz", {**arrays, "triangles": arrays["triangles"] * 0 + 60000})
    with pytest.raises(FormatError, match="outside its vertices"):
        read_bank(tmp_path / "bank.npz")
    with pytest.raises(FormatError, match="no such file"):
        read_bank(tmp_path / "absent.npz")


def test_a_model_with_too_many_vertices_is_not_written(tmp_path):
    model = embedded_bank().models[0]
    large = replace(model, vertices_m=np.zeros((70_000, 3)))
    with pytest.raises(ValueError, match="decimate"):
        write_bank(FurnitureBank((large,)), tmp_path / "bank.npz")
