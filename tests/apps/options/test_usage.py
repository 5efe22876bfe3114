"""Wrong usage is one line: what was wanted, what came, where to look; and help lists what can be read."""

from __future__ import annotations

import pytest

from apps.cli import COMMANDS, build_parser, main
from posepipe.sources import FORMATS
from posepipe.sources.cameras import CAMERAS

TYPED = {
    "run --outt x": "there is no option --outt, perhaps --out was meant; see posepipe run --help",
    "run x --start 1 y --xyz": "there is no option --xyz; see posepipe run --help",
    "run x --xyz=3": "there is no option --xyz; see posepipe run --help",
    "--foo run x": "there is no option --foo; see posepipe --help",
    "view a b": "nothing more was wanted, got 'b'; see posepipe view --help",
    "run": "wanted SOURCE, got none; see posepipe run --help",
    "convert a": "wanted FILE, got none; see posepipe convert --help",
    "": "wanted COMMAND, got none; see posepipe --help",
    "run a --frame-step x": "--frame-step: wanted a whole number from 1 up, got 'x'; see posepipe run --help",
    "run a --rotate 5": "--rotate: wanted one of 0, 90, 180, 270; got 5; see posepipe run --help",
    "run a --rotate x": "--rotate: wanted a whole number, got 'x'; see posepipe run --help",
    "run a --out a.csv --out b.csv": "--out: wanted one value, got two; see posepipe run --help",
    "run a --video": "--video: wanted a value, got none; see posepipe run --help",
    "run a --realtime=3": "--realtime: wanted no value, got '3'; see posepipe run --help",
    "run a --re": "ambiguous option: --re could match --realtime, --record, --resume; see posepipe run --help",
    "train a --out m.npz --memory 8": "--memory: wanted a size such as 8G or 500M, got '8'; see posepipe train --help",
    "train a --out m.npz --min-gain nan": "--min-gain: wanted bits from 0 up, got 'nan'; see posepipe train --help",
    "run a --stream x": "--stream: wanted udp://HOST:PORT, tcp://HOST:PORT, osc://HOST:PORT, foxglove://HOST:PORT or"
    " ros2://[HOST][/FRAME], got 'x'; see posepipe run --help",
}


@pytest.mark.parametrize(("typed", "line"), TYPED.items())
def test_a_mistake_is_one_line(capsys, typed, line):
    with pytest.raises(SystemExit) as stop:
        main(typed.split())
    assert stop.value.code == 2
    assert capsys.readouterr() == ("", f"posepipe: error: {line}\n")


def test_an_unknown_command_is_one_line_that_lists_them(capsys):
    with pytest.raises(SystemExit):
        main(["rnu"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "COMMAND: wanted one of " in line
    assert all(command in line for command in COMMANDS)
    assert line.endswith("got 'rnu'; see posepipe --help")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_an_unknown_option_in_one_line(capsys, command):
    wanted = {"run": ["a"], "record": ["a", "b.mcap"], "convert": ["a", "b"], "view": ["a"], "info": ["a"]}
    wanted |= {"synth": ["a"], "train": ["a", "--out", "m.npz"], "evaluate": ["a"]}
    wanted |= {"curves": ["a", "b", "--out", "c"]}
    with pytest.raises(SystemExit) as stop:
        build_parser().parse_args([command, *wanted.get(command, []), "--no-such-thing"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


HELP_SAYS = {
    "DatasetFolder": "datasets",
    "TumFolder": "TUM RGB-D",
    "FakenectDump": "fakenect-record",
    "PngFolder": "16-bit *.png",
    "Ros2Bag": ".db3",
    "RecordingSource": ".mcap",
    "Ros1Bag": ".bag",
    "AzureMkv": ".mkv",
    "OpenniFile": ".oni",
    "ImageFolder": "*.npy",
    "ItopDepthMap": ".h5",
    "NpzPack": ".npz",
}


@pytest.mark.parametrize("command", ["run", "record", "convert", "view"])
def test_help_lists_every_format_and_camera(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert {kind.open.__name__ for kind in FORMATS} == set(HELP_SAYS)
    assert [word for word in HELP_SAYS.values() if word not in printed] == []
    assert [name for name in CAMERAS if f"camera:{name}" not in printed] == []
