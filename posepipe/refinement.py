"""A small network corrects the joints that the Gaussian expects.

The Gaussian of `gaussian_pose` relates places by straight lines, and believes what was proposed as far as
its mass goes. A person who turns round is no straight line, and a hand behind the back is proposed all
the same, where the other hand is. The network sees what the Gaussian saw, its answer and the rivals
that were passed over, and says how far off each joint is and how likely the corrected one is right.
It is taught on rendered people, whose hidden joints are known (`refinement_fitting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.joint_parameters import RIVALS, Landmark, Refinement, landmarks_of
from posepipe.perceptron import perceptron

MUCH_SURER = 0.2
"""So much surer of a joint than the network that corrects it, the Gaussian alone is heard; half as much, half. On
rendered people the network alone is better still, on real ones, who are otherwise than any rendered, it is not
(docs/accuracy.md)."""
ACROSS = np.array([-1, 1, 1], np.float32)
"""Takes a place to its mirror image."""
MOST_APART_M = 0.3
"""Two models that disagree by more disagree as much as they can."""


class Mirror(NamedTuple):
    """What is whose mirror image: of joints, and of the numbers that the network sees."""

    joints: np.ndarray  #: int (J,)
    inputs: np.ndarray  #: int (N,)
    signs: np.ndarray  #: float32 (N,), by which those change besides: -1 for what points to a side

    @classmethod
    def of(cls, body: BodyDefinition, method: str) -> Mirror | None:
        """None for a body without sides."""
        if not body.has_sides:
            return None
        landmarks, joints = landmarks_of(body, method), body.mirrored_joints()
        images = np.array([landmarks.index(Landmark(mirror_name(name), voted)) for name, voted in landmarks])
        inputs, signs, start = [], [], 0
        for rows, numbers, is_place in (  # in the order of `inputs_of`
            (joints, 3, True),
            (joints, 1, False),
            (images, 3 * RIVALS, True),
            (images, RIVALS, False),
            (images, 3, True),
            (images, 1, False),
            (np.zeros(1, int), 3, True),
        ):
            inputs.append((start + rows[:, None] * numbers + np.arange(numbers)).ravel())
            signs.append(np.resize(ACROSS, inputs[-1].size) if is_place else np.ones(inputs[-1].size, np.float32))
            start += inputs[-1].size
        return cls(joints, np.concatenate(inputs), np.concatenate(signs))


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of P people before their joints are corrected; places in metres, camera axes, 0 for none."""

    rivals_m: np.ndarray  #: float32 (P, L, RIVALS, 3)
    rivals_confidence: np.ndarray  #: float32 (P, L, RIVALS), 0 = no proposal
    chosen_m: np.ndarray  #: float32 (P, L, 3)
    chosen_confidence: np.ndarray  #: float32 (P, L), 0 = none was there to choose
    joints_m: np.ndarray  #: float32 (P, J, 3), as the Gaussian expects them
    sigma_m: np.ndarray  #: float32 (P, J), its standard deviation an axis

    def __len__(self) -> int:
        return len(self.joints_m)

    def __getitem__(self, people: np.ndarray | slice) -> Evidence:
        return Evidence(*(getattr(self, name)[people] for name in self.__dataclass_fields__))

    @classmethod
    def gather(
        cls,
        rivals: tuple[np.ndarray, np.ndarray],
        chosen: tuple[np.ndarray, np.ndarray],
        expected: tuple[np.ndarray, np.ndarray],
    ) -> Evidence:
        """Of one person: the proposals of each landmark, the surest first, those chosen, what `infer_joints` says.

        Places, (L, M, 3), (L, 3) and (J, 3), metres; confidences (L, M) and (L,), and standard deviations (J,).
        """
        first = tuple(_widened(array[:, :RIVALS], RIVALS) for array in rivals)
        return cls(*(array[None].astype(np.float32) for array in (*first, *chosen, *expected)))

    @classmethod
    def join(cls, people: Sequence[Evidence]) -> Evidence:
        """The evidence of all, in order."""
        return cls(*(np.concatenate([getattr(e, name) for e in people]) for name in cls.__dataclass_fields__))


def _widened(array: np.ndarray, columns: int) -> np.ndarray:
    """With columns of 0 after its own, to make up a number."""
    missing = columns - array.shape[1]
    return np.pad(array, [(0, 0), (0, missing), *[(0, 0)] * (array.ndim - 2)]) if missing else array


