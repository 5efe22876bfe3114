"""Options that several sources share, or that are given once for each of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class OfEachSource(argparse.Action):
    """Stores a value as usual, and keeps all that were given, for `each_source`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value of one option."""
        setattr(namespace, self.dest, values)
        given = dict(getattr(namespace, "given_for_sources", {}))
        given[self.dest] = [*given.get(self.dest, []), values]
        namespace.given_for_sources = given


class SeveralSources(argparse.Action):
    """Stores the first source as ``source`` and the others as ``further``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the sources that stand together on the command line."""
        assert isinstance(values, list)
        namespace.source, namespace.further = values[0], values[1:]


def each_source(args: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the arguments of each source: the k-th has the k-th value of an option, or the only one.

    Raises
    ------
    PosepipeError
        If an option was given neither once nor once for each source.
    """
    from posepipe.errors import PosepipeError

    sources = [args.source, *args.further]
    given = getattr(args, "given_for_sources", {})
    for dest, values in given.items():
        if len(values) not in (1, len(sources)):
            raise PosepipeError(
                f"--{dest} was given {len(values)} times for {len(sources)} sources; give it once for each, in their"
                " order, or once for all"
            )
    return [
        argparse.Namespace(
            **{
                **vars(args),
                **{dest: values[k if len(values) > 1 else 0] for dest, values in given.items()},
                "source": source,
                "further": [],
            }
        )
        for k, source in enumerate(sources)
    ]


def words_of_source(args: argparse.Namespace) -> list[str]:
    """Return the words of a command line by which a source of `each_source` is read as it was, for another command."""
    given = getattr(args, "given_for_sources", {})
    return [args.source, *(word for dest in given for word in (f"--{dest}", str(getattr(args, dest))))]
