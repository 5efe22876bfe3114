"""Compilation of the kernels before the first frame, with a bar; nothing is shown where all are compiled already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apps.terminal.progress import ProgressBar


@contextmanager
def kernels_compiled(live: bool = False) -> Iterator[None]:
    """Compile the kernels of the pipeline in other processes while the block runs, then wait for them.

    With ``live`` they are also loaded from the cache: a camera drops frames while the first one waits for that.
    """
    import posepipe.pipeline  # noqa: F401  # its modules declare their kernels
    from posepipe.compilation import say_compiling
    from posepipe.precompilation import Precompilation, load_kernels

    with Precompilation() as compilation:
        if compilation.missing:
            say_compiling()
        yield
        with ProgressBar(len(compilation.missing), "compile", "kernels") as bar:
            compilation.wait(bar.update)
    if live:
        load_kernels()