def inputs_of(evidence: Evidence) -> np.ndarray:
    """What the network sees: float32 (P, `n_inputs`), places in metres about the middle of the expected joints.

    And the ray to that middle: from where a person is looked at decides what he hides. `Mirror.of` and `n_inputs` know
    the order.
    """
    middle = evidence.joints_m.mean(axis=1)
    rivals = np.where(evidence.rivals_confidence[..., None] > 0, evidence.rivals_m - middle[:, None, None], 0)
    chosen = np.where(evidence.chosen_confidence[..., None] > 0, evidence.chosen_m - middle[:, None], 0)
    columns = (
        evidence.joints_m - middle[:, None],
        np.log(np.clip(evidence.sigma_m, 0.01, 1)),
        rivals,
        evidence.rivals_confidence,
        chosen,
        evidence.chosen_confidence,
        middle / np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-6),
    )
    return np.concatenate([column.reshape(len(evidence), -1) for column in columns], axis=1, dtype=np.float32)


def forward(refinement: Refinement, inputs: np.ndarray) -> np.ndarray:
    """The network's answer, float32 (P, 4 J): corrections x, y, z of every joint, metres, then J log-odds."""
    standard = (inputs - refinement.input_mean) / refinement.input_deviation
    return perceptron(standard, refinement.weights, refinement.biases)


def opinions(expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """What two models say of joints, as the terms of a certainty: float64 (..., J, OPINION_TERMS).

    Each model gives joints (..., J, 3), metres, and its own certainty (..., J). The terms are 1 and the log-odds
    of both, then the same times the distance between the two joints, in tenths of a metre: models that agree are
    believed otherwise than models that do not.
    """
    apart = np.minimum(np.linalg.norm(expected[0] - corrected[0], axis=-1), MOST_APART_M) * 10
    log_odds = [np.log(c / (1 - c)) for c in (np.clip(model[1], 1e-4, 1 - 1e-4) for model in (expected, corrected))]
    terms = np.stack([np.ones_like(apart), *log_odds], axis=-1)
    return np.concatenate([terms, terms * apart[..., None]], axis=-1)


def reconcile(
    refinement: Refinement,
    expected: tuple[np.ndarray, np.ndarray],
    corrected: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Of two models' joints the corrected ones, drawn to the others' as far as the other model is surer.

    By and by, for a joint that leapt from the one to the other would leap with every change of the picture.

    Parameters
    ----------
    refinement : Refinement
    expected : the Gaussian's joints (..., J, 3), metres, and its own certainty, (..., J)
    corrected : the network's

    Returns
    -------
    joints_m : (..., J, 3), metres
    certainty : (..., J), how likely each lies right, both opinions heard
    """
    gaussian = np.clip((expected[1] - corrected[1]) / MUCH_SURER, 0, 1)[..., None]
    weights = gaussian * refinement.certainty[0] + (1 - gaussian) * refinement.certainty[1]
    log_odds = (opinions(expected, corrected) * weights).sum(axis=-1)
    certainty = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    return gaussian * expected[0] + (1 - gaussian) * corrected[0], certainty


def refine(refinement: Refinement, evidence: Evidence, mirror: Mirror | None) -> tuple[np.ndarray, np.ndarray]:
    """Correct the joints of P people.

    A body with sides is looked at in the mirror too, and the two answers are averaged: who moves to the
    other side of the picture changes sides and nothing else.

    Returns
    -------
    joints_m : float32 (P, J, 3), metres, camera axes
    share : float32 (P, J), the network's own opinion of how likely each lies right, not yet calibrated
    """
    inputs, (n, n_joints) = inputs_of(evidence), evidence.joints_m.shape[:2]
    if mirror is not None:
        inputs = np.concatenate([inputs, inputs[:, mirror.inputs] * mirror.signs])
    answer = forward(refinement, inputs)
    corrections, share = (
        answer[:, : 3 * n_joints].reshape(-1, n_joints, 3),
        1 / (1 + np.exp(-answer[:, 3 * n_joints :])),
    )
    if mirror is not None:
        back = mirror.joints
        corrections = (corrections[:n] + corrections[n:, back] * ACROSS) / 2
        share = (share[:n] + share[n:, back]) / 2
    return evidence.joints_m + corrections, share
