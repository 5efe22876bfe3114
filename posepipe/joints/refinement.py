"""A small network corrects the joints that the Gaussian expects.

The Gaussian of `gaussian_pose` relates places by straight lines, and believes what was proposed as far as
its mass goes. A person who turns round is no straight line, and a hand behind the back is proposed all
the same, where the other hand is. The network sees what the Gaussian saw, its answer and the alternatives
that were passed over, and says how far off each joint is and how likely the corrected one is right.
It is taught on rendered people, whose hidden joints are known (`refinement_fitting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.joints.joint_parameters import N_ALTERNATIVES, Refinement
from posepipe.joints.mlp import mlp_forward
from posepipe.joints.refinement_features import decode_output, encode_features
from posepipe.landmarks import Landmark, landmarks_of

ACROSS = np.array([-1, 1, 1], np.float32)
"""Takes a place to its mirror image."""
NO_JOINTS = np.zeros(0, np.int64)
"""Of a body without sides, the joints on the other side."""


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
        for rows, numbers, is_place in (  # in the order of `encode_features`
            (joints, 3, True),
            (joints, 1, False),
            (images, 3 * N_ALTERNATIVES, True),
            (images, N_ALTERNATIVES, False),
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

    alternatives_m: np.ndarray  #: float (P, L, N_ALTERNATIVES, 3)
    alternatives_confidence: np.ndarray  #: float (P, L, N_ALTERNATIVES), 0 = no proposal
    chosen_m: np.ndarray  #: float (P, L, 3)
    chosen_confidence: np.ndarray  #: float (P, L), 0 = none was there to choose
    joints_m: np.ndarray  #: float (P, J, 3), as the Gaussian expects them
    sigma_m: np.ndarray  #: float (P, J), its standard deviation an axis

    def __len__(self) -> int:
        return len(self.joints_m)

    def __getitem__(self, people: np.ndarray | slice) -> Evidence:
        return Evidence(*(getattr(self, name)[people] for name in self.__dataclass_fields__))

    @classmethod
    def gather(
        cls,
        alternatives: tuple[np.ndarray, np.ndarray],
        chosen: tuple[np.ndarray, np.ndarray],
        expected: tuple[np.ndarray, np.ndarray],
    ) -> Evidence:
        """Of one person: the proposals of each landmark, the surest first, those chosen, what `infer_joints` says.

        Places, (L, M, 3), (L, 3) and (J, 3), metres; confidences (L, M) and (L,), and standard deviations (J,).
        """
        first = tuple(_widened(array[:, :N_ALTERNATIVES], N_ALTERNATIVES) for array in alternatives)
        return cls(*(array[None] for array in (*first, *chosen, *expected)))

    @classmethod
    def join(cls, people: Sequence[Evidence]) -> Evidence:
        """The evidence of all, in order, in float32."""
        names = cls.__dataclass_fields__
        return cls(*(np.concatenate([getattr(e, name) for e in people], dtype=np.float32) for name in names))


def _widened(array: np.ndarray, columns: int) -> np.ndarray:
    """With columns of 0 after its own, to make up a number."""
    missing = columns - array.shape[1]
    return np.pad(array, [(0, 0), (0, missing), *[(0, 0)] * (array.ndim - 2)]) if missing else array


def inputs_of(evidence: Evidence) -> np.ndarray:
    """What the network sees: float32 (P, `n_inputs`), in the order that `Mirror.of` knows."""
    return encode_features(
        evidence.joints_m,
        evidence.sigma_m,
        evidence.alternatives_m,
        evidence.alternatives_confidence,
        evidence.chosen_m,
        evidence.chosen_confidence,
    )


def forward(refinement: Refinement, inputs: np.ndarray) -> np.ndarray:
    """The network's answer, float32 (P, 4 J): corrections x, y, z of every joint, metres, then J log-odds."""
    standard = (inputs - refinement.input_mean) / refinement.input_deviation
    return mlp_forward(standard, refinement.weights, refinement.biases)


def refine(refinement: Refinement, evidence: Evidence, mirror: Mirror | None) -> tuple[np.ndarray, np.ndarray]:
    """Correct the joints of P people.

    A body with sides is looked at in the mirror too, and the two answers are averaged: who moves to the
    other side of the picture changes sides and nothing else.

    Returns
    -------
    joints_m : float32 (P, J, 3), metres, camera axes
    share : float32 (P, J), the network's own opinion of how likely each lies right, not yet calibrated
    """
    inputs, mirrored_joints = inputs_of(evidence), NO_JOINTS
    if mirror is not None:
        inputs = np.concatenate([inputs, inputs[:, mirror.inputs] * mirror.signs])
        mirrored_joints = mirror.joints
    return decode_output(forward(refinement, inputs), evidence.joints_m, mirrored_joints)
