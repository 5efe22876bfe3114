"""Old names of options work for one release: the same result, and one line that gives the new name."""

from __future__ import annotations

import argparse

import pytest

from apps.cli import COMMANDS, build_parser, main
from apps.options.renamed_options import NEW_NAMES, use_new_names

OLD_COMMANDS = {
    "run walk.mcap --people 2": {"max_people": 2},
    "run walk.mcap --every=3": {"frame_step": 3},
    "view walk.mcap --people 1": {"max_people": 1},
    "view walk.mcap --every 10": {"frame_step": 10},
    "record camera:realsense walk.mcap --every 2": {"frame_step": 2},
    "convert walk.mcap frames --every 2": {"frame_step": 2},
    "evaluate data --tracks --every 3": {"frame_step": 3},
    "evaluate data --ceilings": {"oracle": True},
    "train data --out m.npz --depth 12": {"max_depth": 12},
}


def options(command: str) -> argparse.ArgumentParser:
    (commands,) = [each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction)]
    return commands.choices[command]


@pytest.mark.parametrize(("typed", "meant"), OLD_COMMANDS.items())
def test_an_old_name_means_the_new_one_with_a_hint(typed, meant, capsys):
    args = build_parser().parse_args(typed.split())
    assert {name: getattr(args, name) for name in meant} == meant
    (old,) = [old for old in NEW_NAMES if f" {old}" in typed]
    hint = f"posepipe: {old} is now called {NEW_NAMES[old]}; the old name will be removed\n"
    assert capsys.readouterr() == ("", hint)


def test_a_new_name_gives_no_hint(capsys):
    build_parser().parse_args(["run", "walk.mcap", "--max-people", "2", "--frame-step", "3"])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_new_names_only(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out.replace("=", " ").replace("]", " ").split()
    assert not set(NEW_NAMES) & set(shown)


@pytest.mark.parametrize("old", NEW_NAMES)
def test_every_new_name_is_an_option_of_a_command(old):
    known = {word for command in COMMANDS for word in options(command)._option_string_actions}
    assert NEW_NAMES[old] in known
    assert old not in known


def test_a_command_without_the_option_knows_no_old_name(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["info", "walk.mcap", "--every", "3"])
    assert stop.value.code == 2
    assert "there is no option --every" in capsys.readouterr().err


def test_words_after_two_dashes_are_left_alone(capsys):
    words = ["--people=1", "--", "--every"]
    assert use_new_names(words, {"--max-people", "--frame-step"}) == ["--max-people=1", "--", "--every"]
    assert capsys.readouterr().err.count("\n") == 1
