"""Proposals become a pose: the most plausible place of every landmark, and all joints inferred from them.

A Gaussian over landmarks and joints together, learned from rendered people, knows how they lie to
each other. It does two things. It says where each landmark should be, given all the others, and so
chooses between rival proposals, such as two feet that both look like the left one. And it gives
every joint's expectation given the landmarks: a hip, which owns no part, follows from torso and legs,
a hidden wrist from the elbow, and a knee that was seen is corrected by what surrounds it. Where the
whole person stands is unknown to the Gaussian: a flat prior on translation lets any subset of
landmarks place him.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import erf

from posepipe.body import BodyDefinition
from posepipe.conditional_gaussian import condition, leave_one_out
from posepipe.joint_parameters import JointParameters, Landmark, landmarks_of
from posepipe.refinement import Evidence, Mirror, refine, surest
from posepipe.results import RIGHT_M, JointProposal, Pose

TRANSLATION_VARIANCE_M2 = 100.0
"""Prior variance of where a person stands: flat, for every practical purpose."""
DOUBT_M = 0.03
"""Extra sigma of a landmark that is as likely wrong as right; of 1 to 15 cm, 3 do best on rendered people."""
PLAUSIBILITY_SHARE = 0.5
"""Weight of the Gaussian's opinion against the proposal's own confidence."""
FURTHEST = 30.0
"""Squared distance, in sigmas, beyond which a proposal gets no less plausible: tails are heavier than Gaussian."""
LANDMARK_SIGMA_M = 0.05
"""A right proposal lies about so far from where the Gaussian expects it even if that knew all."""
ROUNDS = 2
"""Choices are made again after all have been made once."""


def share_within(sigma_m: np.ndarray, radius_m: float = RIGHT_M) -> np.ndarray:
    """Probability that an isotropic 3D Gaussian error of ``sigma_m`` an axis is below ``radius_m`` (Maxwell)."""
    ratio = radius_m / np.maximum(sigma_m, 1e-9)
    return np.clip(erf(ratio / math.sqrt(2)) - math.sqrt(2 / math.pi) * ratio * np.exp(-(ratio**2) / 2), 0, 1)


def landmark_noise(confidence: np.ndarray) -> np.ndarray:
    """Extra variance of a landmark's place, square metres, when it is right with probability ``confidence``."""
    return (1 - confidence) / np.maximum(confidence, 0.05) * DOUBT_M**2


