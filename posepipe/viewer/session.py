"""Play a source or stored results on a page, until the end or Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.files.results_reader import Results
from posepipe.sources import FrameSource
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.playback.feeds import Feed, PlayedFeed, StreamFeed
from posepipe.viewer.playback.player import Player
from posepipe.viewer.playback.stored_results import body_with_joints, result_from_row
from posepipe.viewer.ui.controls import PlayerControls, StreamControls, TuningControls
from posepipe.viewer.ui.page import Page

Item = TypeVar("Item", contravariant=True)
Shown = TypeVar("Shown")
POLL_S = 0.05
"""Maximum delay of a command that does not wake up the feed, seconds."""


class Controls(Protocol):
    """Controls of playback on the page."""

    def refresh(self) -> None:
        """Show the current state of playback."""


def play_source(
    server: Any,
    source: FrameSource,
    analysis: Analysis,
    body: BodyDefinition,
    title: str,
    live: bool = False,
    dropped: Callable[[], int] = lambda: 0,
    on_end: Callable[[], bool] = lambda: False,
    on_poll: Callable[[], None] = lambda: None,
    for_guests: bool = False,
) -> None:
    """Play an open source: a recording with all controls, a stream with pause only.

    Parameters
    ----------
    server : of `open_server`
    source : the frames
    analysis : finds the people
    body : of the results
    title : name of the source, for the panel
    live : the source is a camera
    dropped : returns the number of frames the source has dropped so far
    on_end : called once after the last frame; return True to stop playing
    on_poll : called in every iteration; an exception ends playing
    for_guests : a recording stays at its first frame until a browser opens the page, and then plays again and again

    Raises
    ------
    SourceError
        If the source has no frames, or none that can be read.
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
        controls = PlayerControls(server, page.panel.playing, player, for_guests)
    try:
        _play(feed, analysis, page, controls, on_end, on_poll, for_guests and not live)
    finally:
        feed.close()


def play_results(
    server: Any,
    results: Results,
    title: str,
    on_end: Callable[[], bool] = lambda: False,
    on_poll: Callable[[], None] = lambda: None,
    for_guests: bool = False,
) -> None:
    """Play the joints of a results file; the parameters are those of `play_source`.

    Raises SourceError for results without a frame.
    """
    if not results.frames:
        raise SourceError(title, "the results hold no frames to show")
    page = Page(server, body_with_joints(results.header.joints), title, has_depth=False)
    player = Player(np.array([row.timestamp_s for row in results.frames]))
    controls = PlayerControls(server, page.panel.playing, player, for_guests)
    feed = PlayedFeed(lambda row: result_from_row(results.frames[row]), player)
    _play(feed, _StoredAnalysis(), page, controls, on_end, on_poll, for_guests)


class _FrameAnalysis(Protocol[Item]):
    """Turns items of a feed into results, as `Analysis` does."""

    @property
    def stage_s(self) -> dict[str, float]: ...

    def step(self, item: Item, follows: bool) -> FrameResult: ...

    def again(self) -> FrameResult | None: ...


class _StoredAnalysis:
    """The items are results already."""

    stage_s: ClassVar[dict[str, float]] = {}

    def step(self, item: FrameResult, follows: bool) -> FrameResult:
        return item

    def again(self) -> FrameResult | None:
        return None


def _play(
    feed: Feed[Shown],
    analysis: _FrameAnalysis[Shown],
    page: Page,
    controls: Controls,
    on_end: Callable[[], bool],
    on_poll: Callable[[], None],
    waits: bool,
) -> None:
    end_reported, started = False, False
    while True:
        on_poll()
        waits = waits and not page.has_guests()
        if waits and started:
            time.sleep(POLL_S)
            continue
        due = feed.next()
        result = analysis.again() if due is None else analysis.step(due.item, due.follows)
        if result is not None:
            page.show(result, analysis.stage_s, feed.readouts(), follows=due is None or due.follows)
            controls.refresh()
            started = True
            continue
        page.flush()
        controls.refresh()
        if feed.ended and not end_reported:
            if not started:
                raise SourceError(page.title, "not a single frame could be shown")
            end_reported = True
            if on_end():
                return
        feed.wait(POLL_S)
