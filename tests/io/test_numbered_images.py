"""Images of frames are whole, also on a full disk."""

from __future__ import annotations

import sys

import cv2
import numpy as np
import pytest

from posepipe.errors import PosepipeError
from posepipe.io.numbered_images import NumberedImages


def test_a_full_disk_leaves_no_part_of_an_image(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of file sizes are POSIX")
    images = NumberedImages(tmp_path)
    images.open()
    images.write(0, np.zeros((48, 64), np.uint8))
    noise = np.random.default_rng(0).integers(0, 256, (48, 64), dtype=np.uint8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # a write beyond it fails as on a full disk
    try:
        for index in (0, 1):
            with pytest.raises(PosepipeError, match=rf"00000{index}\.png: File too large"):
                images.write(index, noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["000000.png"]
    assert not cv2.imread(str(tmp_path / "000000.png"), cv2.IMREAD_UNCHANGED).any()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folder")
def test_a_folder_has_one_writer(tmp_path):
    images, others = NumberedImages(tmp_path), NumberedImages(tmp_path)
    images.open()
    with pytest.raises(PosepipeError, match="another program is writing this folder; give another name"):
        others.open()
    images.close()
    others.open()
    assert list(tmp_path.iterdir()) == []
