"""Play the depth of a labelled dataset, to see what a forest makes of the frames it was trained on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from posepipe.camera import Intrinsics
from posepipe.dataset import Dataset
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.camera_file import intrinsics_for


class DatasetFolder:
    """Depth frames of a dataset, without their truth; a `FrameSource`.

    Recordings of a dataset may differ in camera: a frame's own intrinsics count, the source's are the
    first frame's.
    """

    start_time_ns = 0

    def __init__(self, folder: str | Path, camera: str | Path | None = None) -> None:
        self.name = str(folder)
        self._dataset = Dataset.open(folder)
        if len(self._dataset) == 0:
            raise SourceError(folder, "the dataset has no frames yet")
        first = self._dataset[0].depth
        self._replacement = None if camera is None else intrinsics_for(camera, *first.depth_m.shape)
        self.intrinsics: Intrinsics = self._replacement or first.intrinsics
        self.frame_count: int | None = len(self._dataset)

    def __iter__(self) -> Iterator[DepthFrame]:
        for frame in self._dataset:
            if self._replacement is None:
                yield frame.depth
            else:
                yield dataclasses.replace(frame.depth, intrinsics=self._replacement)

    def __enter__(self) -> DatasetFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._dataset.close()
