"""The button of the thresholds sends the browser a file that `posepipe run --thresholds` reads."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

from posepipe.pipeline import Pipeline
from posepipe.thresholds import THRESHOLDS, read_thresholds
from posepipe.viewer.playback.tuning import Tuning
from posepipe.viewer.ui.controls import TuningControls
from tests.support.shipped_model import shipped_model


def test_the_saved_file_holds_what_the_sliders_show(tmp_path):
    tuning, server = Tuning(Pipeline.from_model(shipped_model())), MagicMock()
    buttons = {name: MagicMock() for name in ("Reset", "Save thresholds")}
    server.gui.add_button.side_effect = lambda label, **_: buttons[label]
    TuningControls(server, MagicMock(), tuning, can_smooth=False)
    tuning.set(THRESHOLDS[1], 0.4)
    tuning.set_max_people(2)
    (save,) = buttons["Save thresholds"].on_click.call_args.args
    browser = MagicMock()
    save(SimpleNamespace(client=browser))
    name, content = browser.send_file_download.call_args.args
    (tmp_path / name).write_bytes(content)
    assert read_thresholds(tmp_path / name) == tuning.settings
    assert read_thresholds(tmp_path / name).values[THRESHOLDS[1]] == 0.4
