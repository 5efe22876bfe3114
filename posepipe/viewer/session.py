"""Plays something on a page until the end, or until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import Results
from posepipe.sources import FrameSource
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.playback.feeds import Feed, PlayedFeed, StreamFeed
from posepipe.viewer.playback.player import Player
from posepipe.viewer.playback.written_results import body_of, result_of
from posepipe.viewer.ui.controls import PlayerControls, StreamControls, TuningControls
from posepipe.viewer.ui.page import Page

Item = TypeVar("Item", contravariant=True)
Shown = TypeVar("Shown")
POLL_S = 0.05
"""Commands that a feed does not wake up for are seen to so soon."""


class Controls(Protocol):
    """Shows on the page how far playing is."""

    def refresh(self) -> None: ...


def play_source(
    server: Any,
    source: FrameSource,
    analysis: Analysis,
    body: BodyDefinition,
    title: str,
    live: bool = False,
    dropped: Callable[[], int] = lambda: 0,
    on_end: Callable[[], bool] = lambda: False,
    on_turn: Callable[[], None] = lambda: None,
) -> None:
    """Play an open source: recordings with all controls, cameras with pause.

    Parameters
    ----------
    server : of `open_server`
    analysis : finds the people
    body : of the results
    title : for the panel
    live : the source is a camera
    dropped : how many frames it has dropped so far
    on_end : called when the last frame was shown; True = leave
    on_turn : called over and over; what it raises ends the playing
    """
    page = Page(server, body, title, tunable=True)
    TuningControls(server, page.panel.thresholds, analysis.tuning, analysis.can_smooth)
    feed: PlayedFeed[DepthFrame] | StreamFeed
    controls: Controls
    if source.frame_count is None:
        feed = StreamFeed(source, not live, dropped)
        controls = StreamControls(server, page.panel.playing, feed)
    elif source.frame_count == 0:
        raise SourceError(source.name, "there are no frames to show")
    else:
        player = Player(source.timestamps_s)
        feed = PlayedFeed(source.__getitem__, player)
        controls = PlayerControls(server, page.panel.playing, player)
    try:
        _play(feed, analysis, page, controls, on_end, on_turn)
    finally:
        feed.close()


def play_results(
    server: Any,
    results: Results,
    title: str,
    on_end: Callable[[], bool] = lambda: False,
    on_turn: Callable[[], None] = lambda: None,
) -> None:
    """Play the joints of a results file; the parameters are those of `play_source`."""
    if not results.frames:
        raise SourceError(title, "the results hold no frames to show")
    page = Page(server, body_of(results.joints), title, has_depth=False)
    player = Player(np.array([row.timestamp_s for row in results.frames]))
    controls = PlayerControls(server, page.panel.playing, player)
    feed = PlayedFeed(lambda row: result_of(results.frames[row]), player)
    _play(feed, _AsWritten(), page, controls, on_end, on_turn)


class _Steps(Protocol[Item]):
    """Makes results of what a feed gives; `Analysis` does."""

    @property
    def stage_s(self) -> dict[str, float]: ...

    def step(self, item: Item, follows: bool) -> FrameResult: ...

    def again(self) -> FrameResult | None: ...


class _AsWritten:
    """Results are there already."""

    stage_s: ClassVar[dict[str, float]] = {}

    def step(self, item: FrameResult, follows: bool) -> FrameResult:
        return item

    def again(self) -> FrameResult | None:
        return None


def _play(
    feed: Feed[Shown],
    steps: _Steps[Shown],
    page: Page,
    controls: Controls,
    on_end: Callable[[], bool],
    on_turn: Callable[[], None],
) -> None:
    told = False
    while True:
        on_turn()
        shot = feed.next()
        result = steps.again() if shot is None else steps.step(shot.item, shot.follows)
        if result is not None:
            page.show(result, steps.stage_s, feed.facts(), follows=shot is None or shot.follows)
            controls.refresh()
            continue
        page.settle()
        controls.refresh()
        if feed.ended and not told:
            told = True
            if on_end():
                return
        feed.wait(POLL_S)
