"""Which options each stage of ``posepipe train`` uses; all others are refused, because they would do nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

OF_ANY_STAGE = frozenset({"--out", "--forest", "--only", "--debug"})
USED_BY = {
    "joints": {"--joint-frames", "--joints-from", "--votes", "--vote-frames", "--no-mirror"},
    "second-pass": {"--joint-frames"},
    "segmentation": set(),
    "background": set(),
    "filter": {"--workers", "--resume"},
    "views": {"--workers"},
    "regions": {"--workers"},
    "facing": set(),
}
"""Choice of --only -> further options that it uses. A training of all stages uses every option."""


OF_VOTES = ("--votes", "--vote-frames")
"""Options of the frames from which votes are learned."""


class NotedOption(argparse.Action):
    """Stores a value as usual, and notes in ``given`` that its option was given, even with the default value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value of one option."""
        setattr(namespace, self.dest, values)
        namespace.given = [*getattr(namespace, "given", []), *self.option_strings[:1]]


def joint_source(args: argparse.Namespace) -> str:
    """What joints are found from: as given, or of both where frames for votes are, or of parts."""
    return args.joints_from or ("both" if any(option in OF_VOTES for option in args.given) else "parts")


def refuse_idle_options(args: argparse.Namespace, stage: str) -> None:
    """Raise PosepipeError if an option was given that would do nothing in the training of a stage.

    Parameters
    ----------
    args : of a parser whose options are `NotedOption`
    stage : "all", or a choice of --only
    """
    from posepipe.errors import PosepipeError

    flags = [f"--{name.replace('_', '-')}" for name, value in vars(args).items() if value is True]
    given = [*args.given, *flags]
    if stage != "all":
        if "--joints" in given and stage in ("joints", "second-pass"):
            raise PosepipeError(
                f"--joints: with --forest, DATASET holds the frames for the joints; give {args.joints} there instead"
            )
        if idle := [option for option in given if option not in OF_ANY_STAGE | USED_BY[stage]]:
            raise PosepipeError(f"{idle[0]} does nothing in --only {stage}; leave it out")
    of_votes = [option for option in given if option in OF_VOTES]
    if of_votes and args.joints_from == "parts":
        raise PosepipeError(f"{of_votes[0]} is for joints from votes; leave out it or --joints-from parts")
    if of_votes == ["--vote-frames"] and stage == "joints":
        raise PosepipeError("--vote-frames limits the frames of --votes; add --votes DATASET, or leave it out")
