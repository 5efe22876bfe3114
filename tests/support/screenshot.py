"""Makes docs/images/view.png: ``python -m tests.support.screenshot docs/images/view.png``."""

from __future__ import annotations

import subprocess
import sys
import time

import cv2
import numpy as np

from tests.support.chromium import Chromium
from tests.support.paths import ROOT

RECORDING = ROOT / "apps" / "data" / "demo.mcap"
END_S = 4.0


def take_picture(address: str) -> np.ndarray:
    """A screenshot of the last frame, after playing all frames: uint8 (H, W, 3), BGR."""
    with Chromium(address) as page:
        page.click("loop")
        page.click("every frame")
        page.wait_for_text("Play")  # at the end
        page.click("Play")
        page.wait_for_text("Pause")
        page.wait_for_text("Play")
        page.dismiss_warning()
        return settled(page)


def settled(page: Chromium) -> np.ndarray:
    """A screenshot equal to the one before the last, because the page fades in."""
    pictures = [page.screenshot()]
    while len(pictures) < 3 or not (pictures[-1] == pictures[-3]).all():
        time.sleep(1)
        pictures.append(page.screenshot())
    return pictures[-1]


def main(out: str, recording: str = str(RECORDING), end_s: str = str(END_S)) -> None:
    """Write the screenshot of a recording."""
    command = [sys.executable, "-m", "apps.cli", "view", recording, "--end", end_s]
    view = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert view.stdout is not None
        picture = take_picture(view.stdout.readline().split()[-1])
    finally:
        view.terminate()
        view.wait()
    cv2.imwrite(out, picture, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main(*sys.argv[1:])
