"""Region: part of a candidate, or pieces of several, judged by itself; and what is known about it before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.results import Pose


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Part of a candidate, or pieces of several, that may show somebody."""

    mask: np.ndarray  #: bool (H, W)
    candidate_mask: np.ndarray  #: bool (H, W), of what the region is part of; of pieces, their own
    candidate_probability: float = 0.0  #: by the person filter, of what it is part of; 0 = not judged
    known: tuple[Pose, ...] = ()  #: of people who were found before, and are somebody else; camera axes
