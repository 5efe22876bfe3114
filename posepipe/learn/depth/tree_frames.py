"""The frames that a tree is grown on, and how their pixels are read: in this process, or in several."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numba
from threadpoolctl import threadpool_limits

from posepipe.errors import PosepipeError
from posepipe.frames import LabelledFrame
from posepipe.io.scratch_array import ScratchArray
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting.pixel_sampling import (
    Segmentation,
    join_samples,
    sample_pixels,
    true_people,
    with_people,
)
from posepipe.learn.depth.splitting.responses import PixelSamples
from posepipe.processes.worker_pool import WorkerDiedError, WorkerPool

BLOCK_FRAMES = 100
"""Frames that a worker reads at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeFrames:
    """Frames that one tree is grown on, and how its samples are drawn from them."""

    dataset: Sequence[LabelledFrame]
    rows: range  #: of the dataset
    parameters: ForestParameters
    seed: tuple[int, ...]
    n_classes: int
    segmentation: Segmentation = true_people
    share: tuple[int, int] = (0, 1)  #: (k, T): its pixels are those k, k + T and so on that are drawn of a segment

    @classmethod
    def of_tree(
        cls,
        tree: int,
        dataset: Sequence[LabelledFrame],
        parameters: ForestParameters,
        n_classes: int,
        segmentation: Segmentation = true_people,
    ) -> TreeFrames:
        """The frames of one tree of a forest: of its own, or all of them and its share of their pixels."""
        if parameters.share_frames:
            shared, share = range(len(dataset)), (tree, parameters.trees)
            return cls(dataset, shared, parameters, (parameters.seed,), n_classes, segmentation, share)
        own = range(tree, len(dataset), parameters.trees)
        return cls(dataset, own, parameters, (parameters.seed, tree), n_classes, segmentation)

    def draw_samples(
        self,
        on_frame: Callable[[], object],
        image_file: ScratchArray | None = None,
        may_lack_people: bool = False,
        workers: int = 1,
    ) -> PixelSamples:
        """Read the frames and draw their pixels.

        Parameters
        ----------
        on_frame : called after every frame
        image_file : stores the images on disk; None = in memory
        may_lack_people : True = accept frames without people, for a part of a dataset
        workers : number of processes that read frames; 1 = this one. Samples are the same

        Returns
        -------
        PixelSamples

        Raises
        ------
        ValueError
            When no frame shows a person, unless that is accepted.
        PosepipeError
            When a worker was killed.
        """
        return self.share_of(self.draw_shared(on_frame, image_file, may_lack_people, workers))

    def share_of(self, samples: PixelSamples) -> PixelSamples:
        """The samples of this tree, of those of all trees on these frames."""
        tree, trees = self.share
        return samples if trees == 1 else samples.every(trees, tree)

    def draw_shared(
        self,
        on_frame: Callable[[], object],
        image_file: ScratchArray | None = None,
        may_lack_people: bool = False,
        workers: int = 1,
    ) -> PixelSamples:
        """Draw the pixels of all trees on these frames, as `draw_samples` those of this one."""
        blocks = self.split(-(-len(self.rows) // BLOCK_FRAMES))
        if workers == 1 or len(blocks) <= 1:
            samples = self._draw(self.rows, lambda _: on_frame(), image_file)
        else:
            samples = self._draw_on_workers([each.rows for each in blocks], on_frame, image_file, workers)
        return samples if may_lack_people else with_people(samples)

    def _draw(
        self, rows: range, on_frames: Callable[[int], object], image_file: ScratchArray | None = None
    ) -> PixelSamples:
        pixels = self.parameters.pixels_per_person * self.share[1]
        frames = _each(self.dataset, rows, on_frames)
        return sample_pixels(frames, pixels, self.seed, self.segmentation, image_file, may_lack_people=True)

    def _draw_on_workers(
        self, blocks: Sequence[range], on_frame: Callable[[], object], image_file: ScratchArray | None, workers: int
    ) -> PixelSamples:
        def on_frames(count: int) -> None:
            for _ in range(count):
                on_frame()

        try:
            with WorkerPool(_Reading(self), min(workers, len(blocks))) as pool:
                return join_samples(_in_order(pool.run(enumerate(blocks), on_frames)), image_file)
        except WorkerDiedError:
            raise PosepipeError("a worker was killed, perhaps for memory; give fewer --workers") from None

    def split(self, count: int) -> list[TreeFrames]:
        """Cut the frames into at most ``count`` runs of about one length; samples of one come before the next's."""
        cuts = [len(self.rows) * k // count for k in range(count + 1)]
        return [replace(self, rows=self.rows[a:b]) for a, b in itertools.pairwise(cuts) if a < b]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a worker process does: read a block of frames, in one thread."""

    frames: TreeFrames

    def __call__(self, block: tuple[int, range], on_frames: Callable[[int], None]) -> tuple[int, PixelSamples]:
        numba.set_num_threads(1)
        with threadpool_limits(1):
            number, rows = block
            return number, self.frames._draw(rows, on_frames)


def _in_order(numbered: Iterable[tuple[int, PixelSamples]]) -> Iterator[PixelSamples]:
    """Samples by their number, from 0, each as soon as all before it are there."""
    waiting: dict[int, PixelSamples] = {}
    following = 0
    for number, samples in numbered:
        waiting[number] = samples
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _each(
    dataset: Sequence[LabelledFrame], rows: Iterable[int], on_frames: Callable[[int], object]
) -> Iterator[tuple[int, LabelledFrame]]:
    for row in rows:
        yield row, dataset[row]
        on_frames(1)