def infer_joints(
    landmarks_m: np.ndarray, found: np.ndarray, noise_m2: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Expect the joints, given some landmarks.

    Parameters
    ----------
    landmarks_m : float (L, 3), metres; only rows of ``found`` are read
    found : bool (L,), at least one
    noise_m2 : float (L,), extra variance of a landmark's place, for those not to be trusted much
    parameters : JointParameters

    Returns
    -------
    joints_m : float64 (J, 3), metres, camera axes
    sigma_m : float64 (J,), metres, standard deviation an axis

    References
    ----------
    Conditional Gaussian, e.g. Bishop 2006, eq. 2.81-2.82. Naive twin: tests/reference/assembly.py
    """
    n_landmarks = len(found)
    seen, centre, surprise = _surprise(landmarks_m, found, parameters)
    asked = np.arange(n_landmarks, parameters.mean_m.shape[1])
    shift, variance = condition(surprise, noise_m2, parameters.covariance_m2, seen, asked, TRANSLATION_VARIANCE_M2)
    joints_m = centre + parameters.mean_m[:, n_landmarks:].T + shift
    return joints_m, np.sqrt(np.maximum(variance, 0).mean(axis=1))


def expect_landmarks(
    landmarks_m: np.ndarray, found: np.ndarray, noise_m2: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Expect each landmark, given all the others.

    Parameters are those of `infer_joints`.

    Returns
    -------
    expected_m : float64 (L, 3), metres; rows not in ``found`` are 0
    variance_m2 : float64 (L, 3), square metres, an axis

    References
    ----------
    Leave-one-out of a Gaussian from its precision matrix: Rasmussen and Williams 2006, eq. 5.12.
    """
    seen, _, surprise = _surprise(landmarks_m, found, parameters)
    shift, variance = leave_one_out(surprise, noise_m2, parameters.covariance_m2, seen, TRANSLATION_VARIANCE_M2)
    return np.where(found[:, None], landmarks_m + shift, 0), variance


def _surprise(
    landmarks_m: np.ndarray, found: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the landmarks found, their centre, and how far each lies from its mean about it, float64 (L, 3)."""
    seen = np.flatnonzero(found)
    centre = landmarks_m[seen].mean(axis=0)
    return seen, centre, landmarks_m - centre - parameters.mean_m[:, : len(found)].T


@dataclass(frozen=True, slots=True, eq=False)
class PoseAssembler:
    """Chooses one proposal a landmark and places the joints."""

    body: BodyDefinition
    parameters: JointParameters
    min_landmarks: int = 3  #: fewer say too little about a body
    min_confidence: float = 0.1  #: a joint less certain is left out of the pose
    _landmarks: tuple[Landmark, ...] = field(init=False, repr=False)
    _mirror: Mirror | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_landmarks", landmarks_of(self.body, self.parameters.method))
        object.__setattr__(self, "_mirror", Mirror.of(self.body, self.parameters.method))

    def assemble(self, proposals: Sequence[JointProposal]) -> Pose | None:
        """The pose that the proposals of one person speak for; None when too few were found."""
        rivals: dict[tuple[str, bool], list[JointProposal]] = {landmark: [] for landmark in self._landmarks}
        for proposal in proposals:
            if proposal.confidence <= 0:
                continue
            rivals[proposal.joint, proposal.voted].append(proposal)
        if sum(map(bool, rivals.values())) < self.min_landmarks:
            return None
        chosen = choose_proposals(list(rivals.values()), self.parameters)
        place, confidence = places_of(chosen)
        joints_m, certainty = self._joints_of(list(rivals.values()), place, confidence)
        return Pose(
            {
                name: JointProposal(name, (float(x), float(y), float(z)), float(c))
                for name, (x, y, z), c in zip(self.body.joints, joints_m, certainty, strict=True)
                if c >= self.min_confidence
            },
            made_from=tuple(proposal for proposal in chosen if proposal is not None),
        )

    def _joints_of(
        self, rivals: Sequence[Sequence[JointProposal]], place: np.ndarray, confidence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Joints (J, 3), metres, and how likely each lies right, (J,)."""
        parameters, network = self.parameters, self.parameters.refinement
        expected = infer_joints(place, confidence > 0, landmark_noise(confidence), parameters)
        joints_m, certainty = expected[0], calibrate(share_within(expected[1]), parameters.calibration)
        if network is None:
            return joints_m, certainty
        evidence = Evidence.gather(rivals, (place, confidence), expected)
        (corrected_m,), (share,) = refine(network, evidence, self._mirror)
        return surest(network, (joints_m, certainty), (corrected_m, calibrate(share, network.calibration)))


def choose_proposals(
    rivals: Sequence[Sequence[JointProposal]], parameters: JointParameters
) -> list[JointProposal | None]:
    """Choose the proposals that go best together: first the surest, then what the others make plausible.

    Parameters
    ----------
    rivals : for each landmark its proposals, none for one that was not found
    parameters : JointParameters

    Returns
    -------
    One proposal a landmark, None where nothing was proposed
    """
    everyone = [proposal for proposals in rivals for proposal in proposals]
    row = np.repeat(np.arange(len(rivals)), [len(proposals) for proposals in rivals])
    at = np.array([proposal.xyz_m for proposal in everyone]).reshape(-1, 3)
    sure = np.array([proposal.confidence for proposal in everyone])
    best = _best_of_each(row, sure)
    for _ in range(ROUNDS if everyone else 0):
        place, confidence = np.zeros((len(rivals), 3)), np.zeros(len(rivals))
        place[row[best]], confidence[row[best]] = at[best], sure[best]
        expected, variance = expect_landmarks(place, confidence > 0, landmark_noise(confidence), parameters)
        distance = ((at - expected[row]) ** 2 / (variance[row] + LANDMARK_SIGMA_M**2)).sum(axis=1)
        score = np.log(np.maximum(sure, 1e-6)) - PLAUSIBILITY_SHARE * np.minimum(distance, FURTHEST) / 2
        before, best = best, _best_of_each(row, score)
        if np.array_equal(best, before):
            break
    chosen: list[JointProposal | None] = [None] * len(rivals)
    for best_of_row in best:
        chosen[row[best_of_row]] = everyone[best_of_row]
    return chosen


def _best_of_each(row: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Index of the highest score, the first of equals, in each row that there is."""
    order = np.lexsort((-score, row))
    return order[np.diff(row[order], prepend=-1) > 0]


def places_of(chosen: Sequence[JointProposal | None]) -> tuple[np.ndarray, np.ndarray]:
    """Places, float64 (L, 3) metres, and confidences, (L,), of chosen proposals; 0 where there is none."""
    place, confidence = np.zeros((len(chosen), 3)), np.zeros(len(chosen))
    for row, proposal in enumerate(chosen):
        if proposal is not None:
            place[row], confidence[row] = proposal.xyz_m, proposal.confidence
    return place, confidence


def calibrate(share: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Stated confidence from the Gaussian's own, which is too sure of itself: logistic in its log-odds.

    ``share`` (..., J) and ``calibration`` (J, 2), offset and slope.
    """
    share = np.clip(share, 1e-4, 1 - 1e-4)
    log_odds = calibration[:, 0] + calibration[:, 1] * np.log(share / (1 - share))
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
