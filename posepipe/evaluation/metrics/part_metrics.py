"""Metrics of parts, and of people in whole frames: part accuracy and its confusion, people missed and false."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.frames import LabelledFrame


@dataclass(slots=True, eq=False)
class PartScores:
    """Confusion of parts over person pixels; class 0 is left out of the accuracy."""

    body: BodyDefinition
    confusion: np.ndarray = field(init=False)  #: int64 (C, C), true class, predicted class

    def __post_init__(self) -> None:
        self.confusion = np.zeros((self.body.n_classes,) * 2, np.int64)

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        """Count pixels of two uint8 arrays of one shape; pixels of true class 0 are left out."""
        person = truth > 0
        pairs = truth[person].astype(np.int64) * self.body.n_classes + predicted[person]
        self.confusion += np.bincount(pairs, minlength=self.confusion.size).reshape(self.confusion.shape)

    def __add__(self, other: PartScores) -> PartScores:
        total = PartScores(self.body)
        total.confusion = self.confusion + other.confusion
        return total

    def recall(self) -> dict[str, float]:
        """Share of the true pixels of each part with the right label; parts without pixels are absent."""
        truth = self.confusion.sum(axis=1)
        return {
            part: float(self.confusion[code, code] / truth[code])
            for code, part in enumerate(self.body.parts, start=1)
            if truth[code]
        }

    def mean_accuracy(self) -> float:
        """Mean recall over parts, which weights small and large parts equally; NaN without pixels."""
        recall = self.recall()
        return float(np.mean(list(recall.values()))) if recall else float("nan")


def cut_out_people(frame: LabelledFrame) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each true person of a frame: its mask, bool (H, W), and the labels of its parts, uint8 (H, W)."""
    for person in range(1, len(frame.joints_m) + 1):
        mask = (frame.people == person) & (frame.depth.depth_m > 0)
        yield mask, np.where(mask, frame.parts, 0)


@dataclass(slots=True, eq=False)
class DetectionScores:
    """Detection of people in whole frames: missed people, false people, background labelled as a person."""

    frames: int = 0
    people: int = 0  #: true people in view
    missed: int = 0
    false_people: int = 0
    background_pixels: int = 0  #: with a reading
    labelled_pixels: int = 0  #: of the background, labelled with a body part

    def add(self, missed: int, people: int, false_people: int, background: np.ndarray, parts: np.ndarray) -> None:
        """Count one frame; ``background`` bool and ``parts`` uint8, both (H, W)."""
        self.frames += 1
        self.people += people
        self.missed += missed
        self.false_people += false_people
        self.background_pixels += int(np.count_nonzero(background))
        self.labelled_pixels += int(np.count_nonzero(parts[background]))

    def __add__(self, other: DetectionScores) -> DetectionScores:
        return DetectionScores(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def figures(self) -> dict[str, float]:
        """Share of people missed, false people per frame, share of background labelled as people; NaN without any."""
        pixels = self.background_pixels
        return {
            "people missed": self.missed / self.people if self.people else float("nan"),
            "false people a frame": self.false_people / self.frames if self.frames else float("nan"),
            "room pixels taken for people": self.labelled_pixels / pixels if pixels else float("nan"),
        }
