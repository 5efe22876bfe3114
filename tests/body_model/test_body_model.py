"""Body models as files, of people and of creatures."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.body_model.body_model import MAX_SEGMENTS, read_body_model, write_body_model
from posepipe.errors import FormatError
from posepipe.io.npz import write_npz
from synth.body.creatures import read_creature
from synth.tools.build_body_model import main
from synth.tools.creature_body_model import creature_body_model
from tests.support.paths import ROOT


def test_the_shipped_model_is_of_people_and_its_sides_are_equal():
    model = read_body_model()
    assert (model.joint_names, model.part_names) == (HUMAN.joints, HUMAN.parts)
    built = model.build(np.zeros(model.n_coefficients))
    mirrored = HUMAN.mirrored_joints()
    np.testing.assert_allclose(built.joints_m, built.joints_m[mirrored] * (-1, 1, 1), atol=0.005)
    assert (model.part_capsules[1:].max(axis=1) == 1).all()


def test_a_model_survives_its_file(tmp_path):
    model = creature_body_model(read_creature(ROOT / "docs/examples/quadruped.toml"))
    write_body_model(tmp_path / "quadruped.npz", model)
    read = read_body_model(tmp_path / "quadruped.npz")
    for name in model.__dataclass_fields__:
        np.testing.assert_allclose(getattr(read, name), getattr(model, name), rtol=1e-6) if name[
            -5:
        ] != "names" else None
    assert (read.joint_names, read.segment_names) == (model.joint_names, model.segment_names)


def test_a_creature_of_too_many_bones_is_refused_before_writing(tmp_path):
    bones = "".join(
        f'[[bones]]\nname = "b{k}"\nstart = [0, 0, {k}]\nend = [0, 0, {k + 1}]\nradius = [0.5, 0.5]\npart = "snake"\n'
        for k in range(MAX_SEGMENTS + 1)
    )
    (tmp_path / "snake.toml").write_text(f'name = "snake"\n{bones}[joints.tip]\nbone = "b0"\n')
    with pytest.raises(SystemExit, match="'snake': a body is fitted with at most 64 bones, got 65"):
        main([str(tmp_path / "snake.npz"), "--creature", str(tmp_path / "snake.toml")])
    assert not (tmp_path / "snake.npz").exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parents": np.array([0] * 17, np.int16)}, "parents: wanted -1"),
        ({"capsule_segments": np.full(20, 17, np.int16)}, "capsule_segments: wanted segments"),
        ({"radii_m": np.zeros((7, 20, 2), np.float32)}, "radii"),
        ({"joints_m": np.full((7, 20, 3), np.nan, np.float32)}, "joints_m: wanted finite"),
        ({"turn_axes": np.zeros((17, 3), np.float32)}, "turn_axes: wanted shape"),
        ({"segment_names": np.array(["a"] * 17)}, "unique name"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, changed, message):
    write_body_model(tmp_path / "body.npz", read_body_model())
    fields = dict(np.load(tmp_path / "body.npz")) | changed
    write_npz(tmp_path / "body.npz", fields)
    with pytest.raises(FormatError, match=message):
        read_body_model(tmp_path / "body.npz")
