"""Old names of options: they work for one release, with a hint that gives the new name."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from apps.terminal.plain_text import show

NEW_NAMES = {
    "--ceilings": "--oracle",
    "--depth": "--max-depth",
    "--every": "--frame-step",
    "--people": "--max-people",
}
"""Old name -> new name; to be removed after one release."""


def use_new_names(arguments: Sequence[str], known: Collection[str]) -> list[str]:
    """Replace old option names by the new ones, and print a hint for each on standard error.

    Parameters
    ----------
    arguments : the words of a command line
    known : the options that the command has; others are left as they are

    Returns
    -------
    list of str
        The same words with new names.
    """
    words = list(arguments)
    for i, word in enumerate(words):
        if word == "--":
            break
        old, equals, value = word.partition("=")
        new = NEW_NAMES.get(old)
        if new in known and old not in known:
            show(f"posepipe: {old} is now called {new}; the old name will be removed", file=sys.stderr)
            words[i] = f"{new}{equals}{value}"
    return words
