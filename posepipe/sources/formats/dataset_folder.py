"""Labelled datasets as sources of depth frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import CameraFile
from posepipe.datasets.dataset import Dataset
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.sources.base.indexed_source import IndexedSource


class DatasetFolder(IndexedSource):
    """Depth frames of a dataset, without their ground truth.

    Recordings of a dataset may differ in camera. Each frame has its own intrinsics; the source has those of the first.

    Parameters
    ----------
    folder : the dataset
    camera : replaces the calibration of all recordings

    Raises
    ------
    SourceError
        When the dataset has no frames.
    FormatError
        When the dataset is damaged.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None) -> None:
        self.name = str(folder)
        self._dataset = Dataset.open(folder)
        if len(self._dataset) == 0:
            raise SourceError(folder, "the dataset has no frames yet")
        first = self._dataset[0].depth
        self._replacement = None if camera is None else camera.intrinsics_for(*first.depth_m.shape)
        self.shape = first.depth_m.shape
        self.intrinsics = self._replacement or first.intrinsics
        self.intrinsics_from = "its recordings" if camera is None else camera.name

    @cached_property
    def timestamps_s(self) -> np.ndarray:  # type: ignore[override]  # opens every recording: on demand
        """Times of all frames, float64 (N,), seconds since the first frame of their recording."""
        return self._dataset.timestamps_s

    def __len__(self) -> int:
        return len(self._dataset)

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        return self._depth_of(self._dataset[index])

    def __iter__(self) -> Iterator[DepthFrame]:
        return map(self._depth_of, self._dataset)

    def _depth_of(self, frame: LabelledFrame) -> DepthFrame:
        depth = frame.depth
        if self._replacement is not None:
            depth = dataclasses.replace(depth, intrinsics=self._replacement)
        self.plausibility.inspect(depth.depth_m, depth.intrinsics)
        return depth

    def close(self) -> None:
        """Close all recordings."""
        self._dataset.close()
