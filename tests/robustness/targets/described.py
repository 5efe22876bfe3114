"""`posepipe info` on a file, without a terminal."""

from __future__ import annotations

import argparse
import io
from contextlib import redirect_stdout
from pathlib import Path

from apps import info


def describe(path: Path) -> None:
    """Run the command; raises what it raises."""
    with redirect_stdout(io.StringIO()):
        info.run(argparse.Namespace(path=str(path), topic=None, camera=None, draw=None))
