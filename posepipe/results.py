"""Results of the pipeline: proposals, poses, tracks and the result of one frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean
from typing import overload

import numpy as np

from posepipe.camera import Extrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.landmarks import Landmark

BACKWARDS_S = 0.1
"""Largest step back in time of frames in the wrong order; a larger one means that the source has started over."""
CORRECT_M = 0.1
"""A joint is *right* when it lies within 10 cm of the truth (Shotton et al. 2011)."""

_MAX_PIXEL_ID = 65_535  # what a pixel of 16 bits holds


@dataclass(frozen=True, slots=True)
class JointProposal:
    """A possible place of a joint, or of a part that no joint owns."""

    joint: str
    xyz_m: tuple[float, float, float]  #: camera axes, metres
    confidence: float  #: calibrated, 0 to 1: the share of such proposals that lie within 10 cm of the truth
    voted: bool = False  #: True = a mode of votes; False = a mode of surface pixels


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proposals(Sequence[JointProposal]):
    """All proposals for one person: a sequence of `JointProposal`, by landmark, highest confidence first.

    Proposals are stored as arrays, and single objects are made only on access.
    """

    landmarks: tuple[Landmark, ...]
    places_m: np.ndarray  #: float64 (L, M, 3), camera axes, metres
    confidence: np.ndarray  #: float64 (L, M), 0 = no proposal
    moments: np.ndarray | None = None  #: float64 (C - 1, N_MOMENTS), of the parts, from `part_moments`; None = unknown

    @classmethod
    def gather(cls, landmarks: Sequence[Landmark], proposals: Iterable[JointProposal]) -> Proposals:
        """Collect proposals, in any order, for these landmarks. Raises KeyError for a proposal of another landmark."""
        if isinstance(proposals, cls) and proposals.landmarks == landmarks:
            return proposals
        by_landmark: dict[Landmark, list[JointProposal]] = {landmark: [] for landmark in landmarks}
        for proposal in sorted((p for p in proposals if p.confidence > 0), key=lambda p: -p.confidence):
            by_landmark[Landmark(proposal.joint, proposal.voted)].append(proposal)
        widest = max(map(len, by_landmark.values()), default=0)
        places_m, confidence = np.zeros((len(landmarks), widest, 3)), np.zeros((len(landmarks), widest))
        for row, own in enumerate(by_landmark.values()):
            for k, proposal in enumerate(own):
                places_m[row, k], confidence[row, k] = proposal.xyz_m, proposal.confidence
        return cls(tuple(landmarks), places_m, confidence)

    def of(self, landmark: Landmark) -> tuple[np.ndarray, np.ndarray]:
        """Places, float64 (N, 3) metres, and confidences, float64 (N,), of one landmark; none where it is unknown."""
        if landmark not in self.landmarks:
            return np.zeros((0, 3)), np.zeros(0)
        row = self.landmarks.index(landmark)
        found = self.confidence[row] > 0
        return self.places_m[row, found], self.confidence[row, found]

    def pick(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take one proposal of each landmark.

        Parameters
        ----------
        ranks : int (L,), counted from the highest confidence

        Returns
        -------
        places_m : float64 (L, 3), metres
        confidence : float64 (L,); 0 where nothing is proposed
        """
        rows = np.arange(len(self.landmarks))
        return self.places_m[rows, ranks], self.confidence[rows, ranks]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __iter__(self) -> Iterator[JointProposal]:
        rows = zip(self.landmarks, self.places_m.tolist(), self.confidence.tolist(), strict=True)
        for (name, voted), places, confidences in rows:
            for place, confidence in zip(places, confidences, strict=True):
                if confidence > 0:
                    yield JointProposal(name, tuple(place), confidence, voted)

    def __repr__(self) -> str:
        return f"<{len(self)} proposals for {len(self.landmarks)} landmarks>"

    def __len__(self) -> int:
        return int(np.count_nonzero(self.confidence > 0))

    @overload
    def __getitem__(self, index: int) -> JointProposal: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[JointProposal, ...]: ...

    def __getitem__(self, index: int | slice) -> JointProposal | tuple[JointProposal, ...]:
        return tuple(self)[index]


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint of a pose."""

    name: str
    xyz_m: tuple[float, float, float]  #: camera axes, metres
    confidence: float  #: calibrated, 0 to 1: the share of such joints that lie within 10 cm of the truth


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """The joints of one person at one time, as arrays.

    Without a fitted body, a joint below the minimum confidence is absent.
    """

    names: tuple[str, ...]  #: of the K joints found, in the order of the body
    joints_m: np.ndarray  #: float64 (K, 3), camera axes, metres
    confidences: np.ndarray  #: float64 (K,), calibrated, 0 to 1
    source_proposals: Sequence[JointProposal] = ()  #: the chosen proposals, from which the joints are inferred
    _by_name: dict[str, Joint] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, joints: Mapping[str, Joint | JointProposal], source_proposals: Sequence[JointProposal] = ()) -> Pose:
        """Make a pose from single joints, by name."""
        joints_m = np.array([joint.xyz_m for joint in joints.values()], float).reshape(-1, 3)
        confidences = np.array([joint.confidence for joint in joints.values()], float)
        return cls(tuple(joints), joints_m, confidences, source_proposals)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints found, by name."""
        if len(self._by_name) < len(self.names):
            rows = zip(self.names, self.joints_m.tolist(), self.confidences.tolist(), strict=True)
            self._by_name.update((name, Joint(name, tuple(xyz_m), confidence)) for name, xyz_m, confidence in rows)
        return self._by_name

    def in_rows_of(self, joints: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The pose as rows of a body's joints.

        Parameters
        ----------
        joints : names, one a row

        Returns
        -------
        joints_m : float64 (J, 3), camera axes, metres; NaN = not found
        confidences : float64 (J,), 0 = not found

        Raises
        ------
        KeyError
            For a joint of the pose that has no row.
        """
        joints_m, confidences = np.full((len(joints), 3), np.nan), np.zeros(len(joints))
        row_of = {name: row for row, name in enumerate(joints)}
        rows = [row_of[name] for name in self.names]
        joints_m[rows], confidences[rows] = self.joints_m, self.confidences
        return joints_m, confidences

    def in_common(self, other: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Rows, int64 (N,), of the joints that two poses both have: in this one, in its order, and in the other."""
        row_of = {name: row for row, name in enumerate(other.names)}
        both = [(row, row_of[name]) for row, name in enumerate(self.names) if name in row_of]
        own, theirs = np.array(both, np.int64).reshape(-1, 2).T
        return own, theirs

    @property
    def confidence(self) -> float:
        """Mean confidence of the joints found, 0 for an empty pose."""
        return fmean(self.confidences.tolist()) if self.names else 0.0

    @property
    def expected_correct(self) -> float:
        """Expected number of joints within CORRECT_M of the truth, by their confidences."""
        return sum(self.confidences.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.joints_m, other.joints_m)
            and np.array_equal(self.confidences, other.confidences)
            and tuple(self.source_proposals) == tuple(other.source_proposals)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none


@dataclass(frozen=True, slots=True, eq=False)
class BodyFit:
    """A body fitted to one person in one frame."""

    names: tuple[str, ...]  #: of the J joints, in the order of the body
    joints_m: np.ndarray  #: float64 (J, 3), camera axes, metres; bones have the lengths of the person's build
    rotations_xyzw: np.ndarray  #: float64 (J, 4), unit quaternions: from the rest pose to camera axes
    sigma_m: np.ndarray  #: float64 (J,), standard deviation along an axis by the curvature of the fit; NaN = unknown
    shape: np.ndarray  #: float64 (B,), coefficients of the build, in standard deviations of people
    pixels_explained: float  #: share of the person's surface that lies on the body, 0 to 1
    outline_explained: float  #: share of the body that lies within the person's outline, 0 to 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BodyFit):
            return NotImplemented
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return all(a == b if isinstance(a, tuple) else np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]  # arrays have none


@dataclass(frozen=True, slots=True)
class Track:
    """One person over time: a persistent id and the current pose."""

    id: int
    pose: Pose
    fit: BodyFit | None = None  #: None = no body was fitted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrameResult:
    """Result of one pipeline step: ``people`` with ids and poses, their pixels and body parts, and the ``frame``."""

    frame: DepthFrame
    mask: np.ndarray  #: bool (H, W), pixels of people
    parts: np.ndarray  #: uint8 (H, W), most probable part of every person pixel, 0 elsewhere
    proposals: tuple[Sequence[JointProposal], ...]  #: of each person, in the order of `people`
    people: tuple[Track, ...] = field(default=())  #: empty when no person is in view
    floor: Plane | None = None  #: None = not in view, or not searched for
    extrinsics: Extrinsics | None = None  #: pose of the camera, where it was given
    person_masks: tuple[np.ndarray, ...] = ()  #: bool (H, W) of each person, in the order of `people`
    seen_by: tuple[tuple[int, ...], ...] = ()  #: cameras that saw each person, from 1; empty = there is one camera

    def __repr__(self) -> str:
        ids = ", ".join(str(track.id) for track in self.people)
        return f"<result of {self.frame!r}: {f'people {ids}' if ids else 'nobody'}>"

    def person_ids(self) -> np.ndarray:
        """Id of the person at every pixel: uint16 (H, W), 0 = background. Ids above 65535 begin again at 1."""
        ids = np.zeros(self.mask.shape, np.uint16)
        for track, mask in zip(self.people, self.person_masks, strict=True):
            ids[mask] = (track.id - 1) % _MAX_PIXEL_ID + 1
        return ids

    @property
    def world(self) -> Extrinsics | None:
        """T_world_camera: the given one, or from the floor in view; None = neither is known."""
        if self.extrinsics is not None or self.floor is None:
            return self.extrinsics
        return Extrinsics.above_floor(self.floor)
