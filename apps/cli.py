"""The command ``posepipe``: parse, call one command, print errors as one line."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

from apps.arguments import as_typed
from apps.progress import was_interrupted, watch_for_interrupt
from posepipe import __version__
from posepipe.errors import PosepipeError

COMMANDS = ("demo", "run", "record", "convert", "view", "info", "synth", "train", "evaluate", "bench")
"""Each is a module of this package with ``HELP``, ``EXAMPLES``, ``add_arguments`` and ``run``."""


def _command(name: str) -> ModuleType:
    return importlib.import_module(f"apps.{name}")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; commands import what they need when they run, so that help is quick."""
    parser = argparse.ArgumentParser(
        prog="posepipe", description="3D body joints from any depth camera, on a CPU, from depth alone."
    )
    parser.add_argument("--version", action="version", version=f"posepipe {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = _command(name)
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog="examples:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; it finds in ``args.typed`` what was typed.

    Returns the exit code: 0, 1 for an error, 2 for wrong usage, 130 after Ctrl-C.
    """
    args = build_parser().parse_args(arguments)
    args.typed = as_typed(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(format="posepipe: %(message)s", level=logging.INFO)
    watch_for_interrupt()
    warnings.showwarning = lambda message, *rest: print(f"posepipe: warning: {message}", file=sys.stderr)
    try:
        _command(args.command).run(args)
    except BrokenPipeError:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (KeyboardInterrupt, Exception) as error:
        if isinstance(error, KeyboardInterrupt) or was_interrupted():  # the compiler may turn Ctrl-C into its own error
            print("posepipe: stopped; what was finished is kept", file=sys.stderr)
            return 130
        if args.debug or not isinstance(error, PosepipeError | ValueError | OSError | MemoryError):
            raise
        print(f"posepipe: error: {_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory ({error})" if str(error) else "out of memory"
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
