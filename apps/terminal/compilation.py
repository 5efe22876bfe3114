"""Compilation of the kernels before the first frame, with a bar; nothing is shown where all are compiled already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apps.terminal.plain_text import show_beside_bars
from apps.terminal.progress import ProgressBar


@contextmanager
def kernels_compiled() -> Iterator[None]:
    """Compile the kernels of the pipeline in other processes while the block runs, then wait for them."""
    import posepipe.pipeline  # noqa: F401  # its modules declare their kernels
    from posepipe.precompilation import Precompilation

    with Precompilation() as compilation:
        if compilation.missing:
            show_beside_bars(f"compiling {len(compilation.missing)} kernels for this machine, once")
        yield
        with ProgressBar(len(compilation.missing), "compile", "kernels") as bar:
            compilation.wait(bar.update)
