"""Names chosen by others cannot speak to the terminal."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

from apps.cli import main
from apps.terminal.plain_text import plain, plain_line
from tests.support.recordings import ros_writers as ros

ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\r\x08\u202e\ud800"


def test_controls_are_stripped_and_text_stays():
    assert plain(f"a{ESCAPES}b\n\tc") == "a[31m]0;title2Jb\n\tc"
    assert plain_line("a\nb\x1b\tc") == "a b c"
    assert plain("Größe 深度 ±5°") == "Größe 深度 ±5°"


def hidden(text: str) -> set[str]:
    return {each for each in text if not each.isprintable() and each != "\n"}


def test_topics_of_a_recording_are_plain(tmp_path, capsys):
    messages = []
    for k in range(2):
        topic = f"/depth{k}\x1b[31m\x9b2J\nposepipe: error: invented/image"
        messages += [ros.image(ros.depth_mm(i), ros.START_NS + i, topic) for i in range(2)]
    path = ros.write_mcap(tmp_path / "a.mcap", messages)
    assert main(["info", str(path)]) == 0
    shown = capsys.readouterr().out
    assert hidden(shown) == set()
    assert not any(line.startswith("posepipe: error") for line in shown.splitlines())
    assert main(["convert", str(path), str(tmp_path / "b.npz")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert hidden(line) == set()


def test_names_of_files_are_plain(tmp_path, capsys):
    path = tmp_path / "a\x1b[31mb\x9b.npz"
    np.savez(path, x=np.zeros(1))
    assert main(["info", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert hidden(line) == set()
    assert r"a\x1b[31mb\x9b.npz" in line


@pytest.mark.parametrize("say", [logging.getLogger("posepipe").warning, warnings.warn])
def test_warnings_are_plain_lines(capsys, monkeypatch, say):
    from apps import info

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(info, "run", lambda args: say("name\x1b[31m\nposepipe: error: invented"))
    assert main(["info", "person"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("name[31m posepipe: error: invented")
