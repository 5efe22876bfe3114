"""The controls of what is played, and of the thresholds: viser's buttons and sliders, tied to what they move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from posepipe.viewer.playback.feeds import StreamFeed
from posepipe.viewer.playback.player import SPEEDS, Player
from posepipe.viewer.playback.tuning import Knob, Tuning

STEPS = {"start": None, "-1": -1, "+1": 1, "end": None}
MAX_PEOPLE = 8
"""End of the slider; 0 = all."""


class PlayerControls:
    """Pause, step, scrub, speed."""

    def __init__(self, server: Any, container: Any, player: Player) -> None:
        gui, self._player, self._told = server.gui, player, 0
        with container:
            self._button = _PauseButton(gui, self._toggle)
            steps = gui.add_button_group("step", tuple(STEPS))
            self._slider = gui.add_slider("frame", 0, max(player.count - 1, 1), 1, 0, disabled=player.count == 1)
            speeds = {f"{speed:g} x": speed for speed in SPEEDS}
            speed = gui.add_dropdown("speed", tuple(speeds), initial_value="1 x")
            every = gui.add_checkbox("every frame", False, hint="drop none: playing takes as long as it takes")
        steps.on_click(lambda event: self._step(event.target.value))
        self._slider.on_update(self._scrub)
        speed.on_update(lambda event: player.set_speed(speeds[event.target.value]))
        every.on_update(lambda event: player.set_every_frame(event.target.value))
        for label, key, do in (
            ("Play or pause", "P", self._toggle),
            ("One frame back", "B", lambda: player.step(-1)),
            ("One frame on", "N", lambda: player.step(1)),
        ):
            _add_key(gui, label, key, do)

    def refresh(self) -> None:
        """Show where the player is."""
        self._button.show(self._player.playing)
        if self._slider.value == self._told:  # otherwise a person has just moved it, and `_scrub` is on its way
            self._slider.value = self._told = max(self._player.row, 0)

    def _toggle(self) -> None:
        (self._player.pause if self._player.playing else self._player.play)()

    def _step(self, name: str) -> None:
        by = STEPS[name]
        if by is not None:
            self._player.step(by)
        else:
            self._player.pause()
            self._player.seek(0 if name == "start" else self._player.count - 1)

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # moved by a person, and not by `refresh`
            self._told = event.target.value
            self._player.seek(self._told)


class StreamControls:
    """Pause."""

    def __init__(self, server: Any, container: Any, feed: StreamFeed) -> None:
        self._feed = feed
        with container:
            self._button = _PauseButton(server.gui, self._toggle)
        _add_key(server.gui, "Play or pause", "P", self._toggle)

    def refresh(self) -> None:
        self._button.show(not self._feed.paused)

    def _toggle(self) -> None:
        self._feed.set_paused(not self._feed.paused)


class _PauseButton:
    """Says what a click will do."""

    def __init__(self, gui: Any, toggle: Callable[[], None]) -> None:
        self._button = gui.add_button("Pause", icon=_icon(playing=True), hint="or press P")
        self._button.on_click(lambda _: toggle())
        self._playing = True

    def show(self, playing: bool) -> None:
        if playing != self._playing:
            self._playing = playing
            self._button.label, self._button.icon = "Pause" if playing else "Play", _icon(playing)


class TuningControls:
    """A slider for every knob, smoothing, the number of people, and the way back."""

    def __init__(self, server: Any, container: Any, tuning: Tuning, can_smooth: bool) -> None:
        gui, self._tuning, self._at_first = server.gui, tuning, tuning.values
        with container:
            self._sliders = {knob: self._slider(gui, knob) for knob in self._at_first if knob.stage != "smoother"}
            people = gui.add_slider(
                "people, most", 0, MAX_PEOPLE, 1, min(tuning.max_people or 0, MAX_PEOPLE), hint="0 = all"
            )
            if can_smooth:
                smooth = gui.add_checkbox("smooth", tuning.smooth, hint="steadier joints, which are a little late")
                smooth.on_update(lambda event: tuning.set_smooth(event.target.value))
                self._sliders |= {knob: self._slider(gui, knob) for knob in self._at_first if knob.stage == "smoother"}
            back = gui.add_button("As at first", color="gray")
        people.on_update(lambda event: tuning.set_max_people(event.target.value or None))
        back.on_click(lambda _: self._reset())

    def _slider(self, gui: Any, knob: Knob) -> Any:
        value = min(max(self._at_first[knob], knob.least), knob.most)
        slider = gui.add_slider(knob.label, knob.least, knob.most, knob.step, value, hint=knob.hint)
        slider.on_update(lambda event: self._tuning.turn(knob, event.target.value))
        return slider

    def _reset(self) -> None:
        for knob, slider in self._sliders.items():
            slider.value = self._at_first[knob]


def _icon(playing: bool) -> Any:
    from viser import Icon

    return Icon.PLAYER_PAUSE_FILLED if playing else Icon.PLAYER_PLAY_FILLED


def _add_key(gui: Any, label: str, key: str, do: Callable[[], object]) -> None:
    gui.add_command(label, hotkey=key).on_trigger(lambda _: do())
