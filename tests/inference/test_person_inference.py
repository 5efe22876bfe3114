"""From a candidate to people: who is found in what heads, surfaces and a pose make of it."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Plane
from posepipe.segmentation.regions.connected_surfaces import ConnectedSurfaces
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.regions.occluded_people import OccludedPeople
from posepipe.segmentation.regions.region_evidence import SeenRegion
from posepipe.segmentation.regions.region_filter import RegionFilter
from posepipe.segmentation.regions.remainder import Remainder
from tests.inference.planned_stages import AlwaysRotated, Judge, SomebodyKnown, inference_with
from tests.support.toy_person import TOY, toy_frame


class SureOf(RegionFilter):
    """Accepts whoever is probable enough, and keeps the regions."""

    __slots__ = ("asked",)

    def probability(self, seen: SeenRegion, floor: Plane | None = None) -> float:
        object.__setattr__(self, "asked", [*getattr(self, "asked", []), seen])
        return seen.probability

    def accepts(self, seen: SeenRegion, probability: float) -> bool:
        return probability >= self.min_probability


class LeftIsLeft(Remainder):
    """Leaves the left half of every candidate."""

    def masks(self, depth_m, mask, intrinsics, parts, pose) -> list[np.ndarray]:
        cols = np.arange(mask.shape[1])
        return [mask & (cols < np.median(np.nonzero(mask)[1]))]


@pytest.mark.parametrize("head_split", [HeadSplit(), None])
@pytest.mark.parametrize("min_probability", [0.5, 2.0])
def test_somebody_else_takes_their_pixels_along(bare_pipeline, min_probability, head_split):
    frame = toy_frame(30).depth
    whole, judge = frame.depth_m > 0, SureOf(min_probability=min_probability)
    stages = {"head_split": head_split, "remainder": LeftIsLeft(TOY), "region_filter": judge}
    people = inference_with(bare_pipeline, **stages).people_in(frame, whole, None)
    assert len(people) == (2 if min_probability < 1 else 1)
    np.testing.assert_array_equal(sum(person.mask.astype(int) for person in people), whole)  # each pixel once


def test_a_person_is_not_reduced_to_somebody_else_beside_them(bare_pipeline):
    """Of the whole, only what might be somebody else is a person by itself: they are one."""
    frame, judge = toy_frame(30).depth, Judge(0.9, 0.9, 0.1)
    stages = {"person_filter": judge, "remainder": LeftIsLeft(TOY), "region_filter": SureOf(min_probability=0.5)}
    (person,) = inference_with(bare_pipeline, **stages).people_in(frame, frame.depth_m > 0, None)
    assert len(judge.shown) == 3
    np.testing.assert_array_equal(person.mask, frame.depth_m > 0)


class Halves(ConnectedSurfaces):
    """Divides every candidate into its left and its right half."""

    def masks(self, depth_m, mask, intrinsics) -> list[np.ndarray]:
        left = mask & (np.arange(mask.shape[1]) < np.median(np.nonzero(mask)[1]))
        return [left, mask & ~left]


class NothingLeft(LeftIsLeft):
    """Leaves nothing unexplained."""

    def masks(self, depth_m, mask, intrinsics, parts, pose) -> list[np.ndarray]:
        return []


def people_in_halves(pipeline, judge, **stages):
    frame = toy_frame(30).depth
    whole = frame.depth_m > 0
    halves = Halves().masks(frame.depth_m, whole, frame.intrinsics)
    stages = {"surfaces": Halves(), "region_filter": SureOf()} | stages
    people = inference_with(pipeline, person_filter=judge, **stages).people_in(frame, whole, None)
    return [person.mask for person in people], halves


@pytest.mark.parametrize("unsure", [0.1, 0.7])
def test_where_a_candidate_is_no_person_its_surfaces_may_be(bare_pipeline, unsure):
    found, (left, _) = people_in_halves(bare_pipeline, Judge(0.1, 0.9, unsure))
    np.testing.assert_array_equal(found, [left])


class NoPersonMask(Judge):
    """Finds no person's pixels in a whole candidate, and some in its halves."""

    def person_mask(self, depth_m, mask, intrinsics, parts) -> np.ndarray | None:
        self.asked = getattr(self, "asked", 0) + 1
        return None if self.asked == 1 else mask


def test_surfaces_are_judged_where_no_pixel_is_a_persons(bare_pipeline):
    found, halves = people_in_halves(bare_pipeline, NoPersonMask(0.9, 0.9))
    np.testing.assert_array_equal(found, halves)


@pytest.mark.parametrize(("min_probability", "count"), [(0.5, 2), (2.0, 1)])
def test_two_surfaces_of_a_person_may_be_two_people(bare_pipeline, min_probability, count):
    stages = {"remainder": NothingLeft(TOY), "region_filter": SureOf(min_probability=min_probability)}
    found, halves = people_in_halves(bare_pipeline, Judge(0.9, 0.9, 0.9), **stages)
    np.testing.assert_array_equal(found, halves if count == 2 else [halves[0] | halves[1]])


