"""Probes drawn on the person: where they stand, and what the drawing says."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

from posepipe.learn.depth.explanation.pixel_path import explain_pixel
from posepipe.learn.depth.explanation.probe_drawing import WIDTH, draw_probes
from tests.learn.depth.explanation.test_pixel_path import LENS, ROW_M, forest_of, stump
from tests.support import random_inputs

SVG = "{http://www.w3.org/2000/svg}"


def drawn(kind="symmetric"):
    depth_m, mask = random_inputs.depth_image(np.random.default_rng(1), 80, 60)
    pixel = tuple(random_inputs.readable_pixels(np.random.default_rng(2), depth_m, mask, 1)[0].tolist())
    explained = explain_pixel(forest_of(kind), depth_m, mask, pixel, LENS)
    return explained, draw_probes(explained, depth_m, mask)


@pytest.mark.parametrize("kind", ["symmetric", "clamped"])
def test_every_split_has_a_number_and_its_words(kind):
    explained, drawing = drawn(kind)
    root = ElementTree.fromstring(drawing)
    groups = root.findall(f"{SVG}g")
    assert len(groups) == len(explained.clearest.steps) > 0
    for k, (group, step) in enumerate(zip(groups, explained.clearest.steps, strict=True), start=1):
        assert group.find(f"{SVG}title").text == f"{k}. {step}"
        assert group.find(f"{SVG}text").text == str(k)
        hollow = [circle.get("fill") == "none" for circle in group.findall(f"{SVG}circle")]
        assert hollow == [probe.depth_m is None for probe in (step.u, step.v)]
    assert root.find(f"{SVG}title").text == f"Why this pixel is {explained.part}"


def test_a_probe_stands_on_the_pixel_that_it_reads():
    explained = explain_pixel(stump(), ROW_M, ROW_M > 0, (0, 1), LENS)
    root = ElementTree.fromstring(draw_probes(explained, ROW_M, ROW_M > 0))
    picture = root.find(f"{SVG}image").get("href").removeprefix("data:image/png;base64,")
    grey = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_GRAYSCALE)
    assert grey.shape == (9, 12)  # the person, and four pixels around
    assert grey[4, 4:8].tolist() == [90, 90, 235, 90]  # nearer is brighter
    assert (np.delete(grey, 4, axis=0) == 24).all()
    u, v = (float(circle.get("cx")) for circle in root.find(f"{SVG}g").findall(f"{SVG}circle"))
    assert (u, v) == (pytest.approx(6.5 * WIDTH / 12, abs=0.01), pytest.approx(5.5 * WIDTH / 12, abs=0.01))


def test_notebooks_show_it():
    drawing = drawn()[1]
    assert drawing._repr_svg_() == drawing
    assert re.match(r"<svg ", drawing)
