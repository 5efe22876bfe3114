"""The command ``posepipe``: parse, call one command, print errors as one line."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from apps.options.parser import CommandParser
from apps.terminal.interrupts import INTERRUPTED, leave_at_signals, say_stopped, was_interrupted, watch_for_interrupt
from apps.terminal.plain_text import plain_line, show, show_beside_bars
from apps.terminal.standard_streams import replace_closed_streams
from posepipe import __version__
from posepipe.errors import PosepipeError
from posepipe.io.files import name_text

COMMANDS = (
    "demo",
    "run",
    "record",
    "calibrate",
    "convert",
    "view",
    "info",
    "explain",
    "synth",
    "train",
    "curves",
    "evaluate",
    "bench",
)
"""Each is a module of this package with ``HELP``, ``EXAMPLES``, ``add_arguments`` and ``run``."""
_OWN_LOGGERS = ("apps", "posepipe", "synth")
CLOSED_PIPE = 128 + 13
"""Exit code when the reader of our output has left, as shells show a program that SIGPIPE ended."""


def command_module(name: str) -> ModuleType:
    """Return the module of a command."""
    return importlib.import_module(f"apps.{name}")


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands; each imports what it needs when it runs, which keeps --help quick."""
    parser = CommandParser(
        prog="posepipe", description="Find people's 3D joints in the frames of any depth camera, on a CPU."
    )
    parser.add_argument("--version", action="version", version=f"posepipe {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = command_module(name)
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=f"{module.HELP[0].upper()}{module.HELP[1:]}.",
            epilog="examples:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; it finds in ``args.typed`` what was typed.

    Parameters
    ----------
    arguments : words of the command line; None = those of this process

    Returns
    -------
    int
        Exit code: 0, 1 for an error, 2 for wrong usage, 130 after Ctrl-C or SIGTERM, 141 when the reader of the output
        left.
    """
    replace_closed_streams()
    try:
        status = _run(arguments)
        sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while Python ends
        return status
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards what is not yet written
        return CLOSED_PIPE


def as_typed(arguments: Sequence[str]) -> str:
    """Return the command line with every path reduced to its last name, because it goes into shared files."""
    return shlex.join(["posepipe", *map(_last_name, arguments)])


def _last_name(argument: str) -> str:
    option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
    return option + equals + name_text(Path(value).name or value)


class _BesideBars(logging.Handler):
    """Log lines on standard error that do not run into a progress bar; of other packages warnings alone.

    dask sets the level of its loggers itself, so that the level of the root does not hold them back.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown."""
        return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OWN_LOGGERS

    def emit(self, record: logging.LogRecord) -> None:
        show_beside_bars(self.format(record))


def _run(arguments: Sequence[str] | None) -> int:
    args = build_parser().parse_args(arguments)
    args.typed = as_typed(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(format="posepipe: %(message)s", level=logging.INFO, handlers=[_BesideBars()])
    warnings.showwarning = lambda message, *rest: show_beside_bars(f"posepipe: warning: {message}")
    with watch_for_interrupt():
        return _run_command(args)


def _run_command(args: argparse.Namespace) -> int:
    try:
        command_module(args.command).run(args)
    except (KeyboardInterrupt, Exception) as error:
        if isinstance(error, KeyboardInterrupt) or was_interrupted():  # the compiler may turn Ctrl-C into its own error
            return _stopped()
        if closed := _closed_pipe(error):
            raise closed from None
        if args.debug or not isinstance(error, PosepipeError | ValueError | OSError | MemoryError):
            raise
        show(plain_line(f"posepipe: error: {_one_line(error)}"), sys.stderr)
        return 1
    return 0


def _stopped() -> int:
    say_stopped()
    return INTERRUPTED


def _closed_pipe(error: BaseException | None) -> BrokenPipeError | None:
    """Return the closed pipe that caused an error, if one did: results may go to standard output as to any file."""
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__cause__
    return error


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory ({error})" if str(error) else "out of memory"
    return plain_line(str(error)) or type(error).__name__


if __name__ == "__main__":
    leave_at_signals()
    sys.exit(main())
