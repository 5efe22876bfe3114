"""Wrong usage in one line: what was wanted, what came, where to look."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

_REWORDED = (
    (r"^argument ", ""),
    (r"^the following arguments are required: (.*)$", r"wanted \1, got none"),
    (r"invalid choice: (.*?) \(choose from (.*)\)$", r"wanted one of \2; got \1"),
    (r"invalid int value: ", "wanted a whole number, got "),
    (r"invalid float value: ", "wanted a number, got "),
    (r"expected one argument$", "wanted a value, got none"),
    (r"expected (\d+) arguments$", r"wanted \1 values"),
    (r"expected at least one argument$", "wanted at least one value, got none"),
    (r"ignored explicit argument ", "wanted no value, got "),
)
"""What argparse says, and how the errors of every other part of posepipe are worded."""


class CommandParser(argparse.ArgumentParser):
    """A parser that prints no page of options at a mistake, and names the option that was probably meant."""

    def error(self, message: str) -> NoReturn:
        for pattern, words in _REWORDED:
            message = re.sub(pattern, words, message, flags=re.DOTALL)
        self.exit(2, f"posepipe: error: {' '.join(message.split())}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # help whose reader is gone is a closed pipe like any other
        super().exit(status, message)

    def parse_known_args(  # type: ignore[override]  # commands ask this, and leave strangers to the whole parser
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        parsed, strangers = super().parse_known_args(args, namespace)
        if strangers:
            self._refuse(strangers[0])
        return parsed, []

    def _refuse(self, stranger: str) -> NoReturn:
        option = stranger.partition("=")[0]
        if not option.startswith("-"):
            self.error(f"nothing more was wanted, got {stranger!r}")
        near = difflib.get_close_matches(option, re.findall(r"--[\w-]+", self.format_usage()), 1)
        self.error(f"there is no option {option}" + (f", perhaps {near[0]} was meant" if near else ""))
