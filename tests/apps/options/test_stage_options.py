"""Options that a stage of `posepipe train` does not use are refused in one line, before anything is read."""

from __future__ import annotations

import pytest

from apps.cli import build_parser, main
from apps.training.stage_options import OF_ANY_STAGE, USED_BY, joint_source

VALUES = {
    "--joints": "data",
    "--joint-frames": "20000",
    "--joints-from": "both",
    "--votes": "data",
    "--vote-frames": "15000",
    "--trees": "3",
    "--share-frames": None,
    "--max-depth": "20",
    "--pixels": "300",
    "--candidates": "100",
    "--probe-range": "0.8",
    "--min-gain": "0.005",
    "--min-samples": "30",
    "--class-weight": "none",
    "--seed": "0",
    "--memory": "8G",
    "--no-mirror": None,
    "--workers": "2",
    "--resume": None,
    "--cluster": "local:2",
}
"""Option -> a value, the default where there is one: an idle option is refused even so."""


def error_of(capsys, *options) -> str:
    assert main(["train", "nothing", "--out", "m.npz", *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("posepipe: error: ")


def test_the_table_holds_every_option_of_the_command():
    train = next(iter(build_parser()._subparsers._group_actions)).choices["train"]
    options = {word for word in train._option_string_actions if word.startswith("--")}
    assert options == set(VALUES) | OF_ANY_STAGE | {"--help"}


@pytest.mark.parametrize("stage", USED_BY)
@pytest.mark.parametrize(("option", "value"), VALUES.items())
def test_a_stage_refuses_an_option_that_it_does_not_use(capsys, stage, option, value):
    given = [option] if value is None else [f"{option}={value}"]
    line = error_of(capsys, "--forest", "no-model.npz", "--only", stage, *given)
    own = {"--vote-frames": "--vote-frames limits the frames of --votes", "--cluster": "--cluster grows trees, and"}
    if option == "--joints" and stage in ("joints", "second-pass"):
        assert line == "--joints: with --forest, DATASET holds the frames for the joints; give data there instead"
    elif option in own and (option == "--cluster" or stage == "joints"):
        assert line.startswith(own[option])
    elif option in USED_BY[stage]:
        assert "nothing: no such file or folder" in line
    else:
        assert line == f"{option} does nothing in --only {stage}; leave it out"


def test_a_shortened_option_is_refused_as_well(capsys):
    line = error_of(capsys, "--forest", "no-model.npz", "--only", "filter", "--max-d", "5")
    assert line == "--max-depth does nothing in --only filter; leave it out"


def test_joints_of_the_surface_take_no_frames_for_votes(capsys):
    for option in (["--votes", "data"], ["--vote-frames", "10"]):
        line = error_of(capsys, "--joints-from", "parts", *option)
        assert line == f"{option[0]} is for joints from votes; leave out it or --joints-from parts"


@pytest.mark.parametrize(
    ("options", "source"),
    [
        ([], "parts"),
        (["--votes", "data"], "both"),
        (["--vote-frames", "10"], "both"),
        (["--joints-from", "votes", "--votes", "data"], "votes"),
        (["--joints-from", "both"], "both"),
    ],
)
def test_frames_for_votes_say_that_joints_are_found_from_both(options, source):
    assert joint_source(build_parser().parse_args(["train", "data", "--out", "m.npz", *options])) == source


def test_a_training_of_all_stages_uses_every_option(capsys):
    for option, value in VALUES.items():
        assert "nothing: no such file or folder" in error_of(capsys, option, *([value] if value else []))
