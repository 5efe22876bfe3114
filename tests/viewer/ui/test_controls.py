"""Controls of playback: a loop waits for browsers and is not stopped by their absence."""

from __future__ import annotations

from unittest.mock import MagicMock

import numpy as np
import pytest

from posepipe.viewer.playback.player import LOOP_PAUSE_S, DueFrame, Player
from posepipe.viewer.ui.controls import PlayerControls

pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)


@pytest.mark.parametrize("ticked", [True, False])
def test_a_loop_without_a_browser_plays_for_the_next_one(ticked):
    now_s, server = [100.0], MagicMock()
    server.gui.add_checkbox.return_value.value = ticked
    server.get_clients.return_value = {}
    player = Player(np.arange(2) / 10, lambda: now_s[0])
    PlayerControls(server, MagicMock(), player, loop=ticked)
    for _ in range(5):
        player.next()
        now_s[0] += LOOP_PAUSE_S
    assert (player.ended, player.playing, player.next()) == (True, ticked, None)
    server.get_clients.return_value = {0: "browser"}
    assert player.next() == (DueFrame(0, follows=False) if ticked else None)
