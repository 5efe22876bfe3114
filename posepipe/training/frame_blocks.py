"""Frames looked at in blocks, by one process or by several; what is found does not depend on how many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numba
from threadpoolctl import threadpool_limits

from posepipe.errors import PosepipeError
from posepipe.processes.worker_pool import WorkerDiedError, WorkerPool

BLOCK_FRAMES = 100
"""Frames that a worker looks at at a time."""
Found = TypeVar("Found")


class FrameBlocks(ABC, Generic[Found]):
    """Looks at blocks of frames; pickled, for workers."""

    @abstractmethod
    def block(self, block: range, on_frames: Callable[[int], None]) -> Found:
        """Return what some frames show; ``on_frames`` is called with the number of frames since the last call."""

    def __call__(self, block: range, on_frames: Callable[[int], None]) -> tuple[int, Found]:
        """Look at a block in a worker, in one thread; returns its first frame, too."""
        numba.set_num_threads(1)
        with threadpool_limits(1):
            return block.start, self.block(block, on_frames)

    def collect(self, n_frames: int, on_frame: Callable[[], object], workers: int = 1) -> list[Found]:
        """What all blocks show, in their order.

        Parameters
        ----------
        n_frames : number of frames
        on_frame : called after every frame
        workers : number of processes; 1 = this one

        Raises
        ------
        PosepipeError
            When a worker was killed.
        """
        blocks = [range(start, min(start + BLOCK_FRAMES, n_frames)) for start in range(0, n_frames, BLOCK_FRAMES)]

        def on_frames(count: int) -> None:
            for _ in range(count):
                on_frame()

        if workers == 1 or len(blocks) <= 1:
            return [self.block(block, on_frames) for block in blocks or [range(0)]]
        try:
            with WorkerPool(self, min(workers, len(blocks))) as pool:
                found = dict(pool.run(blocks, on_frames))
        except WorkerDiedError:
            raise PosepipeError("a worker was killed, perhaps for memory; give fewer --workers") from None
        return [found[block.start] for block in blocks]
