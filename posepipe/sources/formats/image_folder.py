"""Folders of depth images as ``.npy``, ``.pgm`` or ``.tiff``, in name order, with a ``camera.json``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, folder_camera
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.formats.png_folder import natural_order
from posepipe.sources.images.depth_image import READERS, read_depth_image

PATTERNS = ("*.npy", "*.pgm", "*.tif", "*.tiff")


class ImageFolder(IndexedSource):
    """Frames of a folder of images, read one at a time. Of several kinds of images the most frequent is played.

    Parameters
    ----------
    folder : the folder
    camera : replaces the folder's own ``camera.json``; a preset replaces its lens

    Raises
    ------
    FormatError
        When the calibration is missing or wrong; while iterating, when an image is no depth image. Damaged images are
        left out.
    SourceError
        When the folder contains no such image.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        with disk_errors(self.folder):
            files = [p for p in self.folder.iterdir() if p.suffix.lower() in READERS and p.is_file()]
        images = [path for path in files if not path.name.startswith(".")]
        if not images:
            raise SourceError(folder, f"no {', '.join(PATTERNS)} there; wanted depth images beside {CAMERA_FILE_NAME}")
        kind = Counter(sorted(path.suffix.lower() for path in images)).most_common(1)[0][0]
        self._files = sorted((path for path in images if path.suffix.lower() == kind), key=natural_order)
        self._camera = folder_camera(self.folder, camera)
        self.shape = (self._camera.height, self._camera.width)
        self.intrinsics, self.intrinsics_from = self._camera.intrinsics, self._camera.name
        self.timestamps_s = np.arange(len(self._files)) / self._camera.fps

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        return self.frame(index, read_depth_image(self._files[index], self._camera))
