"""Second pass in a model file: whole, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from posepipe.errors import FormatError
from posepipe.io.npz import write_npz
from posepipe.joints.joint_parameters import JointParameters
from posepipe.models.pose_model import PoseModel
from posepipe.second_pass.relabelling import Relabelling
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from tests.models.test_model_file import arrays_of, drawn_refinement, header_of, small_model
from tests.support.toy_person import TOY

PARTS, JOINTS = len(TOY.parts), len(TOY.joints)


def drawn() -> SecondPassParameters:
    rng = np.random.default_rng(3)
    weights = rng.normal(0, 1, (PARTS + JOINTS, PARTS)).astype(np.float32)
    relabelling = Relabelling(weights, rng.normal(0, 1, PARTS).astype(np.float32))
    return SecondPassParameters(relabelling, replace(JointParameters.default(TOY), refinement=drawn_refinement()))


@pytest.fixture
def path(tmp_path):
    replace(small_model(), second_pass=drawn()).save(tmp_path / "twice.npz")
    return tmp_path / "twice.npz"


def test_the_second_pass_comes_back(path):
    sections = header_of(arrays_of(path))["sections"]
    assert {"relabelling", "second_joints", "second_refinement"} < set(sections)
    loaded, own = PoseModel.load(path).second_pass, drawn()
    np.testing.assert_array_equal(loaded.relabelling.weights, own.relabelling.weights)
    np.testing.assert_array_equal(loaded.relabelling.bias, own.relabelling.bias)
    np.testing.assert_array_equal(loaded.joint_parameters.mean_m, own.joint_parameters.mean_m)
    for one, other in zip(
        loaded.joint_parameters.refinement.weights, own.joint_parameters.refinement.weights, strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_model_without_one_has_no_such_sections(path):
    small_model().save(path)
    assert PoseModel.load(path).second_pass is None
    assert not {name for name in arrays_of(path) if name.startswith(("relabelling", "second_"))}


@pytest.mark.parametrize("section", ["relabelling", "second_joints"])
def test_a_second_pass_without_a_section_is_refused(path, section):
    write_npz(path, {name: own for name, own in arrays_of(path).items() if not name.startswith(f"{section}/")})
    with pytest.raises(FormatError, match="it lacks"):
        PoseModel.load(path)


def test_a_second_pass_of_another_body_or_of_votes_is_refused():
    relabelling, joints = drawn()
    with pytest.raises(ValueError, match="weights must be float32"):
        replace(small_model(), second_pass=SecondPassParameters(Relabelling(*(np.zeros((2, 2)),) * 2), joints))
    with pytest.raises(ValueError, match="from parts"):
        replace(small_model(), second_pass=SecondPassParameters(relabelling, replace(joints, method="both")))


def test_a_model_of_one_pass_has_no_second_to_leave_out(tmp_path, capsys):
    small_model().save(tmp_path / "small.npz")
    assert main(["convert", str(tmp_path / "small.npz"), str(tmp_path / "once.npz"), "--first-pass"]) == 1
    assert "has no second pass" in capsys.readouterr().err


def test_the_first_pass_is_kept_alone(path, tmp_path):
    PoseModel.load(path).with_metadata(second_pass={"frames": 3}).save(path)
    assert main(["convert", str(path), str(tmp_path / "once.npz"), "--first-pass"]) == 0
    once = PoseModel.load(tmp_path / "once.npz")
    assert once.second_pass is None
    assert "second_pass" not in once.metadata


def test_a_second_pass_without_a_network_comes_back(path):
    relabelling, joints = drawn()
    plain = SecondPassParameters(relabelling, replace(joints, refinement=None))
    replace(small_model(), second_pass=plain).save(path)
    assert PoseModel.load(path).second_pass.joint_parameters.refinement is None


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("relabelling/weights", np.zeros((PARTS, PARTS), np.float32), "weights must be float32"),
        ("relabelling/weights", np.zeros((PARTS + JOINTS, PARTS)), "got float64"),
        ("relabelling/bias", np.full(PARTS, np.nan, np.float32), "bias must lie within 10000 of 0, got nan"),
        ("relabelling/bias", np.full(PARTS, 1e5, np.float32), "within 10000 of 0, got 100000"),
        ("relabelling/bias", None, "it lacks 'bias'"),
        ("second_joints/mean_m", None, "it lacks 'mean_m'"),
        ("second_joints/bandwidth_m", np.zeros(2, np.float32), "bandwidth_m"),
        ("second_refinement/bias_0", None, "it lacks 'bias_0'"),
    ],
)
def test_a_damaged_second_pass_is_refused(path, name, array, said):
    arrays = {each: own for each, own in arrays_of(path).items() if each != name}
    write_npz(path, arrays if array is None else arrays | {name: array})
    with pytest.raises(FormatError, match=said):
        PoseModel.load(path)