class SplitInHalves(HeadSplit):
    """Splits every candidate into its left and its right half."""

    def split(self, proposals, depth_m, mask, intrinsics, up) -> list[np.ndarray]:
        return Halves().masks(depth_m, mask, intrinsics)


@pytest.mark.parametrize(("min_confidence", "count"), [(0.0, 2), (1.0, 1)])
def test_heads_divide_people_whose_poses_are_confident(bare_pipeline, min_confidence, count):
    stages = {"head_split": SplitInHalves(min_confidence=min_confidence), "surfaces": None}
    found, halves = people_in_halves(bare_pipeline, Judge(0.9, 0.9, 0.9), **stages)
    np.testing.assert_array_equal(found, halves if count == 2 else [halves[0] | halves[1]])


class LeftIsPerson(Judge):
    """Finds the left of a whole candidate, a share of it, to be a person, and all of what was left."""

    def __init__(self, share: float, *probabilities: float) -> None:
        super().__init__(*probabilities)
        self.share = share

    def person_mask(self, depth_m, mask, intrinsics, parts) -> np.ndarray:
        self.whole = getattr(self, "whole", mask)
        left = mask & (np.arange(mask.shape[1]) < np.quantile(np.nonzero(mask)[1], self.share))
        return left if mask is self.whole else mask


@pytest.mark.parametrize(("share", "probability", "count"), [(0.4, 0.9, 2), (0.4, 0.6, 1), (0.6, 0.9, 1)])
def test_what_was_left_of_a_candidate_may_be_somebody_else(bare_pipeline, share, probability, count):
    """A person who is more than half of it was not merely the largest of several."""
    frame, judge = toy_frame(30).depth, LeftIsPerson(share, 0.9, probability, 0.9)
    whole, stages = frame.depth_m > 0, {"remainder": NothingLeft(TOY), "region_filter": SureOf()}
    people = inference_with(bare_pipeline, person_filter=judge, **stages).people_in(frame, whole, None)
    left = LeftIsPerson(share).person_mask(None, whole, None, None)
    np.testing.assert_array_equal([person.mask for person in people], [left, whole & ~left][:count])


class Pieces(OccludedPeople):
    """Takes what is left for one person, and keeps it."""

    __slots__ = ("left",)

    def masks(self, depth_m, mask, intrinsics, up) -> list[np.ndarray]:
        object.__setattr__(self, "left", mask)
        return [mask] if mask.any() else []


@pytest.mark.parametrize(("probability", "count"), [(0.9, 1), (0.6, 0)])
def test_people_in_pieces_are_somebody_else(bare_pipeline, probability, count):
    frame, pieces = toy_frame(30).depth, Pieces()
    (person,) = inference_with(bare_pipeline, person_filter=Judge(0.9)).people_in(frame, frame.depth_m > 0, None)
    remainder, judge = Remainder(TOY, reach_m=0.1), SureOf()
    stages = {"person_filter": Judge(probability, 0.9), "remainder": remainder, "occluded_people": pieces}
    stages["region_filter"] = judge
    found = inference_with(bare_pipeline, **stages).with_people_in_pieces(frame, frame.depth_m > 0, [person], None)
    assert len(found) == 1 + count
    assert [seen.region.known for seen in judge.asked] == [(person.first.pose,)]
    near = remainder.around(frame.depth_m, person.mask, frame.intrinsics, person.first.pose)
    np.testing.assert_array_equal(pieces.left, (frame.depth_m > 0) & ~near)
    np.testing.assert_array_equal(sum(each.mask.astype(int) for each in found), frame.depth_m > 0)  # each pixel once
    assert all((each.parts > 0).sum() == each.mask.sum() for each in found)


def test_who_is_no_person_without_those_pixels_keeps_the_pose(bare_pipeline):
    frame, pieces = toy_frame(30).depth, Pieces()
    (person,) = inference_with(bare_pipeline, person_filter=Judge(0.9)).people_in(frame, frame.depth_m > 0, None)
    remainder = Remainder(TOY, reach_m=0.1)
    stages = {"person_filter": Judge(0.9, 0.1), "remainder": remainder, "occluded_people": pieces}
    first, other = inference_with(bare_pipeline, **stages).with_people_in_pieces(
        frame, frame.depth_m > 0, [person], None
    )
    assert first.pose is person.pose
    np.testing.assert_array_equal(first.mask, person.mask & ~other.mask)
    np.testing.assert_array_equal(first.parts > 0, first.mask)


def test_without_the_stages_nobody_is_sought_in_pieces(bare_pipeline):
    frame = toy_frame(30).depth
    for stages in ({"remainder": Remainder(TOY)}, {"occluded_people": Pieces()}):
        assert inference_with(bare_pipeline, **stages).with_people_in_pieces(frame, frame.depth_m > 0, [], None) == []


