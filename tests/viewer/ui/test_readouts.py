"""Readouts show the given values, and text is never interpreted as HTML."""

from __future__ import annotations

import re

from posepipe.viewer.ui.readouts import readouts_html, stage_times_html


def words(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def test_readouts_show_title_values_and_labels():
    assert words(readouts_html("walk.mcap", [("29.7", "frames a second"), ("2", "people")])) == (
        "walk.mcap 29.7 frames a second 2 people"
    )


def test_a_name_is_text_and_never_html():
    html = readouts_html("<img src=x onerror=alert(1)>", [("<b>", "&")]) + stage_times_html({"<script>": 1.0})
    assert "<img" not in html
    assert "<b>" not in html
    assert "<script" not in html


def test_bars_are_proportional_to_times():
    html = stage_times_html({"parts": 0.006, "whole step": 0.024})
    assert words(html) == "parts 6.0 ms whole step 24.0 ms"
    assert re.findall(r"width:(\d+)%", html) == ["25", "100"]
    assert words(stage_times_html({})) == words(stage_times_html({"parts": 0.0})) == "no times yet"
