"""Progress bars with a rate and the time left, on standard error."""

from __future__ import annotations

import sys

from tqdm import tqdm


def progress_bar(total: int | None, what: str, unit: str) -> tqdm:
    """A bar of ``total`` units; quiet lines instead of redrawing where nobody watches."""
    watched = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=what,
        unit=f" {unit}",
        dynamic_ncols=watched,
        mininterval=0.2 if watched else 10,
        smoothing=0.1,
        file=sys.stderr,
    )
