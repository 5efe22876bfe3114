"""Figures on the page say what was counted, and nothing that a file's name could smuggle in."""

from __future__ import annotations

import re

import numpy as np
import pytest

from posepipe.viewer.playback.rates import WINDOW_FRAMES, WINDOW_S, Rates
from posepipe.viewer.scene.viewpoints import DIRECTIONS, FOV_DEG, Subject
from posepipe.viewer.ui.readouts import facts_html, times_html


def words(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def test_facts_are_read_as_they_are():
    assert words(facts_html("walk.mcap", [("29.7", "frames a second"), ("2", "people")])) == (
        "walk.mcap 29.7 frames a second 2 people"
    )


def test_a_name_is_text_and_never_html():
    html = facts_html("<img src=x onerror=alert(1)>", [("<b>", "&")]) + times_html({"<script>": 1.0})
    assert "<img" not in html
    assert "<b>" not in html
    assert "<script" not in html


def test_bars_are_as_long_as_times():
    html = times_html({"parts": 0.006, "whole step": 0.024})
    assert words(html) == "parts 6.0 ms whole step 24.0 ms"
    assert re.findall(r"width:(\d+)%", html) == ["25", "100"]
    assert words(times_html({})) == words(times_html({"parts": 0.0})) == "nothing was timed yet"


def test_rates_are_counted_over_the_last_seconds():
    now = [0.0]
    rates = Rates(lambda: now[0])
    assert rates.frames_per_s == 0
    for _ in range(100):
        rates.count({})
        now[0] += 0.05
    assert rates.frames_per_s == pytest.approx(20, rel=0.05)
    now[0] += WINDOW_S + 1
    assert rates.frames_per_s == 0
    assert rates.frames == 100


def test_the_frame_that_loads_kernels_tells_nothing_about_a_stage():
    rates = Rates()
    rates.count({"parts": 9.0})
    for _ in range(WINDOW_FRAMES):
        rates.count({"parts": 0.01})
    assert rates.stages_s == {"parts": 0.01}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_all_of_a_person_is_seen_from_everywhere(name):
    places = np.random.default_rng(0).uniform([-0.4, 1.8, 0], [0.4, 2.4, 1.8], (200, 3))
    view = Subject.of(places).seen_from(name)
    ahead = np.subtract(view.look_at_m, view.position_m)
    distance_m = np.linalg.norm(ahead)
    along = (places - view.position_m) @ (ahead / distance_m)
    aside = np.linalg.norm(places - view.position_m - along[:, None] * ahead / distance_m, axis=1)
    assert (aside / along < np.tan(np.radians(FOV_DEG / 2))).all()


def test_front_is_where_the_camera_is_and_side_is_its_right():
    subject = Subject((0.0, 3.0, 1.0), 1.0)
    front, side, top = (subject.seen_from(name).position_m for name in ("front", "side", "top"))
    assert front[1] < 3
    assert front[0] == 0
    assert side[0] > 0
    assert top[2] > 2


def test_of_nothing_there_is_no_view():
    assert Subject.of(np.zeros((0, 3))) is None
