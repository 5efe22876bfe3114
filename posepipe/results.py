"""What the pipeline finds: proposals, poses, tracks and the result of one frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.camera import Extrinsics, Plane
from posepipe.frames import DepthFrame

RIGHT_M = 0.1
"""A joint is right when it lies within 10 cm of the truth (Shotton et al. 2011)."""


@dataclass(frozen=True, slots=True)
class JointProposal:
    """One place where a joint may be, or the surface of a part that no joint owns."""

    joint: str
    xyz_m: tuple[float, float, float]  #: camera axes, metres
    confidence: float  #: calibrated, 0 to 1: the share of such proposals that lie within 10 cm of the truth
    voted: bool = False  #: a mode of votes for the joint, not of its surface


@dataclass(frozen=True, slots=True)
class Pose:
    """The joints of one person at one time; a joint less certain than the assembler asks for is absent."""

    joints: dict[str, JointProposal]
    made_from: tuple[JointProposal, ...] = ()  #: the proposals that were chosen; the joints are inferred from them

    @property
    def confidence(self) -> float:
        """Mean confidence of the joints found, 0 for an empty pose."""
        return float(np.mean([j.confidence for j in self.joints.values()])) if self.joints else 0.0


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
    proposals: tuple[tuple[JointProposal, ...], ...]  #: of each of the people, in their order
    people: tuple[Track, ...] = field(default=())  #: empty when nobody is in view
    floor: Plane | None = None  #: None = not in view, or not looked for
    extrinsics: Extrinsics | None = None  #: where the camera was said to be

    @property
    def world(self) -> Extrinsics | None:
        """T_world_camera: as it was said, else above the floor in view; None = neither."""
        if self.extrinsics is not None or self.floor is None:
            return self.extrinsics
        return Extrinsics.above_floor(self.floor)
