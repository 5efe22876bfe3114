"""The page in a real browser: the person is visible, controls work, and there are no requests to other servers."""

from __future__ import annotations

import json
import re
import threading
import time

import cv2
import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.body import HUMAN
from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult
from posepipe.sinks.images.drawing import part_colours
from posepipe.sources import open_source
from posepipe.sources.playback import SlicedSource
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.session import play_source
from posepipe.viewer.ui.page import Page
from posepipe.viewer.ui.server import address, open_server
from tests.support.chromium import PATIENCE_S, Chromium, find_chromium
from tests.support.shipped_model import shipped_model

pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)
in_a_browser = pytest.mark.skipif(find_chromium() is None, reason="needs chromium")
SIZE = (820, 480)
CANVAS = (slice(None), slice(0, 460))
"""Rows and columns of a screenshot that show the scene, without the panel."""
PERSON_PX = 720
"""Minimum number of pixels of the person, 1/300 of the scene."""
_SCENE_BOX = """(box => [box.x, box.y, box.width, box.height])(
    document.querySelector("canvas[data-engine]").getBoundingClientRect())"""
COMPILE_S = 300.0
"""Time for the first frames, which may compile kernels, seconds."""
END_S, FRAMES = 0.3, 10
"""End of the part of the shipped recording that is played, and its number of frames."""


class Left(Exception):
    """The test is over."""


class Playing:
    """A session that plays the start of the shipped recording, in a thread."""

    def __init__(self, server) -> None:
        self.server, self.over, self.ended = server, threading.Event(), threading.Event()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        try:
            analysis = Analysis(self._make)
            with SlicedSource(open_source(RECORDING), end_s=END_S) as source:
                body = shipped_model().body
                play_source(self.server, source, analysis, body, "walk", on_end=self.ended.set, on_poll=self._leave)
        except Left:
            pass
        except BaseException as error:  # shown by the fixture
            self.error = error
            self.ended.set()

    def _make(self) -> Pipeline:
        pipeline = Pipeline.from_model(shipped_model())
        pipeline.smoother = OneEuroSmoother()
        return pipeline

    def _leave(self) -> None:
        if self.over.is_set():
            raise Left

    def stop(self) -> None:
        self.over.set()
        self._thread.join(PATIENCE_S)


@pytest.fixture(scope="module")
def playing():
    with open_server() as server:
        playing = Playing(server)
        yield playing
        playing.stop()


@pytest.fixture(scope="module")
def page(playing):
    assert playing.ended.wait(COMPILE_S)
    assert playing.error is None
    with Chromium(address(playing.server), *SIZE) as page:
        page.wait_for_text(f"{FRAMES}/{FRAMES}")
        page.dismiss_warning()
        yield page


def of_parts(picture):
    """Number of bright pixels of the scene that have the hue of a part."""
    scene = picture[CANVAS].reshape(-1, 3).astype(float)
    bright = scene[scene.max(axis=1) - scene.min(axis=1) > 60]
    hues = part_colours(HUMAN)[1:].astype(float)
    hues /= np.linalg.norm(hues, axis=1, keepdims=True)
    cosines = bright @ hues.T / np.linalg.norm(bright, axis=1, keepdims=True)
    return int((cosines.max(axis=1) > 0.985).sum()) if len(bright) else 0


def pixels_when(page, enough):
    """The number of such pixels, once it satisfies a condition: the page draws asynchronously."""
    until = time.monotonic() + PATIENCE_S
    while not enough(count := of_parts(page.screenshot())):
        assert time.monotonic() < until, f"{count} pixels in the colours of parts"
        time.sleep(0.2)
    return count


@in_a_browser
def test_the_person_is_seen_in_the_colours_of_parts(page):
    text = page.text()
    for word in ("posepipe", "walk", "frames a second", "people", "dropped", "Thresholds", "Trails", "Times"):
        assert word in text
    pixels_when(page, lambda count: count > PERSON_PX)


@in_a_browser
def test_the_joint_under_the_pointer_is_named_and_placed(page):
    """Its place is that of the results: camera axes, metres."""
    assert page.evaluate("document.title") == "posepipe"
    assert "joint, their left" in page.text()
    joints = json.loads(page.wait_for("document.getElementById('posepipe-joints')?.dataset.joints"))
    caption, across, down = next(joint for joint in joints if joint[0].startswith("neck of person 1"))
    left, top, width, height = page.evaluate(_SCENE_BOX)
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=left + across * width, y=top + down * height)
    page.wait_for("document.getElementById('posepipe-tip').hidden === false")
    text = page.evaluate("document.getElementById('posepipe-tip').textContent")
    assert text == caption
    assert 1.5 < float(re.search(r"z (\d.\d\d) m", text)[1]) < 4
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=left + 2, y=top + 2)
    page.wait_for("document.getElementById('posepipe-tip').hidden")


