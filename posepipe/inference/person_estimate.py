"""What is found of one person in one frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.body_model.body_fitter import PersonPixels
from posepipe.results import Pose, Proposals


class FirstPass(NamedTuple):
    """What the first pass found. How many people there are follows from it: labels of the second know one pose."""

    proposals: Proposals
    pose: Pose


@dataclass(frozen=True, slots=True, eq=False)
class PersonEstimate:
    """One person in one frame."""

    mask: np.ndarray  #: bool (H, W)
    parts: np.ndarray  #: uint8 (H, W), most probable part of every pixel of the mask, 0 elsewhere
    proposals: Proposals
    pose: Pose
    first: FirstPass
    pixels: PersonPixels  #: for the fit of a body
    probability: float = 1.0  #: of a person, by the person filter or the region filter
    by_itself: bool = True  #: whether that makes a person, or they were known from the last frame
