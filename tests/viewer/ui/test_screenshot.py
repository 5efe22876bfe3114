"""A screenshot is the scene over the colour of the page."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import cv2
import numpy as np

from posepipe.viewer.scene.palette import PAGE
from posepipe.viewer.ui.screenshot import download_screenshot, over_page


def test_what_is_transparent_has_the_colour_of_the_page():
    rgba = np.array([[[200, 100, 0, 255], [200, 100, 0, 0]]], np.uint8)
    np.testing.assert_array_equal(over_page(rgba), [[(200, 100, 0), PAGE]])


def test_the_browser_downloads_what_it_shows_in_its_own_size():
    browser = MagicMock(camera=SimpleNamespace(image_height=3, image_width=5))
    browser.get_render.return_value = np.full((3, 5, 4), (250, 10, 20, 255), np.uint8)
    download_screenshot(browser, "posepipe-00007.png")
    assert browser.get_render.call_args.args == (3, 5)
    name, content = browser.send_file_download.call_args.args
    assert name == "posepipe-00007.png"
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    np.testing.assert_array_equal(image, np.full((3, 5, 3), (20, 10, 250)))
