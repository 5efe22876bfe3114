"""Figures worked out by hand on five frames, and what every figure keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.body import HUMAN, BodyDefinition
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.evaluation.metrics.pose_metrics import JointScores, average_precision
from posepipe.results import JointProposal, Pose
from tests.reference.evaluation import pose_metrics as naive
from tests.support.toy_person import TOY

#: head, torso, left_hand, right_hand of the true person in every frame
TRUTH = np.array([[0, -0.6, 2], [0, 0, 2], [0.3, 0, 2], [-0.3, 0, 2]])
SEEN = np.ones(4, bool)


def at(joint: str, offset, confidence: float) -> JointProposal:
    """A proposal so far from the true joint."""
    xyz = TRUTH[TOY.joint_index(joint)] + offset
    return JointProposal(joint, tuple(map(float, xyz)), confidence)


def right_pose(source_proposals=(), **changes) -> Pose:
    """All joints in their places with confidence 0.9, some replaced; None takes one out."""
    pose = {joint: at(joint, (0, 0, 0), 0.9) for joint in TOY.joints} | changes
    return Pose.of(
        {joint: proposal for joint, proposal in pose.items() if proposal is not None}, tuple(source_proposals)
    )


# five frames by hand


def five_label_images():
    """(truth, predicted): head 1, trunk 2, left_arm 3, right_arm 4, legs 5."""
    return [
        ([1, 1, 1, 1, 2, 2], [1, 1, 1, 2, 2, 2]),  # head 3 of 4, trunk 2 of 2
        ([2, 2, 3, 3, 0, 0], [2, 0, 3, 3, 1, 1]),  # trunk 1 of 2, left arm 2 of 2, background passed over
        ([4], [3]),  # right arm 0 of 1
        ([0, 0, 0], [0, 5, 5]),  # no person
        ([5, 5, 5, 5, 5], [5, 5, 5, 5, 1]),  # legs 4 of 5
    ]


def test_part_accuracy_is_the_mean_of_the_recalls():
    scores = PartScores(TOY)
    for truth, predicted in five_label_images():
        scores.add(np.array([truth], np.uint8), np.array([predicted], np.uint8))
    # head 3/4; trunk 2/2 and 1/2 make 3/4; left arm 2/2; right arm 0/1; legs 4/5
    assert scores.recall() == {"head": 0.75, "trunk": 0.75, "left_arm": 1, "right_arm": 0, "legs": 0.8}
    assert scores.mean_accuracy() == pytest.approx((0.75 + 0.75 + 1 + 0 + 0.8) / 5)
    assert scores.confusion.sum() == 16
    assert scores.confusion[2].tolist() == [1, 0, 3, 0, 0, 0]  # a person's pixel may be labelled background


@pytest.fixture
def five_people() -> JointScores:
    """Five frames, the head of each by hand; the hands exchanged or drawn together in the last two."""
    scores = JointScores(TOY)
    # 1: 5 cm off
    head = at("head", (0.05, 0, 0), 0.9)
    scores.add(TRUTH, SEEN, right_pose([head], head=head), [head])
    # 2: 12 cm off, and a less confident proposal 3 cm off on the other side
    head = at("head", (0.12, 0, 0), 0.8)
    scores.add(TRUTH, SEEN, right_pose([head], head=head), [head, at("head", (-0.03, 0, 0), 0.4)])
    # 3: missing
    scores.add(TRUTH, SEEN, right_pose(head=None), [])
    # 4: hidden, 13 cm off; another proposal close to it counts neither way.
    # The hands are 2 cm from the middle, each on the wrong side
    head = at("head", (0, 0.13, 0), 0.7)
    hands = {"left_hand": at("left_hand", (-0.32, 0, 0), 0.9), "right_hand": at("right_hand", (0.32, 0, 0), 0.9)}
    hidden = np.array([False, True, True, True])
    scores.add(TRUTH, hidden, right_pose([head], head=head, **hands), [head, at("head", (0, -0.01, 0), 0.6)])
    # 5: 2 cm off; one proposal far away, and one near the truth but not first; the hands are exchanged
    head = at("head", (0.02, 0, 0), 0.6)
    hands = {"left_hand": at("left_hand", (-0.6, 0, 0), 0.9), "right_hand": at("right_hand", (0.6, 0, 0), 0.9)}
    others = [head, at("head", (0, 0.5, 0), 0.65), at("head", (-0.09, 0, 0), 0.3)]
    scores.add(TRUTH, SEEN, right_pose([head], head=head, **hands), others)
    return scores


def test_average_precision_of_five_heads(five_people):
    # ranked: 0.9 right, 0.8 wrong, 0.7 wrong (hidden), 0.65 wrong, 0.6 right, 0.4 right, 0.3 wrong (not the first);
    # precision where right: 1/1, 2/5, 3/6; best from there on 1, 1/2, 1/2; of 4 visible heads one is never found
    assert five_people.table()["head"]["ap"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 4)


@pytest.mark.parametrize(("off_m", "shares"), [(0.09, (1, 1)), (0.11, (0, 1)), (0.14, (0, 1)), (0.16, (0, 0))])
def test_shares_have_the_radius_of_their_name(off_m, shares):
    scores, head = JointScores(TOY), at("head", (0, off_m, 0), 0.9)
    scores.add(TRUTH, SEEN, right_pose([head], head=head), [head])
    row = scores.table()["head"]
    assert (row["within_10cm"], row["within_15cm"]) == (row["all_within_10cm"], row["all_within_15cm"]) == shares


def test_shares_of_five_heads(five_people):
    # visible: 5 cm, 12 cm, missing, 2 cm; hidden: 13 cm
    head = five_people.table()["head"]
    assert head["within_10cm"] == pytest.approx(2 / 4)
    assert head["within_15cm"] == pytest.approx(3 / 4)
    assert head["all_within_10cm"] == pytest.approx(2 / 5)
    assert head["all_within_15cm"] == pytest.approx(4 / 5)
    assert head["hidden_within_15cm"] == pytest.approx(1)
    assert head["median_m"] == pytest.approx(0.05)  # of those found


def test_flips_of_five_people(five_people):
    # person 4: the line of the hands points the wrong way, but exchanging them helps by 4 cm only: 32 against 28;
    # person 5: exchanged, and so also turned
    means = five_people.means()
    assert five_people.people == 5
    assert means["left_right_flips"] == pytest.approx(1 / 5)
    assert means["front_back_flips"] == pytest.approx(2 / 5)


def test_means_run_over_the_joints(five_people):
    # hands: 3 of 5 in place; torso always
    means, table = five_people.means(), five_people.table()
    assert table["left_hand"]["within_10cm"] == pytest.approx(3 / 5)
    assert means["within_10cm"] == pytest.approx((2 / 4 + 1 + 3 / 5 + 3 / 5) / 4)
    assert means["map"] == pytest.approx(np.mean([row["ap"] for row in table.values()]))
    assert means["hidden_within_15cm"] == 1  # no joint but the head was ever hidden


def test_shares_of_five_people_by_distance_and_turn(five_people):
    # all at 2 m and facing the camera; of the visible joints right: 4 of 4, 3 of 4, 3 of 4, 1 of 3 (torso), 2 of 4
    wanted = (1 + 3 / 4 + 3 / 4 + 1 / 3 + 2 / 4) / 5
    for figures, own in ((five_people.by_distance(), "2-2.5 m"), (five_people.by_yaw(), "0-30 deg")):
        assert figures[own] == pytest.approx(wanted)
        assert all(np.isnan(share) for name, share in figures.items() if name != own)


# what always holds


def test_perfect_predictions_score_1():
    parts, joints = PartScores(TOY), JointScores(TOY)
    rng = np.random.default_rng(1)
    for _ in range(5):
        labels = rng.integers(0, 6, (8, 9), dtype=np.uint8)
        parts.add(labels, labels)
        joints.add(TRUTH, SEEN, right_pose(right_pose().joints.values()), list(right_pose().joints.values()))
    assert parts.mean_accuracy() == 1
    means = joints.means()
    for column in ("map", "within_10cm", "within_15cm", "all_within_10cm", "all_within_15cm"):
        assert means[column] == 1
    assert means["left_right_flips"] == means["front_back_flips"] == means["median_m"] == 0


def test_a_missing_joint_is_a_miss():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose(torso=None))
    row = scores.table()["torso"]
    assert row["ap"] == row["within_10cm"] == row["all_within_15cm"] == 0
    assert np.isnan(row["median_m"])


def test_a_missed_person_misses_all_joints_and_flips_none():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, Pose.of({}))
    means = scores.means()
    assert means["map"] == means["within_15cm"] == means["left_right_flips"] == means["front_back_flips"] == 0


def test_proposals_beyond_the_first_right_one_are_false():
    scores = JointScores(TOY)
    chosen = at("head", (0.06, 0, 0), 0.5)
    scores.add(TRUTH, SEEN, right_pose([chosen], head=chosen), [chosen, at("head", (-0.06, 0, 0), 0.9)])
    # the more confident one is right; the pose's own comes second and counts as false: precision 1 at recall 1
    assert scores.table()["head"]["ap"] == 1
    scores.add(TRUTH, SEEN, right_pose(head=None), [])
    # one of two found, by the first proposal
    assert scores.table()["head"]["ap"] == pytest.approx(1 / 2)


def test_a_proposal_off_its_joint_is_false_unless_a_source():
    beside = at("head", (0.01, 0, 0), 0.95)
    # ranked: 0.95 right, 0.9 the same again, 0.8 right
    for source_proposals, wanted in (([beside], 1), ([], (1 + 2 / 3) / 2)):
        scores = JointScores(TOY)
        scores.add(TRUTH, SEEN, right_pose(source_proposals), [beside])
        scores.add(TRUTH, SEEN, right_pose(head=at("head", (0, 0, 0), 0.8)))
        assert scores.table()["head"]["ap"] == pytest.approx(wanted)


def test_a_confident_wrong_proposal_costs_precision():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose(), [at("head", (0, 1, 0), 0.95)])
    assert scores.table()["head"]["ap"] == pytest.approx(1 / 2)


def test_wrong_proposals_below_all_right_ones_cost_nothing():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose(), [at("head", (0, 1, 0), 0.1), at("head", (0, -1, 0), 0.05)])
    assert scores.table()["head"]["ap"] == 1


def test_proposals_of_a_person_who_is_not_there_are_false():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose())
    ghost = Pose.of({"head": at("head", (2, 0, 0), 0.95), "torso": at("torso", (2, 0, 0), 0.1)})
    further = [at("left_hand", (2, 0, 0), 0.9), JointProposal("legs", (2.0, 0.0, 2.0), 0.99)]
    scores.add_false(ghost, further)
    # a false head before the right one, a torso after it, a left hand of the same confidence
    assert [row["ap"] for row in scores.table().values()] == pytest.approx([1 / 2, 1, 1 / 2, 1])
    means = scores.means()
    assert means["within_10cm"] == means["all_within_15cm"] == scores.people == 1


def test_sources_of_a_false_pose_count_once():
    once, twice = JointScores(TOY), JointScores(TOY)
    source = at("head", (2, 0, 0), 0.95)
    for scores, sources in ((once, [source]), (twice, [])):
        scores.add(TRUTH, SEEN, right_pose())
        scores.add_false(Pose.of({"head": at("head", (2, 0, 0), 0.93)}, tuple(sources)), [source])
    assert once.table()["head"]["ap"] == pytest.approx(1 / 2)
    assert twice.table()["head"]["ap"] == pytest.approx(1 / 3)


def test_proposals_for_other_landmarks_do_not_matter():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose(), [JointProposal("legs", (0.0, 0.0, 2.0), 0.99)])
    assert scores.means()["map"] == 1


def test_a_part_named_like_a_foreign_joint_is_refused():
    # its proposals would be taken for the joint's
    with pytest.raises(ValueError, match="bears a joint's name"):
        replace(TOY, parts=tuple("torso" if part == "trunk" else part for part in TOY.parts))


def test_a_joint_at_10_cm_is_no_longer_right():
    scores = JointScores(TOY)
    scores.add(TRUTH, SEEN, right_pose(torso=at("torso", (0.0999, 0, 0), 0.9)))
    scores.add(TRUTH, SEEN, right_pose(torso=at("torso", (0.1001, 0, 0), 0.9)))
    assert scores.table()["torso"]["within_10cm"] == pytest.approx(1 / 2)


def test_a_joint_that_was_never_visible_has_no_average_precision():
    scores = JointScores(TOY)
    scores.add(TRUTH, np.array([True, False, True, True]), right_pose())
    row = scores.table()["torso"]
    assert np.isnan(row["ap"])
    assert np.isnan(row["within_10cm"])
    assert row["all_within_10cm"] == 1
    assert scores.means()["map"] == 1  # over the joints that have it


def test_parts_that_never_occur_are_left_out_of_the_mean():
    scores = PartScores(TOY)
    scores.add(np.array([[1, 1]], np.uint8), np.array([[1, 2]], np.uint8))
    assert scores.recall() == {"head": 0.5}
    assert scores.mean_accuracy() == 0.5


def test_without_pixels_or_people_figures_are_nan():
    assert np.isnan(PartScores(TOY).mean_accuracy())
    assert np.isnan(list(JointScores(TOY).means().values())).all()


def test_joints_without_truth_are_left_out():
    known = np.array([True, True, False, True])  # the left hand is not
    truth = np.where(known[:, None], TRUTH, np.nan)
    scores = JointScores(TOY)
    scores.add(truth, known, right_pose(torso=at("torso", (0, 0, 0.2), 0.9)))
    assert np.isnan(scores.table()["left_hand"]["all_within_10cm"])
    assert scores.means()["within_10cm"] == pytest.approx(2 / 3)
    assert scores.views[0][0] == 2
    assert scores.views[0][2] == pytest.approx(2 / 3)
    scores.add(np.full((4, 3), np.nan), SEEN, right_pose())
    assert scores.people == 1


def test_sides_are_compared_over_the_pairs_that_are_known():
    truth = np.array([[0, -0.6, 2], [0, 0, 2], [0.3, 0, 2], [-0.3, 0, 2], [0.1, 0.9, 2], [-0.1, 0.9, 2]])
    joints = (*TOY.joints, "left_foot", "right_foot")
    body = replace(TOY, joints=joints, parents={})
    swapped = Pose.of({j: JointProposal(j, tuple(truth[body.mirrored_joints()[k]]), 0.9) for k, j in enumerate(joints)})
    scores = JointScores(body)
    truth[5] = np.nan
    scores.add(truth, np.isfinite(truth).all(axis=1), swapped)
    assert scores.left_right_swapped == scores.facing_reversed == 1


def test_small_parts_weigh_as_much_as_large_ones():
    scores = PartScores(TOY)
    scores.add(np.array([[1] * 1000 + [2]], np.uint8), np.array([[1] * 1001], np.uint8))
    assert scores.mean_accuracy() == 0.5


def facing_away(joints: np.ndarray) -> np.ndarray:
    """The same person turned half round about the vertical through the middle."""
    return joints * [-1, 1, -1] + [0, 0, 4]


def test_a_person_taken_to_face_the_wrong_way_is_turned():
    scores = JointScores(TOY)
    pose = {
        joint: JointProposal(joint, tuple(map(float, place)), 0.9)
        for joint, place in zip(TOY.joints, facing_away(TRUTH), strict=True)
    }
    scores.add(TRUTH, SEEN, Pose.of(pose))
    assert scores.means()["front_back_flips"] == 1


def test_a_person_seen_from_behind_is_not_turned_when_found_so():
    scores = JointScores(TOY)
    away = facing_away(TRUTH)
    pose = {joint: JointProposal(joint, tuple(map(float, p)), 0.9) for joint, p in zip(TOY.joints, away, strict=True)}
    scores.add(away, SEEN, Pose.of(pose))
    assert scores.means()["front_back_flips"] == scores.means()["left_right_flips"] == 0
    assert scores.by_yaw()["150-180 deg"] == 1


@pytest.mark.parametrize("joints", [("base", "tip"), ("base", "left_gripper")], ids=["no sides", "one side only"])
def test_a_body_without_pairs_is_scored_too(joints):
    arm = BodyDefinition("arm", ("base", "tool"), joints, {"base": ("base",)})
    scores = JointScores(arm)
    truth = np.array([[0.0, 0, 2], [0, 1, 2]])
    pose = {name: JointProposal(name, tuple(map(float, p)), 0.9) for name, p in zip(joints, truth, strict=True)}
    scores.add(truth, np.ones(2, bool), Pose.of(pose))
    assert scores.means()["map"] == 1
    assert np.isnan([scores.means()[flips] for flips in ("left_right_flips", "front_back_flips")]).all()


def test_a_human_with_exchanged_sides_is_a_left_right_flip():
    rng = np.random.default_rng(2)
    truth = rng.uniform(-0.8, 0.8, (20, 3)) + [0, 0, 2.5]
    swapped = truth[HUMAN.mirrored_joints()]
    scores = JointScores(HUMAN)
    for places in (truth, swapped):
        pose = {
            name: JointProposal(name, tuple(map(float, p)), 0.9) for name, p in zip(HUMAN.joints, places, strict=True)
        }
        scores.add(truth, np.ones(20, bool), Pose.of(pose))
    assert scores.means()["left_right_flips"] == scores.means()["front_back_flips"] == 1 / 2


CONFIDENCES = st.floats(0, 1) | st.sampled_from([0.25, 0.5, 1.0])
PROPOSALS = st.lists(st.tuples(CONFIDENCES, st.booleans()), max_size=30)


@given(PROPOSALS, st.integers(0, 5))
def test_average_precision_is_that_of_its_naive_twin(proposals, missed):
    n_true = sum(right for _, right in proposals) + missed
    found = average_precision(proposals, n_true)
    assert found == pytest.approx(naive.average_precision(proposals, n_true), nan_ok=True)
    assert np.isnan(found) == (n_true == 0)
    assert n_true == 0 or 0 <= found <= 1


@given(PROPOSALS, st.randoms())
def test_equal_confidences_have_no_order(proposals, random):
    other = random.sample(proposals, len(proposals))
    assert average_precision(other, 30) == average_precision(proposals, 30)


@given(PROPOSALS)
def test_one_more_wrong_proposal_never_helps(proposals):
    n_true = sum(right for _, right in proposals) + 1
    assert average_precision([*proposals, (0.5, False)], n_true) <= average_precision(proposals, n_true) + 1e-12


# calibration


def with_confidence(confidence: float, right: bool) -> Pose:
    """Only the head, said to be right with some confidence."""
    return Pose.of({"head": at("head", (0, 0, 0) if right else (0.3, 0, 0), confidence)})


def stated(*people: tuple[float, bool]) -> JointScores:
    scores = JointScores(TOY)
    for confidence, right in people:
        scores.add(TRUTH, SEEN, with_confidence(confidence, right))
    return scores


def test_calibration_by_hand():
    scores = stated((0.95, True), (0.95, False), (0.32, True), (0.38, False), (0.35, False), (0.35, True))
    low, high = scores.calibration()
    assert low == {"confidence": pytest.approx(0.35), "right": 0.5, "joints": 4}
    assert high == {"confidence": pytest.approx(0.95), "right": 0.5, "joints": 2}
    assert scores.calibration_error() == pytest.approx((4 * 0.15 + 2 * 0.45) / 6)


def test_confidence_1_has_a_bin():
    assert stated((1.0, True)).calibration() == [{"confidence": 1.0, "right": 1.0, "joints": 1}]


def test_nothing_stated_is_no_error():
    assert JointScores(TOY).calibration() == []
    assert np.isnan(JointScores(TOY).calibration_error())


def test_calibrated_confidences_have_no_calibration_error():
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0, 1, 4000)
    scores = stated(*zip(confidence.tolist(), (rng.uniform(size=4000) < confidence).tolist(), strict=True))
    assert scores.calibration_error() < 0.03
