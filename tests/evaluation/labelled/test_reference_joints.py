"""Real frames against another tracker's joints: offsets are fitted on other subjects, missing joints are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.evaluation.labelled.reference_joints import ReferenceJoints, compare_with_reference
from posepipe.models.pose_model import PoseModel

NAMES = ("head", "neck")


def joints(found_m, trusted=True, subjects=(1, 1, 2, 2)) -> ReferenceJoints:
    reference_m = np.zeros((len(subjects), len(NAMES), 3))
    mask = np.broadcast_to(np.asarray(trusted), reference_m.shape[:2])
    return ReferenceJoints(NAMES, reference_m, mask, np.asarray(found_m, float), np.array(subjects))


def test_a_constant_offset_counts_as_found_and_not_when_removed():
    found_m = np.tile([0.12, 0.0, 0.0], (4, 2, 1))
    figures = joints(found_m).figures()
    assert figures["as found"] == {"within 10 cm": 0.0, "within 15 cm": 1.0}
    assert figures["offsets removed"] == {"within 10 cm": 1.0, "within 15 cm": 1.0}


def test_offsets_come_from_other_subjects():
    # the two subjects are off in opposite directions: the other's offset makes it worse
    found_m = np.zeros((4, 2, 3))
    found_m[:2, :, 0], found_m[2:, :, 0] = 0.09, -0.09
    figures = joints(found_m).figures()
    assert figures["as found"]["within 10 cm"] == 1.0
    assert figures["offsets removed"]["within 15 cm"] == 0.0


def test_a_joint_that_was_not_found_is_wrong():
    found_m = np.zeros((4, 2, 3))
    found_m[0, 1] = np.nan
    figures = joints(found_m).figures()
    assert figures["as found"]["within 15 cm"] == pytest.approx((1 + 3 / 4) / 2)


def test_joints_not_trusted_count_among_all_joints_alone():
    found_m, trusted = np.zeros((4, 2, 3)), np.ones((4, 2), bool)
    found_m[1, 0], trusted[1, 0] = 1.0, False
    figures = joints(found_m, trusted).figures()
    assert figures["offsets removed"]["within 10 cm"] == 1.0
    assert figures["offsets removed, all joints"]["within 10 cm"] == pytest.approx(7 / 8)


def test_a_subject_without_trusted_joints_is_left_out():
    found_m, trusted = np.zeros((6, 2, 3)), np.ones((6, 2), bool)
    trusted[4:], found_m[:2, 0] = False, 1.0
    reference = joints(found_m, trusted, subjects=(1, 1, 2, 2, 3, 3))
    figures = reference.figures()
    assert reference.counted_subjects.tolist() == [1, 2]
    assert figures == joints(found_m[:4]).figures()
    assert np.isfinite(list(figures["offsets removed"].values())).all()


def test_one_subject_has_no_offsets_to_remove():
    assert list(joints(np.zeros((4, 2, 3)), subjects=(0,) * 4).figures()) == ["as found"]


def arms(noise_m, subjects=(1,) * 200 + (2,) * 200) -> ReferenceJoints:
    """Upper arms of one length a person in any direction, with noise along every axis at both ends."""
    rng, names = np.random.default_rng(0), ("left_shoulder", "left_elbow", "left_hand")
    subjects = np.array(subjects)
    direction = rng.normal(size=(len(subjects), 3))
    joints_m = rng.normal(size=(len(subjects), 3, 3))
    joints_m[:, 1] = joints_m[:, 0] + direction / np.linalg.norm(direction, axis=1)[:, None] * 0.3 * subjects[:, None]
    reference_m = joints_m + rng.normal(size=joints_m.shape) * noise_m
    return ReferenceJoints(names, reference_m, np.ones(joints_m.shape[:2], bool), joints_m, subjects)


def test_bones_of_varying_length_tell_the_error_of_their_joints():
    errors = arms(0.02).bone_errors()
    assert errors["reference"] == pytest.approx(np.sqrt(3) * 0.02, rel=0.1)
    assert errors["as found"] == pytest.approx(0, abs=1e-9)  # both people have an arm of their own length


def test_bones_seen_once_tell_nothing():
    assert arms(0.02, subjects=(1, 2)).bone_errors() == {}
    assert joints(np.full((4, 2, 3), np.nan)).bone_errors() == {}


def pack(path, **changes):
    arrays = {
        "depth_mm": np.zeros((2, 48, 64), np.uint16),
        "K": np.array([60.0, 60.0, 31.5, 23.5]),
        "joints_m": np.full((2, 2, 3), 2.0, np.float32),
        "joint_names": np.array(["head", "shoulder_center"]),
        "name": np.array(["wave_s1_t1", "wave_s2_t1"]),
    }
    np.savez(path, **{name: array for name, array in (arrays | changes).items() if array is not None})
    return path


def test_the_sdk_s_names_are_known_and_subjects_read_from_frames(tmp_path):
    steps = []
    found = compare_with_reference(PoseModel.load("person"), pack(tmp_path / "pack.npz"), lambda: steps.append(1))
    assert found.names == NAMES
    assert found.subjects.tolist() == [1, 2]
    assert np.isnan(found.found_m).all()
    assert len(steps) == 2
    assert found.figures()["as found"]["within 15 cm"] == 0.0


@pytest.mark.parametrize(
    "changes",
    [
        {"joints_m": None, "joint_names": None},
        {"joints_m": np.zeros((2, 1, 2, 3), np.float32)},
        {"joint_names": np.array(["tail", "wing"])},
        {"ok": np.zeros((2, 2), bool)},
    ],
)
def test_a_pack_without_joints_to_compare_with_is_refused(tmp_path, changes):
    with pytest.raises(FormatError, match=r"pack\.npz"):
        compare_with_reference(PoseModel.load("person"), pack(tmp_path / "pack.npz", **changes))
