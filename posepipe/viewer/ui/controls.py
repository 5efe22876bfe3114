"""Controls of playback and thresholds: viser buttons and sliders, connected to a player or a `Tuning`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from posepipe.thresholds import Threshold
from posepipe.viewer.playback.feeds import StreamFeed
from posepipe.viewer.playback.player import SPEEDS, Player
from posepipe.viewer.playback.tuning import Tuning

STEPS = {"start": None, "-1": -1, "+1": 1, "end": None}
MAX_PEOPLE = 8
"""Maximum of the slider; 0 = all."""
THRESHOLDS_FILE = "thresholds.toml"
"""Name of the file that the browser saves."""


class PlayerControls:
    """Controls of a recording: pause, step, seek, speed, loop.

    Parameters
    ----------
    server : the viser server
    container : the viser folder that holds the controls
    player : schedule of the recording
    loop : whether it plays again after its end, until somebody unticks the box; there it waits for a browser
    """

    def __init__(self, server: Any, container: Any, player: Player, loop: bool = False) -> None:
        gui, self._player, self._displayed = server.gui, player, 0
        with container:
            self._button = _PauseButton(gui, self._toggle)
            steps = gui.add_button_group("step", tuple(STEPS))
            self._slider = gui.add_slider("frame", 0, max(player.count - 1, 1), 1, 0, disabled=player.count == 1)
            speeds = {f"{speed:g} x": speed for speed in SPEEDS}
            speed = gui.add_dropdown("speed", tuple(speeds), initial_value="1 x")
            every = gui.add_checkbox("every frame", False, hint="drop no frame, even if playing takes longer")
            self._loop = gui.add_checkbox("loop", loop, hint="play again from the start after the last frame")
        steps.on_click(lambda event: self._step(event.target.value))
        self._slider.on_update(self._seek)
        speed.on_update(lambda event: player.set_speed(speeds[event.target.value]))
        every.on_update(lambda event: player.set_every_frame(event.target.value))
        player.loop_while(lambda: self._loop.value, watched=lambda: bool(server.get_clients()))
        for label, key, command in (
            ("Play or pause", "P", self._toggle),
            ("One frame back", "B", lambda: player.step(-1)),
            ("One frame forward", "N", lambda: player.step(1)),
        ):
            _add_key(gui, label, key, command)

    def refresh(self) -> None:
        """Show the state of the player."""
        self._button.show(self._player.playing)
        if self._slider.value == self._displayed:  # otherwise a user has just moved it, and `_seek` follows
            self._slider.value = self._displayed = max(self._player.row, 0)

    def _toggle(self) -> None:
        (self._player.pause if self._player.playing else self._player.play)()

    def _step(self, name: str) -> None:
        by = STEPS[name]
        if by is not None:
            self._player.step(by)
        else:
            self._player.pause()
            self._player.seek(0 if name == "start" else self._player.count - 1)

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # moved by a user, and not by `refresh`
            self._displayed = event.target.value
            self._player.seek(self._displayed)


class StreamControls:
    """Control of a stream: pause.

    Parameters
    ----------
    server : the viser server
    container : the viser folder that holds the control
    feed : the stream
    """

    def __init__(self, server: Any, container: Any, feed: StreamFeed) -> None:
        self._feed = feed
        with container:
            self._button = _PauseButton(server.gui, self._toggle)
        _add_key(server.gui, "Play or pause", "P", self._toggle)

    def refresh(self) -> None:
        """Show the state of the stream."""
        self._button.show(not self._feed.paused)

    def _toggle(self) -> None:
        self._feed.set_paused(not self._feed.paused)


class _PauseButton:
    """A button labelled with what a click does: pause or play."""

    def __init__(self, gui: Any, toggle: Callable[[], None]) -> None:
        self._button = gui.add_button("Pause", icon=_icon(playing=True), hint="or press P")
        self._button.on_click(lambda _: toggle())
        self._playing = True

    def show(self, playing: bool) -> None:
        if playing != self._playing:
            self._playing = playing
            self._button.label, self._button.icon = "Pause" if playing else "Play", _icon(playing)


class TuningControls:
    """Controls of thresholds: a slider each, smoothing, the number of people, reset, and a file to save.

    Parameters
    ----------
    server : the viser server
    container : the viser tab that holds the controls
    tuning : the thresholds
    can_smooth : whether the pipeline has a smoother
    """

    def __init__(self, server: Any, container: Any, tuning: Tuning, can_smooth: bool) -> None:
        gui, self._tuning, self._initial = server.gui, tuning, tuning.values
        with container:
            self._sliders = {each: self._slider(gui, each) for each in self._initial if each.stage != "smoother"}
            people = gui.add_slider(
                "max people", 0, MAX_PEOPLE, 1, min(tuning.max_people or 0, MAX_PEOPLE), hint="0 = all"
            )
            if can_smooth:
                smooth = gui.add_checkbox("smooth", tuning.smooth, hint="steadier joints, with some lag")
                smooth.on_update(lambda event: tuning.set_smooth(event.target.value))
                self._sliders |= {each: self._slider(gui, each) for each in self._initial if each.stage == "smoother"}
            reset = gui.add_button("Reset", color="gray")
            save = gui.add_button("Save thresholds", color="gray", hint="download a file for posepipe run --thresholds")
        people.on_update(lambda event: tuning.set_max_people(event.target.value or None))
        reset.on_click(lambda _: self._reset())
        save.on_click(lambda event: self._save(event.client))

    def _slider(self, gui: Any, threshold: Threshold) -> Any:
        value = min(max(self._initial[threshold], threshold.min), threshold.max)
        slider = gui.add_slider(
            threshold.label, threshold.min, threshold.max, threshold.step, value, hint=threshold.hint
        )
        slider.on_update(lambda event: self._tuning.set(threshold, event.target.value))
        return slider

    def _save(self, client: Any) -> None:
        """Send the file to the browser that asked for it: nothing is written where the page is served."""
        content = self._tuning.settings.to_toml().encode()
        client.send_file_download(THRESHOLDS_FILE, content, save_immediately=True)

    def _reset(self) -> None:
        for threshold, slider in self._sliders.items():
            slider.value = self._initial[threshold]


def _icon(playing: bool) -> Any:
    from viser import Icon

    return Icon.PLAYER_PAUSE_FILLED if playing else Icon.PLAYER_PLAY_FILLED


def _add_key(gui: Any, label: str, key: str, command: Callable[[], object]) -> None:
    gui.add_command(label, hotkey=key).on_trigger(lambda _: command())
