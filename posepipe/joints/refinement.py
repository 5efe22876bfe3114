"""Refinement: a small network corrects the joints that the pose prior infers.

The prior (`posepipe.joints.pose_prior`) relates places linearly and trusts each proposal by its mass. It therefore
fails for people seen from behind and for hidden hands. The network receives the proposals, chosen and alternative, the
joints of the prior, and the moments of all parts. It returns a correction of each joint and the log-odds that the
corrected joint is right. It is trained on rendered people, whose hidden joints are known
(`posepipe.training.joints.fit_refinement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from posepipe.body import BodyDefinition, mirror_name
from posepipe.joints.joint_parameters import N_ALTERNATIVES, Refinement
from posepipe.joints.mlp import mlp_forward
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.joints.refinement_features import decode_output, encode_features
from posepipe.landmarks import Landmark, landmarks_of

ACROSS = np.array([-1, 1, 1], np.float32)
"""Factors that map a place, metres, to its mirror image."""
MOMENTS_ACROSS = np.array([1, -1, 1, 1, 1, 1, 1, -1, -1, 1], np.float32)
"""Factors that map the moments of a part, or their features, to those of its mirror image."""
SAME = np.ones(1, np.float32)
"""Factor of what is the same in a mirror."""
NO_JOINTS = np.zeros(0, np.int64)
"""Mirrored joints of a body without sides."""


class Mirror(NamedTuple):
    """Mirror image of a person, as a permutation of joints and of network inputs."""

    joints: np.ndarray  #: int (J,), mirrored joint of each joint
    inputs: np.ndarray  #: int (N,), mirrored input of each input
    signs: np.ndarray  #: float32 (N,), factor of each mirrored input: -1 for x, 1 for all others

    @classmethod
    def of(cls, body: BodyDefinition, method: str) -> Mirror | None:
        """Make the mirror of a body and a method of `METHODS`; None for a body without sides."""
        if not body.has_sides:
            return None
        landmarks, joints = landmarks_of(body, method), body.mirrored_joints()
        images = np.array([landmarks.index(Landmark(mirror_name(name), voted)) for name, voted in landmarks])
        inputs, signs, start = [], [], 0
        for rows, n_values, across in (  # in the order of `encode_features`
            (joints, 3, ACROSS),
            (joints, 1, SAME),
            (images, 3 * N_ALTERNATIVES, ACROSS),
            (images, N_ALTERNATIVES, SAME),
            (images, 3, ACROSS),
            (images, 1, SAME),
            (np.zeros(1, int), 3, ACROSS),
            (body.mirrored_classes()[1:] - 1, N_MOMENTS, MOMENTS_ACROSS),
        ):
            inputs.append((start + rows[:, None] * n_values + np.arange(n_values)).ravel())
            signs.append(np.resize(across, inputs[-1].size))
            start += inputs[-1].size
        return cls(joints, np.concatenate(inputs), np.concatenate(signs))


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Network input of P people, before encoding; places in metres, camera axes, 0 for none."""

    alternatives_m: np.ndarray  #: float (P, L, N_ALTERNATIVES, 3)
    alternatives_confidence: np.ndarray  #: float (P, L, N_ALTERNATIVES), 0 = no proposal
    chosen_m: np.ndarray  #: float (P, L, 3)
    chosen_confidence: np.ndarray  #: float (P, L), 0 = no proposal
    joints_m: np.ndarray  #: float (P, J, 3), inferred by the prior
    sigma_m: np.ndarray  #: float (P, J), standard deviation along an axis, by the prior
    moments: np.ndarray  #: float (P, K, N_MOMENTS), of the parts, from `part_moments`; 0 = a part that is not there

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
        moments: np.ndarray,
    ) -> Evidence:
        """Gather the evidence of one person.

        Parameters
        ----------
        alternatives : places, float (L, M, 3) metres, and confidences, float (L, M), highest confidence first
        chosen : places, float (L, 3) metres, and confidences, float (L,)
        expected : joints, float (J, 3) metres, and standard deviations, float (J,), from `infer_joints`
        moments : float (K, N_MOMENTS), of the parts, from `part_moments`
        """
        first = tuple(_widened(array[:, :N_ALTERNATIVES], N_ALTERNATIVES) for array in alternatives)
        return cls(*(array[None] for array in (*first, *chosen, *expected, moments)))

    @classmethod
    def join(cls, people: Sequence[Evidence], dtype: DTypeLike = np.float32) -> Evidence:
        """Concatenate the evidence of several people, in order."""
        names = cls.__dataclass_fields__
        return cls(*(np.concatenate([getattr(e, name) for e in people], dtype=dtype) for name in names))


def _widened(array: np.ndarray, columns: int) -> np.ndarray:
    """Pad an array with columns of 0 to a number of columns."""
    missing = columns - array.shape[1]
    return np.pad(array, [(0, 0), (0, missing), *[(0, 0)] * (array.ndim - 2)]) if missing else array


def inputs_of(evidence: Evidence) -> np.ndarray:
    """Network inputs: float32 (P, `n_inputs`), in the order of `encode_features`."""
    return encode_features(
        evidence.joints_m,
        evidence.sigma_m,
        evidence.alternatives_m,
        evidence.alternatives_confidence,
        evidence.chosen_m,
        evidence.chosen_confidence,
        evidence.moments,
    )


def forward(refinement: Refinement, inputs: np.ndarray) -> np.ndarray:
    """Network output, float32 (P, 4 J): corrections x, y, z of every joint, metres, then J log-odds.

    A network of an earlier model file sees fewer inputs: all but the moments, which come last.
    """
    standard = (inputs[:, : len(refinement.input_mean)] - refinement.input_mean) / refinement.input_deviation
    return mlp_forward(standard, refinement.weights, refinement.biases)


def refine(refinement: Refinement, evidence: Evidence, mirror: Mirror | None) -> tuple[np.ndarray, np.ndarray]:
    """Correct the joints of P people.

    For a body with sides, the outputs for a person and for their mirror image are averaged. Mirroring the input then
    mirrors the output exactly.

    Parameters
    ----------
    refinement : Refinement, the network
    evidence : Evidence of P people
    mirror : Mirror of the body; None for a body without sides

    Returns
    -------
    joints_m : float32 (P, J, 3), metres, camera axes
    share : float32 (P, J), probability, by the network, that each joint is right; not calibrated
    """
    inputs, mirrored_joints = inputs_of(evidence), NO_JOINTS
    if mirror is not None:
        inputs = np.concatenate([inputs, inputs[:, mirror.inputs] * mirror.signs])
        mirrored_joints = mirror.joints
    return decode_output(forward(refinement, inputs), evidence.joints_m, mirrored_joints)
