"""Catalogues of Sweet Home 3D: sizes, rotations, licences, and files that are damaged."""

import numpy as np
import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.io import limits
from synth.furniture.catalogues import catalogue as catalogue_file
from synth.furniture.catalogues import wavefront
from synth.furniture.catalogues.build_bank import build_bank, catalogue_files, count_models
from synth.furniture.catalogues.catalogue import CC0, Catalogue, open_catalogue
from synth.furniture.catalogues.wavefront import material_libraries, parse_obj, parse_opacities
from synth.furniture.kinds import MATERIALS, kind_of, material_of
from synth.tools.build_furniture import main
from tests.support.furniture_catalogue import MTL, OBJ, TABLE, write_catalogue


def test_models_get_their_stated_size_kind_and_place(tmp_path):
    bank = build_bank([write_catalogue(tmp_path / "one.sh3f")])
    assert [(each.name, each.kind) for each in bank.models] == [("Chair", "chair"), ("Table", "table")]
    chair, table = bank.models
    assert (chair.creator, chair.licence, chair.top_m) == ("Someéone", CC0, pytest.approx(0.45))
    np.testing.assert_allclose(chair.size_m, [0.5, 0.9, 0.6])
    for each in bank.models:
        np.testing.assert_allclose(each.vertices_m.min(axis=0), each.size_m * [-0.5, 0, -0.5], atol=1e-6)
        np.testing.assert_allclose(each.vertices_m.max(axis=0), each.size_m * [0.5, 1, 0.5], atol=1e-6)
    back = chair.vertices_m[chair.vertices_m[:, 1] > 0.5]
    assert (back[:, 2] < 0).all()  # the high edge is at the back
    high = table.vertices_m[table.vertices_m[:, 2] < 0]  # file y, the height of the wedge, turned to -z
    assert len(high) == 2
    assert set(chair.materials.tolist()) == {MATERIALS.index("wood"), MATERIALS.index("cloth")}


def test_a_licence_file_outweighs_the_catalogue(tmp_path):
    path = write_catalogue(
        tmp_path / "one.sh3f", chair="Creative Commons Attribution 3.0", table="CC-0 no rights reserved"
    )
    with open_catalogue(path) as catalogue:
        assert [each.licence for each in catalogue.entries] == ["CC-BY-3.0", "CC-BY-3.0", CC0]
    assert [each.name for each in build_bank([path], only_cc0=True).models] == ["Table"]
    assert count_models([path]) == 2


def test_the_command_builds_a_bank_from_a_folder(tmp_path, capsys):
    write_catalogue(tmp_path / "one.sh3f")
    main([str(tmp_path), "--out", str(tmp_path / "bank.npz")])
    assert "2 models of 2 kinds" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--out", str(tmp_path / "bank.npz"), "--triangles", "9", "3"])
    with pytest.raises(SystemExit, match=r"^synth\.tools\.build_furniture: error: .*absent: No such file"):
        main([str(tmp_path / "absent"), "--out", str(tmp_path / "bank.npz")])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "lacks PluginFurnitureCatalog.properties"),
        (TABLE.replace("width#1=50", "width#1=wide"), "model 1 .* wrong or missing"),
        (TABLE.replace("width#1=50\n", ""), "model 1 .* wrong or missing 'width'"),
        (TABLE.replace("width#1=50", "width#1=0"), "wrong or missing size"),
        (TABLE.replace("width#1=50", "width#1=1e300"), "wrong or missing size"),
        (TABLE.replace("width#1=50", "width#1=nan"), "wrong or missing size"),
        (TABLE + "elevation#1=inf\n", "model 1 .* wrong or missing elevation"),
        (TABLE.replace("dropOnTopElevation#1=45", "dropOnTopElevation#1=nan"), "model 1 .* wrong or missing elevation"),
        (TABLE.replace("1 0 0 0 0 1 0 -1 0", "1 0 0"), "model 3 .* wrong"),
        (TABLE.replace("1 0 0 0 0 1 0 -1 0", "0 0 0 0 0 0 0 0 0"), "table.obj: its faces have no area"),
        (TABLE.replace("/table.obj", "/desk.obj"), "lacks models/table/desk.obj"),
    ],
)
def test_a_damaged_catalogue_is_refused_in_a_line(tmp_path, table, message):
    with pytest.raises(FormatError, match=message) as caught:
        build_bank([write_catalogue(tmp_path / "one.sh3f", table)])
    assert "\n" not in str(caught.value)


def test_text_beyond_what_a_catalogue_justifies_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_TEXT_RATIO", 0)
    monkeypatch.setattr(limits, "FREE_TEXT_BYTES", 20 << 10)
    rows = "".join(
        f"{line.replace('#1', f'#{k}')}\n" for k in range(10, 40) for line in TABLE.splitlines() if "#1" in line
    )
    with pytest.raises(FormatError, match=r"one\.sh3f: its models unpack to more than"):
        build_bank([write_catalogue(tmp_path / "one.sh3f", TABLE + rows)])


def test_one_huge_model_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue_file, "FREE_TEXT_BYTES", len(OBJ) - 1)
    with pytest.raises(FormatError, match=r"models/chair/chair\.obj unpacks to \d+ bytes, allowed are"):
        build_bank([write_catalogue(tmp_path / "one.sh3f")])


