"""Evidence for a person, and the classifier that judges it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics, Plane
from posepipe.models.sections.boosted_sections import classifier_from_arrays, classifier_to_arrays
from posepipe.parts import EVERY_PIXEL, PartProbabilities
from posepipe.results import Joint, Pose
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF
from posepipe.segmentation.evidence.pose_evidence import MAX_PIXELS, BoneLengths
from posepipe.segmentation.evidence.surface_curvature import UNKNOWN
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.person_filter import PersonFilter, filter_by
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.views.view import View

BODY = BodyDefinition(
    "pair",
    ("left_half", "right_half", "top"),
    ("head", "hip"),
    {"head": ("top",), "hip": ("left_half", "right_half")},
    {"head": "hip", "hip": None},
)
CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)
SHAPE = (48, 64)
LENGTHS = BoneLengths(((0, 1),), np.array([0.5], np.float32))
EVIDENCE = PersonEvidence(BODY, LENGTHS)


def candidate(wall_m: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """Depth and mask of a box of 10 x 20 pixels at 2 m before a wall."""
    depth_m, mask = np.full(SHAPE, wall_m, np.float32), np.zeros(SHAPE, bool)
    mask[14:34, 27:37] = True
    depth_m[mask] = 2.0
    return depth_m, mask


def parts_of(mask: np.ndarray, values: tuple[float, ...] = (0.1, 0.3, 0.2, 0.4)) -> PartProbabilities:
    pixels = pixels_of(mask)
    return PartProbabilities(pixels, np.tile(np.float32(values), (len(pixels), 1)), EVERY_PIXEL)


def pose_of(**joints: tuple[float, float, float]) -> Pose:
    return Pose.of({name: Joint(name, place, 0.7) for name, place in joints.items()})


STANDING = pose_of(head=(0, -0.2, 2.05), hip=(0, 0.1, 2.05))


def measured(depth_m, mask, pose=STANDING, parts=None, floor=None) -> dict[str, float]:
    numbers = EVIDENCE.measure(depth_m, mask, CAMERA, parts or parts_of(mask), pose, floor)
    assert numbers.dtype == np.float32
    return dict(zip(EVIDENCE.names, numbers.tolist(), strict=True))


def test_labels_and_parts_are_summed_over_the_surface():
    found = measured(*candidate())
    assert found["background mean"] == pytest.approx(0.1)
    assert found["top part 0.5"] == pytest.approx(0.4)
    assert found["entropy mean"] == pytest.approx(-sum(p * np.log(p) for p in (0.1, 0.3, 0.2, 0.4)), rel=1e-5)
    assert found["share of left_half"] == pytest.approx(0.5)  # with its mirror image
    assert found["share of top"] == pytest.approx(0.4)
    assert "share of right_half" not in found


def test_joints_and_bones_are_held_against_surface_and_body():
    found = measured(*candidate())
    assert [found["confidence of joint 1 by rank"], found["confidence of joint 2 by rank"]] == pytest.approx([0.7, 0.7])
    assert found["joints on the surface"] == 1
    assert found["bone error"] == pytest.approx(np.log(0.5 / 0.3), rel=1e-5)
    assert found["distance to joints"] < 0.2
    aside = measured(*candidate(), pose=pose_of(head=(0.9, 0.0, 2.0)))
    assert aside["joints on the surface"] == 0
    assert aside["bone error"] == UNKNOWN
    assert aside["confidence of joint 2 by rank"] == 0
    nothing = measured(*candidate(), pose=Pose.of({}))
    assert nothing["distance to joints"] == UNKNOWN


def test_joints_in_one_place_make_a_finite_bone_error():
    together = PersonEvidence(BODY, BoneLengths.measure(BODY, np.zeros((3, 2, 3))))
    depth_m, mask = candidate()
    numbers = together.measure(depth_m, mask, CAMERA, parts_of(mask), STANDING)
    assert np.isfinite(numbers).all()
    classifier_from_arrays(
        classifier_to_arrays(replace(stump(), lengths=together.lengths)), BODY
    )  # a model file can hold them


def test_size_and_distance_are_metric():
    found = measured(*candidate())
    assert found["area"] == pytest.approx(0.2 * 0.4, rel=1e-5)
    assert found["width"] == pytest.approx(0.18 * 0.9, rel=0.12)
    assert found["distance"] == pytest.approx(2.0)
    assert found["filled box"] == 1


def test_heights_are_those_over_the_floor():
    found = measured(*candidate(), floor=Plane((0.0, -1.0, 0.0), 1.0))  # 1 m below the camera
    assert found["floor known"] == 1
    assert found["middle over floor"] == pytest.approx(1.0, abs=0.02)
    assert found["highest over floor"] == pytest.approx(1.18, abs=0.03)
    assert found["lowest over floor"] == pytest.approx(0.8, abs=0.03)
    unknown = measured(*candidate())
    assert [unknown["floor known"], unknown["lowest over floor"]] == [0, UNKNOWN]


@pytest.mark.parametrize(
    ("wall_m", "name"),
    [(4.0, "outline free"), (2.05, "outline behind"), (1.5, "outline before"), (0.0, "outline unread")],
)
def test_the_outline_tells_how_a_surface_ends(wall_m, name):
    found = measured(*candidate(wall_m))
    assert found[name] == 1
    assert found["outline at border"] == 0


@pytest.mark.parametrize("edge", [np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]])
def test_the_outline_at_every_border_of_the_image_counts(edge):
    depth_m, mask = candidate()
    mask[edge] = True
    count = np.count_nonzero(mask[edge]) + 2  # corners lie on two borders
    assert measured(depth_m, mask)["outline at border"] == pytest.approx(count / np.count_nonzero(mask) ** 0.5)


@pytest.mark.parametrize("wall_m", [4.0, 2.05, 1.5])
def test_the_outline_is_that_of_the_grid_of_candidates(wall_m):
    """A candidate that was found on every second pixel lacks pixels of its own along its outline."""
    size = 60, 80
    depth_m, mask = np.full(size, wall_m, np.float32), np.zeros(size, bool)
    mask[14:44, 27:47] = True
    depth_m[mask] = 2.0
    coarse = Intrinsics(280.0, 280.0, 39.5, 29.5)
    fine_m, fine = (np.ascontiguousarray(image.repeat(2, axis=0).repeat(2, axis=1)) for image in (depth_m, mask))
    fine_m[27, 54:94] = fine_m[28:88, 53] = 2.0
    both = [
        EVIDENCE.measure(image_m, of, camera, parts_of(of), STANDING)
        for image_m, of, camera in ((depth_m, mask, coarse), (fine_m, fine, Intrinsics(560.0, 560.0, 79.5, 59.5)))
    ]
    rows = [k for k, name in enumerate(EVIDENCE.names) if name.startswith("outline")]
    np.testing.assert_allclose(both[1][rows], both[0][rows], atol=1e-6)


def test_evidence_does_not_change_under_a_mirror():
    depth_m, mask = candidate()
    depth_m[:, 40:] = 2.05
    straight = measured(depth_m, mask)
    turned = measured(np.ascontiguousarray(depth_m[:, ::-1]), np.ascontiguousarray(mask[:, ::-1]))
    assert straight == pytest.approx(turned, rel=1e-4)


def test_large_candidates_are_sampled_evenly():
    depth_m = np.full((200, 300), 4.0, np.float32)
    mask = np.zeros(depth_m.shape, bool)
    mask[20:180, 100:200] = True
    depth_m[mask] = 2 + 0.001 * (np.arange(100) - 50)[None].repeat(160, 0).ravel() ** 2 / 10
    camera, parts = Intrinsics(300.0, 300.0, 149.5, 99.5), parts_of(mask)
    assert len(parts.pixels) > 20 * MAX_PIXELS
    sampled = dict(zip(EVIDENCE.names, EVIDENCE.measure(depth_m, mask, camera, parts, STANDING).tolist(), strict=True))
    rows, cols = parts.pixels.T
    points_m = camera.deproject_pixels(rows, cols, depth_m[rows, cols])
    assert sampled["area"] == pytest.approx((depth_m[mask] ** 2 / 300**2).sum(), rel=0.01)
    assert sampled["width"] == pytest.approx(np.diff(np.quantile(points_m[:, 0], (0.05, 0.95)))[0], rel=0.03)
    assert sampled["depth"] == pytest.approx(np.diff(np.quantile(points_m[:, 2], (0.05, 0.95)))[0], rel=0.05)


def stump(name: str = "area", threshold: float = 0.05, calibration: tuple[float, float] = (0, 1)) -> PersonClassifier:
    """One tree that calls large candidates people."""
    names = EVIDENCE.names
    trees = BoostedTrees(
        names,
        number=np.array([names.index(name), LEAF, LEAF], np.int32),
        threshold=np.array([threshold, 0, 0], np.float32),
        child=np.array([1, 0, 0], np.int32),
        value=np.array([0, -2, 2], np.float32),
        roots=np.array([0], np.int32),
    )
    return PersonClassifier(BODY, LENGTHS, trees, np.array(calibration, np.float32))


def test_a_tree_is_walked_to_its_leaf():
    depth_m, mask = candidate()
    judged = stump().probability(depth_m, mask, CAMERA, parts_of(mask), STANDING)
    assert judged == pytest.approx(1 / (1 + np.exp(-2)))
    small = stump(threshold=0.5).probability(depth_m, mask, CAMERA, parts_of(mask), STANDING)
    assert small == pytest.approx(1 / (1 + np.exp(2)))


def test_the_sum_of_trees_is_calibrated():
    trees = replace(stump().trees, value=np.array([0, -2, 3], np.float32), roots=np.array([0, 2], np.int32))
    numbers = np.zeros(len(trees.names), np.float32)  # the trees say -2 and 3
    for calibration, log_odds in [((0, 1), 1), ((-1, 2), 1), ((1, 2), 3)]:
        two = replace(stump(calibration=calibration), trees=trees)
        assert two.probability_of(numbers) == pytest.approx(1 / (1 + np.exp(-log_odds)))


def test_a_classifier_of_fewer_numbers_takes_its_own():
    names = ("area", "distance")
    trees = replace(stump().trees, names=names, number=np.array([0, LEAF, LEAF], np.int32))
    evidence = np.arange(len(EVIDENCE.names), dtype=np.float32)
    own = replace(stump(), trees=trees).select(evidence)
    assert own.tolist() == [EVIDENCE.names.index(name) for name in names]


@pytest.mark.parametrize("slope", [3e38, -3e38])
def test_an_endless_calibration_is_certain_and_silent(slope):
    sure = stump(calibration=(0, slope))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert sure.probability_of(np.zeros(len(sure.trees.names), np.float32)) in (pytest.approx(0), 1.0)


def test_the_filter_asks_the_classifier_instead_of_class_0():
    depth_m, mask = candidate()
    view, parts = View(depth_m, mask, CAMERA), parts_of(mask, (0.9, 0.05, 0.0, 0.05))
    assert PersonFilter().person_probability(view, parts, STANDING) == 0
    assert PersonFilter(classifier=stump()).person_probability(view, parts, STANDING) == pytest.approx(0.88, abs=0.01)
    assert PersonFilter(classifier=stump(), min_confidence=0.8).person_probability(view, parts, STANDING) == 0


def test_typical_bones_are_the_medians_of_true_ones():
    joints_m = np.zeros((3, 2, 3))
    joints_m[:, 0, 1] = [0.4, 0.5, 2.0]
    assert BoneLengths.measure(BODY, joints_m).median_m.tolist() == [0.5]


def test_a_file_keeps_the_probability_that_makes_a_person():
    for minimum in (0.6, 0.5):
        arrays = classifier_to_arrays(replace(stump(), min_probability=minimum))
        assert ("min_probability" in arrays) == (minimum != 0.5)
        assert classifier_from_arrays(arrays, BODY).min_probability == minimum
        assert filter_by(classifier_from_arrays(arrays, BODY)).accepts(0.55) == (minimum < 0.55)
    assert filter_by(None).classifier is None


@pytest.mark.parametrize(
    ("minimum", "message"),
    [
        (np.array([0.4, 0.6], np.float32), "one minimum probability"),
        (np.array([np.nan], np.float32), "finite float32"),
        (np.array([1.5], np.float32), "between 0 and 1, got 1.5"),
    ],
)
def test_a_probability_that_is_none_is_refused(minimum, message):
    with pytest.raises(ValueError, match=message):
        classifier_from_arrays(classifier_to_arrays(stump()) | {"min_probability": minimum}, BODY)