class FurnitureAtRight(NothingLeft):
    """Explains the left half of every candidate."""

    def explained(self, depth_m, mask, intrinsics, parts, pose) -> np.ndarray:
        return Halves().masks(depth_m, mask, intrinsics)[0]


@pytest.mark.parametrize(("again", "count"), [(0.9, 1), (0.7, 0)])
def test_without_the_furniture_beside_them_a_person_is_found(bare_pipeline, again, count):
    frame, judge = toy_frame(30).depth, Judge(0.4, again)
    stages = {"person_filter": judge, "remainder": FurnitureAtRight(TOY), "region_filter": SureOf()}
    people = inference_with(bare_pipeline, **stages).people_in(frame, frame.depth_m > 0, None)
    half = Halves().masks(frame.depth_m, frame.depth_m > 0, frame.intrinsics)[0]
    np.testing.assert_array_equal([person.mask for person in people], [half][:count])
    assert len(judge.shown) == 2


def test_the_region_filter_learns_what_a_region_is_part_of(bare_pipeline):
    frame, judge = toy_frame(30).depth, SureOf(min_probability=0.5)
    whole = frame.depth_m > 0
    stages = {"person_filter": Judge(0.9, 0.8, 0.7), "surfaces": Halves(), "remainder": NothingLeft(TOY)}
    found = inference_with(bare_pipeline, region_filter=judge, **stages).people_in(frame, whole, None)
    first, second = (seen.region for seen in judge.asked)
    np.testing.assert_array_equal(first.candidate_mask, whole)
    assert first.candidate_probability == second.candidate_probability == 0.9
    assert [len(region.known) for region in (first, second)] == [1, 2]  # whoever was found before
    assert len(found) == 2
    assert all(person.by_itself for person in found)


class UpperHalf(Remainder):
    """Explains the upper half of what a view shows."""

    def explained(self, depth_m, mask, intrinsics, parts, pose) -> np.ndarray:
        assert mask[tuple(parts.pixels.T)].all()
        return mask & (np.arange(len(mask)) < np.median(np.nonzero(mask)[0]))[:, None]


def test_what_a_rotated_view_explains_has_no_gaps(bare_pipeline):
    """The grid of the classified pixels is that of the view."""
    frame, judge = toy_frame(30).depth, Judge(0.3, 0.3, 0.9, 0.9)
    stages = {"rotated_views": AlwaysRotated(len(TOY.joints)), "remainder": UpperHalf(TOY)}
    people = inference_with(bare_pipeline, person_filter=judge, **stages).people_in(frame, frame.depth_m > 0, None)
    half = Halves().masks(frame.depth_m, frame.depth_m > 0, frame.intrinsics)[0]
    np.testing.assert_array_equal([person.mask for person in people], [half])


@pytest.mark.parametrize(("whole", "surface", "found"), [(0.1, 0.4, 0), (0.1, 0.6, 2), (0.9, 0.4, 2)])
def test_where_nobody_is_known_both_filters_must_agree(bare_pipeline, whole, surface, found):
    """Parts of furniture resemble people; parts beside somebody are judged by the region filter alone."""
    stages = {"region_filter": SureOf(min_probability=0.0), "remainder": NothingLeft(TOY)}
    masks, halves = people_in_halves(bare_pipeline, Judge(whole, surface, surface, 0.9), **stages)
    np.testing.assert_array_equal(masks, halves[:found])


def test_what_is_left_beside_somebody_is_not_known(bare_pipeline):
    """Half of them lies where they were in the last frame: it is theirs."""
    stages = {"known_people": SomebodyKnown(), "region_filter": SureOf(min_probability=2.0)}
    found, halves = people_in_halves(bare_pipeline, Judge(0.9, 0.9, 0.9), remainder=NothingLeft(TOY), **stages)
    np.testing.assert_array_equal(found, [halves[0] | halves[1]])


def test_in_a_region_without_others_somebody_is_known(bare_pipeline):
    stages = {"known_people": SomebodyKnown(), "region_filter": SureOf(min_probability=2.0), "head_split": None}
    found, halves = people_in_halves(bare_pipeline, Judge(0.1, 0.9, 0.1), **stages)
    np.testing.assert_array_equal(found, halves[:1])


def test_furniture_beside_a_person_is_taken_off_a_surface_too(bare_pipeline):
    stages = {"remainder": FurnitureAtRight(TOY)}
    found, (left, _) = people_in_halves(bare_pipeline, Judge(0.1, 0.4, 0.9, 0.1, 0.1), **stages)
    assert len(found) == 1
    assert not (found[0] & ~left).any()
    assert found[0].sum() < left.sum()


def test_a_person_keeps_what_their_pose_does_not_explain(bare_pipeline):
    frame, judge = toy_frame(30).depth, Judge(0.9)
    stages = {"person_filter": judge, "remainder": FurnitureAtRight(TOY)}
    (person,) = inference_with(bare_pipeline, **stages).people_in(frame, frame.depth_m > 0, None)
    np.testing.assert_array_equal(person.mask, frame.depth_m > 0)
