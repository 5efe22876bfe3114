"""The parser of the command line: wrong usage is one line with what was wanted, what came and where to look."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from apps.options.renamed_options import use_new_names

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
"""Messages of argparse, and the words that all errors of posepipe use."""


class CommandParser(argparse.ArgumentParser):
    """Parser that answers a mistake with one line and names the option that was probably meant."""

    def error(self, message: str) -> NoReturn:
        """Print the mistake in one line and exit with code 2."""
        for pattern, words in _REWORDED:
            message = re.sub(pattern, words, message, flags=re.DOTALL)
        self.exit(2, f"posepipe: error: {' '.join(message.split())}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Flush standard output, then exit: a closed pipe shows here, where it is handled."""
        sys.stdout.flush()
        super().exit(status, message)

    def parse_known_args(  # type: ignore[override]  # argparse gives subparsers a list and keeps what they leave
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, with old option names accepted and unknown options refused."""
        words = use_new_names(sys.argv[1:] if args is None else args, self._option_string_actions)
        parsed, unknown = super().parse_known_args(words, namespace)
        if hasattr(parsed, "further"):  # sources may have options between them
            parsed.further = [*parsed.further, *(word for word in unknown if not word.startswith("-"))]
            unknown = [word for word in unknown if word.startswith("-")]
        if unknown:
            self._refuse(unknown[0])
        return parsed, []

    def _refuse(self, word: str) -> NoReturn:
        option = word.partition("=")[0]
        if not option.startswith("-"):
            self.error(f"nothing more was wanted, got {word!r}")
        near = difflib.get_close_matches(option, re.findall(r"--[\w-]+", self.format_usage()), 1)
        self.error(f"there is no option {option}" + (f", perhaps {near[0]} was meant" if near else ""))
