"""What the pipeline finds: proposals, poses, tracks and the result of one frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import overload

import numpy as np

from posepipe.camera import Extrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.landmarks import Landmark

RIGHT_M = 0.1
"""A joint is right when it lies within 10 cm of the truth (Shotton et al. 2011)."""


@dataclass(frozen=True, slots=True)
class JointProposal:
    """One place where a joint may be, or the surface of a part that no joint owns."""

    joint: str
    xyz_m: tuple[float, float, float]  #: camera axes, metres
    confidence: float  #: calibrated, 0 to 1: the share of such proposals that lie within 10 cm of the truth
    voted: bool = False  #: a mode of votes for the joint, not of its surface


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proposals(Sequence[JointProposal]):
    """All that is proposed of one person: a sequence of `JointProposal`, landmark by landmark, the surest first.

    Held as arrays, for most of it is never looked at by itself.
    """

    landmarks: tuple[Landmark, ...]
    places_m: np.ndarray  #: float64 (L, M, 3), camera axes, metres
    confidence: np.ndarray  #: float64 (L, M), 0 = no proposal

    @classmethod
    def gather(cls, landmarks: Sequence[Landmark], proposals: Iterable[JointProposal]) -> Proposals:
        """Some proposals, in any order, as those of these landmarks; none is for another landmark."""
        if isinstance(proposals, cls) and proposals.landmarks == landmarks:
            return proposals
        alternatives: dict[Landmark, list[JointProposal]] = {landmark: [] for landmark in landmarks}
        for proposal in sorted((p for p in proposals if p.confidence > 0), key=lambda p: -p.confidence):
            alternatives[Landmark(proposal.joint, proposal.voted)].append(proposal)
        most = max(map(len, alternatives.values()), default=0)
        places_m, confidence = np.zeros((len(landmarks), most, 3)), np.zeros((len(landmarks), most))
        for row, own in enumerate(alternatives.values()):
            for k, proposal in enumerate(own):
                places_m[row, k], confidence[row, k] = proposal.xyz_m, proposal.confidence
        return cls(tuple(landmarks), places_m, confidence)

    def pick(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places, float64 (L, 3) metres, and confidences, (L,), of one of each landmark; 0 where none is proposed.

        ``ranks`` int (L,) counts from the surest.
        """
        rows = np.arange(len(self.landmarks))
        return self.places_m[rows, ranks], self.confidence[rows, ranks]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __iter__(self) -> Iterator[JointProposal]:
        for (name, voted), places, sureness in zip(
            self.landmarks, self.places_m.tolist(), self.confidence.tolist(), strict=True
        ):
            for place, sure in zip(places, sureness, strict=True):
                if sure > 0:
                    yield JointProposal(name, tuple(place), sure, voted)

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
class Pose:
    """The joints of one person at one time; a joint less certain than the assembler asks for is absent."""

    joints: dict[str, JointProposal]
    source_proposals: Sequence[JointProposal] = ()  #: the proposals that were chosen; the joints are inferred from them

    @property
    def confidence(self) -> float:
        """Mean confidence of the joints found, 0 for an empty pose."""
        return fmean(joint.confidence for joint in self.joints.values()) if self.joints else 0.0


@dataclass(frozen=True, slots=True)
class Track:
    """One person over time: an id that stays, and the pose now."""

    id: int
    pose: Pose


@dataclass(frozen=True, slots=True, eq=False)
class FrameResult:
    """All that one step of the pipeline found out about one frame."""

    frame: DepthFrame
    mask: np.ndarray  #: bool (H, W), pixels of people
    parts: np.ndarray  #: uint8 (H, W), likeliest part of every person pixel, 0 elsewhere
    proposals: tuple[Sequence[JointProposal], ...]  #: of each of the people, in their order
    people: tuple[Track, ...] = field(default=())  #: empty when nobody is in view
    floor: Plane | None = None  #: None = not in view, or not looked for
    extrinsics: Extrinsics | None = None  #: where the camera was said to be

    @property
    def world(self) -> Extrinsics | None:
        """T_world_camera: as it was said, else above the floor in view; None = neither."""
        if self.extrinsics is not None or self.floor is None:
            return self.extrinsics
        return Extrinsics.above_floor(self.floor)