def test_a_licence_is_read_once_for_all_models_of_its_folder(tmp_path, monkeypatch):
    read = []
    whole = Catalogue._text
    monkeypatch.setattr(Catalogue, "_text", lambda self, name: read.append(name) or whole(self, name))
    with open_catalogue(
        write_catalogue(tmp_path / "one.sh3f", chair="Attribution 4.0", sofa="Attribution 3.0")
    ) as found:
        assert [each.licence for each in found.entries] == ["CC-BY-4.0", "CC-BY-4.0", CC0]
    assert read == ["PluginFurnitureCatalog.properties", "models/chair/LICENSE.txt"]


def test_more_elements_than_any_model_has_are_refused(monkeypatch):
    monkeypatch.setattr(wavefront, "MAX_ELEMENTS", 9)
    with pytest.raises(ValueError, match="at most 9 vertices and triangles"):
        parse_obj(OBJ)


def test_material_libraries_are_named_once():
    text = "mtllib a b.mtl \n" * 3 + "\n" * 100_000 + "# mtllib no.mtl\n mtllib\tc.mtl\nmtllib\n"
    assert material_libraries(text) == ["a b.mtl", "c.mtl"]


def test_what_is_no_catalogue_is_refused(tmp_path):
    (tmp_path / "one.sh3f").write_text("no zip")
    with pytest.raises(FormatError, match="zip archive"):
        build_bank([tmp_path / "one.sh3f"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(PosepipeError, match="got none"):
        catalogue_files([tmp_path / "empty"])
    with pytest.raises(PosepipeError, match="no furniture for rooms"):
        build_bank([write_catalogue(tmp_path / "two.sh3f", "license=x\n")])


@pytest.mark.parametrize("text", ["v 0 0 0\n", "v 0 0 0\nf 1 2 3\n", "v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n"])
def test_text_that_is_no_mesh_is_refused(text):
    with pytest.raises(ValueError, match=r"face|vert|coordinate"):
        parse_obj(text)


def test_polygons_become_fans_with_the_material_of_their_face():
    mesh = parse_obj(OBJ)
    assert len(mesh.triangles) == len(mesh.triangle_materials) == 10
    assert mesh.materials == ("oak", "fabric")
    np.testing.assert_array_equal(mesh.triangles[:2], [[0, 1, 2], [0, 2, 3]])
    assert parse_opacities(MTL) == {"oak": 1.0, "fabric": pytest.approx(0.8)}


@pytest.mark.parametrize("lines", ["d 1.0\nTr 1.0\n", "Tr 1.0\nd 1.0\n", "d 1.0\nTr 0.0\n", "Tr 0.0\n", ""])
def test_a_material_is_as_opaque_as_d_says_whatever_tr_says(lines):
    assert parse_opacities(f"newmtl oak\n{lines}newmtl pane\nd 0.3\nTr 0.3\n") == {"oak": 1.0, "pane": 0.3}


def test_the_last_of_two_materials_of_one_name_counts():
    assert parse_opacities("newmtl oak\nd 0.2\nnewmtl oak\n") == {"oak": 1.0}


def test_comments_after_numbers_are_left_out_of_names_are_not():
    mesh = parse_obj("v 0 0 0 # front\nv 1 0 0#\nv 0 1 0\nusemtl Material#26\nf 1 2 3 # seat of 4\nf 3 2 1#back\n")
    np.testing.assert_array_equal(mesh.triangles, [[0, 1, 2], [2, 1, 0]])
    assert mesh.materials == ("Material#26",)
    assert parse_opacities("newmtl Material#26\nd 0.5 # half\n") == {"Material#26": 0.5}


@pytest.mark.parametrize(("space", "end"), [("\t", "\n"), (" ", "\r\n"), (" \t ", "\r\n")])
def test_words_are_separated_by_any_white_space(space, end):
    text = OBJ.replace("f 1 2 3 4", "f 1 2 \\\n3 4")  # a backslash continues a line
    as_written, plain = parse_obj(text.replace(" ", space).replace("\n", end)), parse_obj(OBJ)
    np.testing.assert_array_equal(as_written.vertices, plain.vertices)
    np.testing.assert_array_equal(as_written.triangles, plain.triangles)
    assert as_written.materials == plain.materials
    assert parse_opacities(MTL.replace(" ", space).replace("\n", end)) == parse_opacities(MTL)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Oak chair", "chair"),
        ("Piano bench", "stool"),
        ("Tennis racket", "sport"),
        ("Hot dog", "thing"),
        ("Siamese cat", "pet"),
        ("Upper cabinet", "wall cabinet"),
        ("Corner sofa", "sofa"),
        ("Wheelchair", "wheelchair"),
        ("Baby bed", "bed"),
        ("Double-hung window", "window"),
    ],
)
def test_names_say_the_kind(name, kind):
    category = "Characters" if kind == "pet" else "Living room"
    assert kind_of(name, category, (0.5, 0.5, 0.5)) == kind


def test_what_stands_in_no_room_has_no_kind():
    assert kind_of("Ford Focus", "Vehicles", (2.0, 1.5, 4.0)) is None
    assert kind_of("Chair", "Living room", (0.05, 0.1, 0.05)) is None
    assert kind_of("Table", "Living room", (5.0, 0.7, 1.0)) is None
    assert MATERIALS[material_of("pane", 0.2, "door")] == "glass"
    assert MATERIALS[material_of("Material.001", 1.0, "sofa")] == "cloth"
