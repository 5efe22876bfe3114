"""Compilation of the kernels before the first frame, with a bar; nothing is shown where all are compiled already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apps.terminal.progress import ProgressBar


@contextmanager
def kernels_compiled() -> Iterator[None]:
    """Compile the kernels of the pipeline in other processes while the block runs, then wait for them."""
    import posepipe.pipeline  # noqa: F401  # its modules declare their kernels
    from posepipe.compilation import say_compiling
    from posepipe.precompilation import Precompilation

    with Precompilation() as compilation:
        if compilation.missing:
            say_compiling()
        yield
        with ProgressBar(len(compilation.missing), "compile", "kernels") as bar:
            compilation.wait(bar.update)
