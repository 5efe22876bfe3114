"""A session plays whatever kind of source there is to its end, and hands on what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from apps.demo import RECORDING
from posepipe.errors import SourceError
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.registry import model_path
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source
from posepipe.sources.base.frame_source import WrappedSource
from posepipe.sources.playback import StretchOfSource
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.session import play_source
from posepipe.viewer.ui.page import Page
from posepipe.viewer.ui.server import open_server

pytest.importorskip("viser", reason="needs the extra 'view'")


class Camera(WrappedSource):
    """A few frames of the shipped recording, as they come."""

    frame_count = None

    def __init__(self, problem: str = "") -> None:
        super().__init__(StretchOfSource(open_source(RECORDING), end_s=0.1))
        self._problem = problem

    def __iter__(self):
        yield from super().__iter__()
        if self._problem:
            raise SourceError("camera:mine", self._problem)


@pytest.fixture(scope="module")
def forest():
    return DepthForest.load(model_path("person"))


@pytest.fixture
def shown(monkeypatch):
    """What pages were given: results, and whether they followed."""
    results, show = [], Page.show

    def note(page, result, stages_s=None, facts=None, follows=True):
        results.append((result, follows))
        show(page, result, stages_s, facts, follows)

    monkeypatch.setattr(Page, "show", note)
    return results


def play(forest, source, **options):
    with source, open_server() as server:
        play_source(server, source, Analysis(lambda: Pipeline.from_forest(forest)), forest.body, "mine", **options)


@pytest.mark.parametrize("live", [True, False])
def test_a_camera_is_shown_until_it_ends(forest, shown, live):
    ends = []
    play(forest, Camera(), live=live, on_end=lambda: not ends.append("end"))
    assert [result.frame.index for result, _ in shown] == [0, 1, 2, 3]
    assert [follows for _, follows in shown] == [True] * 4
    assert all(result.people for result, _ in shown)
    assert len({track.id for result, _ in shown for track in result.people}) == 1
    assert ends == ["end"]


def test_what_a_camera_raises_ends_the_session(forest, shown):
    with pytest.raises(SourceError, match="unplugged"):
        play(forest, Camera("was unplugged"), live=True, on_end=lambda: True)
    assert len(shown) == 4


def test_a_recording_without_frames_is_refused(forest):
    with pytest.raises(SourceError, match="no frames"):
        play(forest, StretchOfSource(open_source(RECORDING), start_s=100))


def test_the_end_is_told_once_and_the_page_stays(forest, shown):
    class Left(Exception):
        pass

    ends, turns = [], []

    def leave_later():
        turns.append(0)
        if len(ends) and len(turns) > 12:
            raise Left

    with pytest.raises(Left):
        play(
            forest,
            StretchOfSource(open_source(RECORDING), end_s=0.05),
            on_end=lambda: bool(ends.append(0)),
            on_turn=leave_later,
        )
    assert ends == [0]
    assert np.array_equal([follows for _, follows in shown], [True] * len(shown))