@in_a_browser
def test_a_screenshot_is_downloaded_and_shows_the_person(page, tmp_path):
    pixels_when(page, lambda count: count > PERSON_PX)
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.click("Screenshot")
    until = time.monotonic() + PATIENCE_S
    while not (found := list(tmp_path.glob("posepipe-*.png"))):
        assert time.monotonic() < until, list(tmp_path.iterdir())
        time.sleep(0.1)
    assert of_parts(cv2.imread(str(found[0]))) > PERSON_PX / 2


@in_a_browser
def test_the_page_sends_requests_to_its_own_server_only(page, playing):
    """The page also works without access to a network."""
    own = address(playing.server).removeprefix("http")
    others = [
        url for url in page.requests if not url.startswith((f"http{own}", f"ws{own}", "data:", f"blob:http{own}"))
    ]
    assert others == []
    assert f"ws{own}/" in page.requests
    assert "share" not in page.text().lower()


@in_a_browser
def test_layers_are_hidden_and_shown(page):
    before = pixels_when(page, lambda count: count > PERSON_PX)
    page.toggle("people")
    pixels_when(page, lambda count: count < before / 2)
    page.toggle("people")
    pixels_when(page, lambda count: count > before / 2)


@in_a_browser
def test_step_and_play_buttons_show_the_right_frames(page):
    page.click("start")
    page.wait_for_text(f"\n1/{FRAMES}")
    page.click("+1")
    page.wait_for_text(f"\n2/{FRAMES}")
    page.press("b")
    page.wait_for_text(f"\n1/{FRAMES}")
    page.click("end")
    page.wait_for_text(f"\n{FRAMES}/{FRAMES}")
    page.click("every frame")
    page.click("Play")
    page.wait_for_text("Pause")
    page.wait_for_text("Play")
    page.wait_for_text(f"\n{FRAMES}/{FRAMES}")


@in_a_browser
def test_a_threshold_acts_at_once_on_the_current_frame(page):
    page.wait_for_text("\n1\npeople")
    page.click("Thresholds")
    page.wait_for("document.querySelector('[role=slider][aria-valuemax=\"1\"]')?.offsetParent != null")
    page.evaluate("document.querySelector('[role=slider][aria-valuemax=\"1\"]').focus()")
    page.press_key("End", 35)
    page.wait_for_text("\n0\npeople")
    page.click("Reset")
    page.wait_for_text("\n1\npeople")
    page.click("Show")


@in_a_browser
@pytest.mark.parametrize(("view", "towards"), [("front", (0, -1, 0)), ("side", (1, 0, 0)), ("top", (0, 0, 1))])
def test_views_move_the_camera(page, playing, view, towards):
    def camera():
        (client,) = playing.server.get_clients().values()  # a new one after a reconnect
        return client.camera

    page.click(view)
    until = time.monotonic() + PATIENCE_S
    while True:
        offset = camera().position - camera().look_at
        if offset @ towards > 0.99 * np.linalg.norm(offset):
            break
        assert time.monotonic() < until, offset
        time.sleep(0.05)
    assert 1.5 < camera().look_at[1] < 3.5  # the position of the person


def result(index, depth_m=None):
    from posepipe.camera import Intrinsics

    depth_m = np.full((12, 16), 2, np.float32) if depth_m is None else depth_m
    frame = DepthFrame(depth_m, Intrinsics(15, 15, 7.5, 5.5), index / 30, index)
    nothing = np.zeros(depth_m.shape, np.uint8)
    return FrameResult(frame, nothing > 0, nothing, ())


def test_results_are_not_drawn_while_no_browser_is_open():
    """A browser that opens the page later shows the last result."""
    with open_server() as server, Page(server, HUMAN, "sink") as page:
        for index in range(200):
            page.write(result(index))
        assert page.last_draw_s == 0
        page.redraw()
        assert page.last_draw_s > 0
        assert page.rates.frames == 200


def test_the_last_readouts_are_of_the_last_frame():
    """`posepipe run --view` keeps the page open with them."""
    with open_server() as server:
        with Page(server, HUMAN, "sink") as page:
            shown = []
            page.panel.put_readouts = lambda readouts, times: shown.append(readouts)
            for index in range(200):
                page.write(result(index))
        assert ">199<" in shown[-1]


def test_frames_of_any_size_are_drawn():
    with open_server() as server, Page(server, HUMAN, "odd") as page:
        for depth_m in (np.zeros((1, 1)), np.zeros((480, 640)), np.full((5, 2000), 3.0), np.full((1, 1), 9.0)):
            page.write(result(0, depth_m.astype(np.float32)))
            page.redraw()
