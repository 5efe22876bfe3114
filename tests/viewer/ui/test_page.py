"""The page in a real browser: it shows the person, obeys its buttons, and asks nobody else for anything."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from apps.demo import RECORDING
from posepipe.body import HUMAN
from posepipe.frames import DepthFrame
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.registry import model_path
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult
from posepipe.sinks.images.drawing import part_colours
from posepipe.sources import open_source
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.session import play_source
from posepipe.viewer.ui.page import Page
from posepipe.viewer.ui.server import address, open_server
from tests.support.chromium import PATIENCE_S, Chromium, find_chromium

pytest.importorskip("viser", reason="needs the extra 'view'")
in_a_browser = pytest.mark.skipif(find_chromium() is None, reason="needs chromium")
SIZE = (1000, 720)
CANVAS = (slice(None), slice(0, 640))
"""Rows and columns of a screenshot that show the scene and not the panel."""


class Left(Exception):
    """The test is over."""


class Playing:
    """A session of the shipped recording, in a thread."""

    def __init__(self, server) -> None:
        self.server, self.over, self.ended = server, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        forest = DepthForest.load(model_path("person"))

        def make() -> Pipeline:
            pipeline = Pipeline.from_forest(forest)
            pipeline.smoother = OneEuroSmoother()
            return pipeline

        def leave() -> None:
            if self.over.is_set():
                raise Left

        with pytest.raises(Left), open_source(RECORDING) as source:
            play_source(self.server, source, Analysis(make), forest.body, "walk", on_end=self.ended.set, on_turn=leave)

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
    assert playing.ended.wait(PATIENCE_S)
    with Chromium(address(playing.server), *SIZE) as page:
        page.wait_for_text("60/60")
        page.dismiss_warning()
        yield page


def of_parts(picture):
    """How many pixels of the scene have the hue of a part and are bright."""
    scene = picture[CANVAS].reshape(-1, 3).astype(float)
    bright = scene[scene.max(axis=1) - scene.min(axis=1) > 60]
    hues = part_colours(HUMAN)[1:].astype(float)
    hues /= np.linalg.norm(hues, axis=1, keepdims=True)
    likeness = bright @ hues.T / np.linalg.norm(bright, axis=1, keepdims=True)
    return int((likeness.max(axis=1) > 0.985).sum()) if len(bright) else 0


def pixels_when(page, enough):
    """The count of such pixels, once it is enough: the page draws when it can."""
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
    pixels_when(page, lambda count: count > 1500)


@in_a_browser
def test_nothing_is_asked_of_anybody_else(page, playing):
    """And the page works although it could reach nobody."""
    own = address(playing.server).removeprefix("http")
    others = [
        url for url in page.requests if not url.startswith((f"http{own}", f"ws{own}", "data:", f"blob:http{own}"))
    ]
    assert others == []
    assert f"ws{own}/" in page.requests
    assert "share" not in page.text().lower()


@in_a_browser
def test_layers_are_hidden_and_shown(page):
    before = pixels_when(page, lambda count: count > 1500)
    page.toggle("people")
    pixels_when(page, lambda count: count < before / 2)
    page.toggle("people")
    pixels_when(page, lambda count: count > 1500)


@in_a_browser
def test_steps_and_play_go_where_they_should(page):
    page.click("start")
    page.wait_for_text("\n1/60")
    page.click("+1")
    page.wait_for_text("\n2/60")
    page.press("b")
    page.wait_for_text("\n1/60")
    page.click("end")
    page.wait_for_text("\n60/60")
    page.click("every frame")
    page.click("Play")
    page.wait_for_text("Pause")
    page.wait_for_text("Play")
    page.wait_for_text("\n60/60")


@in_a_browser
def test_a_threshold_acts_at_once_on_the_frame_that_stands(page):
    page.wait_for_text("\n1\npeople")
    page.click("Thresholds")
    page.wait_for("document.querySelector('[role=slider][aria-valuemax=\"1\"]')?.offsetParent != null")
    page.evaluate("document.querySelector('[role=slider][aria-valuemax=\"1\"]').focus()")
    page.press_key("End", 35)
    page.wait_for_text("\n0\npeople")
    page.click("As at first")
    page.wait_for_text("\n1\npeople")
    page.click("Show")


@in_a_browser
@pytest.mark.parametrize(("view", "towards"), [("front", (0, -1, 0)), ("side", (1, 0, 0)), ("top", (0, 0, 1))])
def test_views_move_the_camera(page, playing, view, towards):
    (client,) = playing.server.get_clients().values()
    page.click(view)
    until = time.monotonic() + PATIENCE_S
    while True:
        away = client.camera.position - client.camera.look_at
        if away @ towards > 0.99 * np.linalg.norm(away):
            break
        assert time.monotonic() < until, away
        time.sleep(0.05)
    assert 1.5 < client.camera.look_at[1] < 3.5  # where the person is


def result(index, depth_m=None):
    from posepipe.camera import Intrinsics

    depth_m = np.full((12, 16), 2, np.float32) if depth_m is None else depth_m
    frame = DepthFrame(depth_m, Intrinsics(15, 15, 7.5, 5.5), index / 30, index)
    nothing = np.zeros(depth_m.shape, np.uint8)
    return FrameResult(frame, nothing > 0, nothing, ())


def test_as_a_sink_it_takes_results_while_nobody_watches():
    """Whoever opens the page later sees the last one; what nobody sees is not drawn."""
    with open_server() as server, Page(server, HUMAN, "sink") as page:
        for index in range(200):
            page.write(result(index))
        assert page.last_draw_s == 0
        page.redraw()
        assert page.last_draw_s > 0
        assert page.rates.frames == 200


def test_it_draws_whatever_comes():
    with open_server() as server, Page(server, HUMAN, "odd") as page:
        for depth_m in (np.zeros((1, 1)), np.zeros((480, 640)), np.full((5, 2000), 3.0), np.full((1, 1), 9.0)):
            page.write(result(0, depth_m.astype(np.float32)))
            page.redraw()
