"""A picture of the scene, as one browser shows it, downloaded by that browser."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from posepipe.viewer.scene.palette import PAGE

MAX_WAIT_S = 20.0
"""Time that a browser may take for the picture, seconds."""


def download_screenshot(client: Any, name: str) -> None:
    """Ask a browser for its view of the scene, and send it back as the file ``name``, a PNG."""
    camera = client.camera
    rgba = client.get_render(camera.image_height, camera.image_width, transport_format="png", timeout=MAX_WAIT_S)
    encoded, png = cv2.imencode(".png", over_page(rgba)[..., ::-1])
    assert encoded
    client.send_file_download(name, png.tobytes(), save_immediately=True)


def over_page(rgba: np.ndarray) -> np.ndarray:
    """Lay a picture, uint8 (H, W, 4), over the colour of the page: uint8 (H, W, 3), RGB."""
    opacity = rgba[..., 3:].astype(np.float32) / 255
    return np.rint(rgba[..., :3] * opacity + np.array(PAGE, np.float32) * (1 - opacity)).astype(np.uint8)
