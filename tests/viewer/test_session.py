"""A session plays every kind of source to its end, and raises its errors."""

from __future__ import annotations

import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.errors import DamagedMessageError, SourceError
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source
from posepipe.sources.base.frame_source import WrappedSource
from posepipe.sources.playback import SlicedSource
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.session import play_source
from posepipe.viewer.ui.page import Page
from posepipe.viewer.ui.server import open_server
from tests.support.shipped_model import shipped_model

pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)


class Camera(WrappedSource):
    """A few frames of the shipped recording as a stream."""

    frame_count = None

    def __init__(self, problem: str = "") -> None:
        super().__init__(SlicedSource(open_source(RECORDING), end_s=0.1))
        self._problem = problem

    def __iter__(self):
        yield from super().__iter__()
        if self._problem:
            raise SourceError("camera:mine", self._problem)


@pytest.fixture
def shown(monkeypatch):
    """The results shown by pages, and whether they followed each other."""
    results, show = [], Page.show

    def note(page, result, stages_s=None, readouts=None, follows=True):
        results.append((result, follows))
        show(page, result, stages_s, readouts, follows)

    monkeypatch.setattr(Page, "show", note)
    return results


def play(source, **options):
    analysis = Analysis(lambda: Pipeline.from_model(shipped_model()))
    with source, open_server() as server:
        play_source(server, source, analysis, shipped_model().body, "mine", **options)


@pytest.mark.parametrize("live", [True, False])
def test_a_camera_is_shown_until_it_ends(shown, live):
    ends = []
    play(Camera(), live=live, on_end=lambda: not ends.append("end"))
    assert [result.frame.index for result, _ in shown] == [0, 1, 2, 3]
    assert [follows for _, follows in shown] == [True] * 4
    assert all(result.people for result, _ in shown)
    assert len({track.id for result, _ in shown for track in result.people}) == 1
    assert ends == ["end"]


def test_an_error_of_the_camera_ends_the_session(shown):
    with pytest.raises(SourceError, match="unplugged"):
        play(Camera("was unplugged"), live=True, on_end=lambda: True)
    assert len(shown) == 4


def test_a_recording_without_frames_is_refused():
    with pytest.raises(SourceError, match="no frames"):
        play(SlicedSource(open_source(RECORDING), start_s=100))


def test_a_recording_whose_frames_are_all_damaged_is_an_error(shown, monkeypatch):
    source = SlicedSource(open_source(RECORDING), end_s=0.1)

    def damaged(row):
        raise DamagedMessageError("walk.mcap", "damaged recording (zstd)")

    monkeypatch.setattr(SlicedSource, "__getitem__", lambda source, row: damaged(row))
    with pytest.raises(SourceError, match="mine: not a single frame could be shown"):
        play(source, on_end=lambda: True)
    assert not shown


def test_the_end_is_reported_once_and_the_page_stays(shown):
    class Left(Exception):
        pass

    ends, turns = [], []

    def leave_later():
        turns.append(0)
        if len(ends) and len(turns) > 12:
            raise Left

    with pytest.raises(Left):
        play(
            SlicedSource(open_source(RECORDING), end_s=0.05),
            on_end=lambda: bool(ends.append(0)),
            on_poll=leave_later,
        )
    assert ends == [0]
    assert np.array_equal([follows for _, follows in shown], [True] * len(shown))


def test_a_recording_waits_at_its_first_frame_for_a_browser(shown, monkeypatch):
    polls = []

    def open_browser() -> None:
        polls.append(len(shown))
        if len(polls) > 5:
            monkeypatch.setattr(Page, "has_guests", lambda page: True)

    play(SlicedSource(open_source(RECORDING), end_s=0.1), for_guests=True, on_poll=open_browser, on_end=lambda: True)
    assert polls[2:6] == [1, 1, 1, 1]
    assert len(shown) > 1


def test_a_camera_waits_for_nobody(shown):
    play(Camera(), live=True, for_guests=True, on_end=lambda: True)
    assert len(shown) > 1
