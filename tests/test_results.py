"""Proposals: arrays that read as a sequence."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from posepipe.landmarks import Landmark
from posepipe.results import JointProposal, Pose, Proposals

HEAD, VOTED, HAND = Landmark("head", False), Landmark("head", True), Landmark("left_hand", False)
LANDMARKS = (HEAD, HAND, VOTED)


def proposal(x: float, confidence: float, landmark: Landmark = HEAD) -> JointProposal:
    return JointProposal(landmark.name, (x, 0.5, 2.0), confidence, landmark.voted)


SOME = [proposal(1.0, 0.3), proposal(2.0, 0.9, VOTED), proposal(3.0, 0.7)]
SORTED = [SOME[2], SOME[0], SOME[1]]  #: landmark by landmark, the surest first


def test_proposals_read_landmark_by_landmark_the_surest_first():
    known = Proposals.gather(LANDMARKS, SOME)
    assert list(known) == SORTED
    assert len(known) == 3
    assert known[0] == SORTED[0]
    assert known[-1] == SORTED[-1]
    assert known[1:] == tuple(SORTED[1:])
    assert list(reversed(known)) == SORTED[::-1]
    assert SOME[1] in known
    assert known == tuple(SORTED)
    assert tuple(SORTED) == known
    assert known != tuple(SOME)


def test_gathered_proposals_stay_what_they_are():
    known = Proposals.gather(LANDMARKS, SOME)
    assert Proposals.gather(LANDMARKS, known) is known
    again = Proposals.gather((VOTED, HEAD, HAND), known)
    assert list(again) == [SOME[1], SOME[2], SOME[0]]


@pytest.mark.parametrize("confidence", [0.0, -0.5, np.nan])
def test_a_proposal_without_confidence_is_none(confidence):
    assert len(Proposals.gather(LANDMARKS, [proposal(1.0, confidence)])) == 0


def test_nobody_has_no_proposals():
    known = Proposals.gather(LANDMARKS, [])
    assert list(known) == []
    assert known == ()


def test_one_of_each_landmark_is_picked_and_none_where_none_is():
    places_m, confidence = Proposals.gather(LANDMARKS, SOME).pick(np.array([1, 0, 0]))
    np.testing.assert_array_equal(places_m, [[1, 0.5, 2], [0, 0, 0], [2, 0.5, 2]])
    assert confidence.tolist() == [0.3, 0, 0.9]


def test_poses_made_from_the_same_proposals_are_the_same_and_so_are_copies():
    one, other = (Pose({"head": SOME[0]}, source_proposals=Proposals.gather(LANDMARKS, SOME)) for _ in range(2))
    assert one == other
    assert deepcopy(one) == other
    assert one != Pose({"head": SOME[0]}, source_proposals=Proposals.gather(LANDMARKS, SOME[:2]))


def test_what_is_written_of_proposals_is_a_line():
    assert repr(Proposals.gather(LANDMARKS, SOME)) == "<3 proposals for 3 landmarks>"
