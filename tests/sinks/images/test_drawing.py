"""Drawn results: people are in the three views, also those of whom the image shows no pixel."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.sinks.images.drawing import PANEL_PX, draw_result
from tests.support.found_people import result, standing_m, track, track_of

VIEWS = {"front": 2, "side": 3, "top": 4}


def drawn(found, view):
    """Pixels of a view that are not blank, below its title."""
    panel = draw_result(found, HUMAN)[25:, VIEWS[view] * PANEL_PX :][:, :PANEL_PX]
    return (panel < 240).any(axis=-1)


@pytest.mark.parametrize("view", VIEWS)
def test_people_without_a_pixel_are_in_every_view(view):
    found = result(0, (track_of(1, {}), track(2, standing_m(x=2.0)), track(3, standing_m(x=-3.0))))
    assert not found.mask.any()
    rows, cols = np.nonzero(drawn(found, view))
    assert len(rows) > 100
    assert np.median(cols) == pytest.approx(PANEL_PX / 2, abs=30)


@pytest.mark.parametrize("people", [(), (track_of(1, {}),)])
def test_without_joints_and_pixels_views_are_blank(people):
    assert not any(drawn(result(0, people), view).any() for view in VIEWS)
