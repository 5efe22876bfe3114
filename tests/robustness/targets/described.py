"""`posepipe info` on a file, without a terminal."""

from __future__ import annotations

import argparse
import io
from contextlib import redirect_stdout
from pathlib import Path

from apps import info


def describe(path: Path) -> None:
    """Run the command; raises what it raises."""
    parser = argparse.ArgumentParser()
    info.add_arguments(parser)
    with redirect_stdout(io.StringIO()):
        info.run(parser.parse_args([str(path)]))
