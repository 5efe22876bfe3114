"""Which views of a candidate are judged, and when they make a person."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.inference.person_estimate import PersonEstimate
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.segmentation.views.view import View
from tests.inference.planned_stages import AlwaysRotated, Judge, SomebodyKnown, inference_with
from tests.support.toy_person import TOY, toy_frame


def estimated(pipeline: Pipeline, judge: Judge, **stages) -> PersonEstimate | None:
    frame = toy_frame(30).depth
    return inference_with(pipeline, person_filter=judge, **stages).estimate(frame, frame.depth_m > 0)


@pytest.mark.parametrize(("first", "rotated", "mean"), [(0.3, 0.9, 0.6), (0.9, 0.3, 0.6), (0.3, 0.6, None)])
def test_a_better_rotated_view_is_judged_too(bare_pipeline, first, rotated, mean):
    judge = Judge(first, rotated)
    person = estimated(bare_pipeline, judge, rotated_views=AlwaysRotated(len(TOY.joints)))
    assert len(judge.shown) == 2
    assert (person is None) == (mean is None)
    assert person is None or person.probability == pytest.approx(mean)


def test_both_views_are_judged_in_the_pixels_of_the_image(bare_pipeline):
    judge = Judge(1.0, 1.0)
    person = estimated(bare_pipeline, judge, rotated_views=AlwaysRotated(len(TOY.joints)))
    (view, upright, _), (same, turned, pose) = judge.shown
    assert same is view
    assert view.mask[tuple(turned.pixels.T)].all()
    assert len(turned.pixels) == pytest.approx(len(upright.pixels), rel=0.1)
    np.testing.assert_array_equal(pose.joints_m, person.pose.joints_m)  # camera axes


class LiesUpsideDown(RotatedViews):
    """Tries a quarter turn, and upside down where asked to, which is the best there is."""

    def wanted(self, view: View, pose: Pose, accepted: bool = True) -> tuple[int, ...]:
        return (1, 2) if accepted else (1,)

    def choose(self, seen) -> int:
        return max(seen)


@pytest.mark.parametrize(
    ("probabilities", "found"), [((0.3, 0.2, 0.7, 0.9), 0.8), ((0.05, 0.05), None), ((0.6, 0.6), 0.6)]
)
def test_who_may_lie_is_judged_upside_down_before_rejected(bare_pipeline, probabilities, found):
    judge = Judge(*probabilities)
    person = estimated(bare_pipeline, judge, rotated_views=LiesUpsideDown(len(TOY.joints)))
    assert len(judge.shown) == len(probabilities)
    assert (person is None) == (found is None)
    assert person is None or person.probability == pytest.approx(found)


def test_without_a_better_view_the_image_alone_is_judged(bare_pipeline):
    judge = Judge(0.7)
    assert estimated(bare_pipeline, judge).probability == 0.7
    assert len(judge.shown) == 1


@pytest.mark.parametrize(("probability", "found"), [(0.3, 0.3), (0.1, None)])
def test_somebody_known_is_found_by_less(bare_pipeline, probability, found):
    person = estimated(bare_pipeline, Judge(probability), known_people=SomebodyKnown())
    assert (person is None) == (found is None)
    assert person is None or (person.probability == found and not person.by_itself)


class TakesOff(Judge):
    """Takes a share of the pixels off a candidate, when it is first asked."""

    def __init__(self, share: float) -> None:
        super().__init__(0.9)
        self.share, self.asked = share, 0

    def person_mask(self, depth_m, mask, intrinsics, parts) -> np.ndarray:
        self.asked += 1
        taken, left = np.argwhere(mask)[: round(self.share * mask.sum()) if self.asked == 1 else 0], mask.copy()
        left[tuple(taken.T)] = False
        return left


@pytest.mark.parametrize(("share", "asked"), [(0.0, 1), (0.01, 1), (0.03, 2)])
def test_what_loses_more_than_some_pixels_is_classified_again(bare_pipeline, share, asked):
    judge = TakesOff(share)
    person, whole = estimated(bare_pipeline, judge), toy_frame(30).depth.depth_m > 0
    assert judge.asked == asked
    assert person.mask.sum() == whole.sum() - round(share * whole.sum())
    ((view, parts, _),) = judge.shown
    assert view.mask[tuple(parts.pixels.T)].all() == (asked == 2 or share == 0)
