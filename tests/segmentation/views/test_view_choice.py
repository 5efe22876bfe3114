"""Evidence for a view, and the choice by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.models.sections.boosted_sections import view_choice_from_arrays, view_choice_to_arrays
from posepipe.parts import EVERY_PIXEL, PartProbabilities
from posepipe.results import Joint, Pose
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.evidence.surface_curvature import UNKNOWN
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.views.view import View
from posepipe.segmentation.views.view_choice import ViewChoice
from posepipe.segmentation.views.view_evidence import NAMES, SeenView, ViewEvidence

BODY = BodyDefinition(
    "pair",
    ("left_half", "right_half", "top"),
    ("head", "hip"),
    {"head": ("top",), "hip": ("left_half", "right_half")},
    {"head": "hip", "hip": None},
)
CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)
LENGTHS = BoneLengths(((0, 1),), np.array([0.5], np.float32))
EVIDENCE = ViewEvidence(BODY, LENGTHS)


def unrotated(flip: bool = False) -> View:
    """A box of 30 x 10 pixels, 0.6 x 0.2 m at 2 m, left of the middle; or its mirror image."""
    depth_m, mask = np.full((48, 64), 4.0, np.float32), np.zeros((48, 64), bool)
    mask[20:30, 10:40] = True
    depth_m[mask] = 2.0
    images = (np.ascontiguousarray(image[:, ::-1]) if flip else image for image in (depth_m, mask))
    return View(*images, CAMERA)


def seen_view(view: View, values: tuple[float, ...], **joints: tuple[float, float, float, float]) -> SeenView:
    """A view with the same probabilities at every pixel, and joints at places in camera axes, of some confidence."""
    pixels = pixels_of(view.mask)
    parts = PartProbabilities(pixels, np.tile(np.float32(values), (len(pixels), 1)), EVERY_PIXEL)
    axes = view.to_camera(np.eye(3))
    own = {name: Joint(name, tuple(axes @ np.array(place)), share) for name, (*place, share) in joints.items()}
    return SeenView(view, parts, Pose.of(own))


def three_views(flip: bool = False) -> dict[int, SeenView]:
    view, side = unrotated(flip), -1 if flip else 1
    left, right = (3, 1) if flip else (1, 3)
    shown = {
        0: seen_view(view, (0.1, 0.3, 0.2, 0.4), head=(-0.4 * side, 0.02, 2.1, 0.5), hip=(0.0, 0.0, 2.0, 0.3)),
        left: seen_view(view.rotated(left), (0.0, 0.2, 0.0, 0.8), head=(-0.3 * side, 0.1, 2.1, 0.9)),
        right: seen_view(view.rotated(right), (0.2, 0.1, 0.1, 0.6), head=(0.2 * side, 0.0, 2.1, 0.4)),
    }
    return dict(sorted(shown.items()))


def measured(seen: dict[int, SeenView]) -> dict[int, dict[str, float]]:
    numbers = EVIDENCE.measure(seen)
    assert (numbers.dtype, numbers.shape) == (np.float32, (len(seen), len(NAMES)))
    return {quarters: dict(zip(NAMES, row.tolist(), strict=True)) for quarters, row in zip(seen, numbers, strict=True)}


def test_confidence_is_held_against_that_of_the_other_views():
    found = measured(three_views())
    assert [found[quarters]["expected correct"] for quarters in (0, 1, 3)] == pytest.approx([0.4, 0.45, 0.2])
    over = [found[quarters]["expected correct over the others"] for quarters in (0, 1, 3)]
    assert over == pytest.approx([-0.05, 0.05, -0.25])
    assert [found[quarters]["top part over the others"] for quarters in (0, 1)] == pytest.approx([-0.4, 0.2])
    assert [found[quarters]["background"] for quarters in (0, 1)] == pytest.approx([0.1, 0.0])
    assert [each["expected correct unrotated"] for each in found.values()] == pytest.approx([0.4] * 3)


def test_joints_agree_where_two_views_see_them_in_one_place():
    found = measured(three_views())
    assert [found[1]["agreed with unrotated"], found[1]["agreed by unrotated"]] == pytest.approx([0.45, 0.25])
    assert [found[0]["agreed with others"], found[0]["agreed by others"]] == pytest.approx([0.25, 0.45])
    assert [found[3]["agreed with unrotated"], found[3]["agreed with opposite"]] == [0, 0]
    assert [found[0]["agreed with unrotated"], found[0]["agreed with opposite"]] == [UNKNOWN, UNKNOWN]


def test_the_pose_is_held_against_surface_and_body():
    found = measured(three_views())
    assert [found[quarters]["joints on the surface"] for quarters in (0, 1, 3)] == [1, 1, 0]
    assert found[0]["bone error"] == pytest.approx(abs(np.log(np.hypot(0.4, np.hypot(0.02, 0.1)) / 0.5)), rel=1e-4)
    assert found[1]["bone error"] == UNKNOWN  # one joint has no bone
    assert found[0]["head below the middle"] == pytest.approx(0.01)
    assert found[0]["head behind the middle"] == pytest.approx(0.05)


def test_evidence_for_a_view_does_not_change_under_a_mirror():
    straight, mirrored = measured(three_views()), measured(three_views(flip=True))
    for quarters in (0, 1, 3):
        assert mirrored[-quarters % 4] == pytest.approx(straight[quarters], abs=2e-3)


def choice(name: str, threshold: float) -> ViewChoice:
    """Prefers views with more than ``threshold`` of one number."""
    trees = BoostedTrees(
        NAMES,
        number=np.array([NAMES.index(name), LEAF, LEAF], np.int32),
        threshold=np.array([threshold, 0, 0], np.float32),
        child=np.array([1, 0, 0], np.int32),
        value=np.array([0, 0.2, 0.7], np.float32),
        roots=np.array([0], np.int32),
    )
    return ViewChoice(BODY, LENGTHS, trees)


def test_the_view_of_the_highest_score_is_chosen():
    assert choice("top part", 0.7).best(three_views()) == 1
    assert choice("background", 0.15).best(three_views()) == 3
    assert choice("unrotated", 0.5).best(three_views()) == 0
    assert choice("spread", 99.0).best(three_views()) == 0  # all are alike: the unrotated one


def test_a_choice_comes_back_from_its_arrays():
    chooses = choice("top part", 0.7)
    again = view_choice_from_arrays(view_choice_to_arrays(chooses), BODY)
    assert again.trees.names == NAMES
    assert again.lengths.median_m.tolist() == [0.5]
    assert again.best(three_views()) == 1
    assert (view_choice_to_arrays(None), view_choice_from_arrays({}, BODY)) == ({}, None)
    with pytest.raises(ValueError, match="bone lengths in metres"):
        view_choice_from_arrays(view_choice_to_arrays(chooses) | {"bone_m": np.zeros(1, np.float32)}, BODY)


def test_unknown_evidence_for_a_view_is_refused():
    trees = choice("spread", 1.0).trees
    with pytest.raises(ValueError, match="does not measure"):
        ViewChoice(BODY, LENGTHS, replace(trees, names=("mood", *NAMES[1:])))
