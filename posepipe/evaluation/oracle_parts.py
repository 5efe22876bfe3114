"""Oracle labels in the place of a classifier's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.parts import EVERY_PIXEL, PartClassifier, PartProbabilities, Stride
from posepipe.stage import Stateless


class OracleParts(Stateless):
    """`PartClassifier` with oracle labels: the truth of the current frame instead of part probabilities.

    It gives the upper bound of the joint stages. Votes are those of the wrapped classifier.

    Parameters
    ----------
    classifier : PartClassifier
    shuffled : permute the labels of the pixels, for the level of chance
    """

    def __init__(self, classifier: PartClassifier, shuffled: bool = False) -> None:
        self._classifier = classifier
        self.labels = np.zeros((0, 0), np.uint8)  #: uint8 (H, W), truth of the next frame
        self._shuffle = np.random.default_rng(0) if shuffled else None

    @property
    def body(self) -> BodyDefinition:
        """Body definition whose parts it labels."""
        return self._classifier.body

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify the pixels of one person by the truth; see `PartClassifier.predict`."""
        parts = self._classifier.predict(depth_m, mask, intrinsics, stride)
        labels = self.labels[parts.pixels[:, 0], parts.pixels[:, 1]]
        if self._shuffle is not None:
            labels = self._shuffle.permutation(labels)
        return replace(parts, probabilities=np.eye(self.body.n_classes, dtype=np.float32)[labels])
