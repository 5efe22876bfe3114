"""The training-data flow on one page: cast -> placement -> room -> shot -> labelled frame.

A frame depends on (recipe, index) alone, a sequence on (recipe, number). A dataset is written in recordings of
RECORDING_FRAMES frames, or of one sequence, each, every one complete or absent, so that any number of workers makes
the same bytes and a killed run goes on where it stopped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Protocol

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from posepipe.datasets.dataset import MANIFEST_NAME, RecordingEntry, recording_name, write_manifest
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import LabelledFrame
from posepipe.io.files import disk_errors, read_json_object
from posepipe.models.provenance import source_revision
from posepipe.recording import RecordingWriter
from synth.geometry.mesh import Mesh
from synth.motion.motions import Motions
from synth.recipe import Recipe
from synth.render.render_frame import shoot
from synth.scene.placement import ELBOW_ROOM_M, Placement, View, draw_companion, draw_placement
from synth.scene.room import CLEAR_M, build_room
from synth.scene.subjects import Cast, Figure, People
from synth.sequences import SequenceRenderer

RECORDING_FRAMES = 250
MAX_VIEWS = 200
MIN_PERSON_PIXELS = 200
"""A view that shows less of the person is drawn again: nothing is to be learned from it."""


class Renderer(Protocol):
    """Renders a recipe, any of its recordings at any time."""

    recipe: Recipe

    @property
    def cast(self) -> Cast:
        """Who is in it."""

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Those of one recording, by their numbers in the dataset."""

    def scene(self, number: int) -> str | None:
        """What recording ``number`` shows if it is a sequence; None = frames that stand alone."""

    def describe(self) -> dict:
        """What it renders beside the recipe: plain data, for the dataset's manifest."""


class FrameRenderer:
    """Renders the frames of one recipe, any frame at any time."""

    def __init__(self, recipe: Recipe, cast: Cast) -> None:
        self.recipe = recipe
        self.cast = cast

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """Frames from ``first`` on."""
        return map(self.render, range(first, first + count))

    def scene(self, number: int) -> None:
        """None: a frame knows nothing of the others."""

    def describe(self) -> dict:
        return self.cast.describe()

    def render(self, index: int) -> LabelledFrame:
        """Render frame ``index``, labelled."""
        rng = np.random.default_rng([self.recipe.seed, index])
        recipe, sensor = self.recipe, self.recipe.sensor
        lens = sensor.intrinsics, sensor.width
        figure = self.cast.figure(rng)
        root_height_m = figure.root_m[1] - figure.floor_y_m
        for _ in range(MAX_VIEWS):
            placement = draw_placement(recipe, root_height_m, *lens, rng)
            figures, placements = self._company(figure, placement, rng)
            views = [p.view(f.root_m, f.floor_y_m) for f, p in zip(figures, placements, strict=True)]
            around = self._surroundings(figures, placements, views, rng)
            frame = shoot(figures, views, around, self.cast.body, sensor, recipe.noise, index, rng)
            if np.count_nonzero(frame.parts) >= MIN_PERSON_PIXELS:
                return frame
        raise PosepipeError(
            f"recipe: of {MAX_VIEWS} views none showed the person; distance_m, camera_height_m, aim_height_m,"
            " pitch_deg or aside lie out of sight"
        )

    def _company(self, figure: Figure, placement: Placement, rng: np.random.Generator):
        """The figure and those who stand with it, and all their places."""
        figures, placements = [figure], [placement]
        least, most = self.recipe.people
        wanted = int(rng.integers(least, most + 1)) if most > 1 else 1
        while len(figures) < wanted:
            lens, width = self.recipe.sensor.intrinsics, self.recipe.sensor.width
            clear_m = max([ELBOW_ROOM_M, *(f.reach_m for f in figures if f.support is not None)])
            place = draw_companion(self.recipe, placements, lens, width, rng, clear_m)
            if place is None:
                break
            companion = self.cast.figure(rng)
            gap_m = min(np.linalg.norm(place.floor_place_m - other.floor_place_m) for other in placements)
            if companion.support is not None and companion.reach_m > gap_m:
                companion = replace(companion, support=None)  # no bed where somebody stands
            figures.append(companion)
            placements.append(place)
        return figures, placements

    def _surroundings(
        self,
        figures: Sequence[Figure],
        placements: Sequence[Placement],
        views: Sequence[View],
        rng: np.random.Generator,
    ) -> list[tuple[Mesh, View]]:
        """A room and what the figures rest on, or nothing at all."""
        if not self.recipe.room_share or rng.random() >= self.recipe.room_share:
            return []
        clear_m = [max(CLEAR_M, figure.reach_m) for figure in figures] if self.recipe.support_share else None
        room = build_room([p.floor_place_m for p in placements], rng, clear_m)
        supports = [
            (f.support.facing(view.camera_m), view)
            for f, view in zip(figures, views, strict=True)
            if f.support is not None
        ]
        return [(room.facing(placements[0].camera_m), placements[0].world_view()), *supports]


def make_renderer(recipe: Recipe, cast: Cast, motions: Motions | None = None) -> Renderer:
    """What renders a recipe: single frames, or sequences. Raises ValueError for creatures, which have no motions."""
    if not recipe.sequence_frames:
        return FrameRenderer(recipe, cast)
    if not isinstance(cast, People):
        raise ValueError("the recipe asks for sequences (sequence_frames), and only people have motions; give another")
    return SequenceRenderer(recipe, cast, motions or Motions.embedded())


@dataclass(frozen=True, slots=True)
class _Job:
    """One recording to render."""

    path: Path
    first: int
    count: int
    scene: str | None  #: of a sequence


def generate(
    folder: str | Path,
    recipe: Recipe,
    cast: Cast,
    workers: int | None = None,
    on_frames: Callable[[int], None] = lambda count: None,
    motions: Motions | None = None,
) -> None:
    """Render a dataset into a folder; recordings that are already there are kept.

    Parameters
    ----------
    folder : made if needed
    recipe : Recipe
    cast : draws who is in the frames
    workers : processes; None = one a core
    on_frames : told how many more frames are on disk, for a progress bar
    motions : of sequences; None = those that come with the project

    Raises
    ------
    PosepipeError
        When the folder holds a dataset of another recipe or of other poses.
    ValueError
        For sequences of creatures.
    """
    folder = Path(folder)
    renderer = make_renderer(recipe, cast, motions)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    recipe_data = {**recipe.to_dict(), **renderer.describe()}
    _refuse_other_recipe(folder, recipe_data)
    done: dict[str, RecordingEntry] = {}
    jobs = []
    for job in _jobs(folder, renderer):
        entry = RecordingEntry.describe(job.path, job.scene) if job.path.exists() else None
        if entry is not None and entry.frames == job.count:
            done[entry.file] = entry
            on_frames(job.count)
        else:
            jobs.append(job)

    def record_progress() -> None:
        entries = [done[name] for name in sorted(done)]
        write_manifest(folder, cast.body, recipe_data, entries, source_revision=source_revision())

    record_progress()
    for entry in _render_all(jobs, renderer, workers or os.cpu_count() or 1, on_frames):
        done[entry.file] = entry
        record_progress()


def _jobs(folder: Path, renderer: Renderer) -> Iterator[_Job]:
    """Every recording of the dataset."""
    frames, each = renderer.recipe.frames, _recording_frames(renderer.recipe.sequence_frames)
    for number, first in enumerate(range(0, frames, each)):
        yield _Job(folder / recording_name(number), first, min(each, frames - first), renderer.scene(number))


def _recording_frames(sequence_frames: int) -> int:
    return sequence_frames or RECORDING_FRAMES


def _refuse_other_recipe(folder: Path, recipe_data: dict) -> None:
    """A folder grows only by the recipe that it was begun with; more frames of the same are welcome."""
    if not (folder / MANIFEST_NAME).exists():
        strangers = [path.name for path in folder.iterdir() if not path.name.startswith(("frames-", "."))]
        if strangers:
            raise PosepipeError(f"{folder} holds {strangers[0]}, which is no part of a dataset; give an empty folder")
        return
    begun_with = read_json_object(folder / MANIFEST_NAME).get("recipe")
    if not isinstance(begun_with, dict) or not isinstance(begun_with.get("frames"), int):
        raise FormatError(folder / MANIFEST_NAME, "names no recipe; give another folder")
    begun_with = {**Recipe().to_dict(), **begun_with}  # a field that joined later had its default
    begun_with, wanted = (json.loads(json.dumps(fields)) for fields in (begun_with, recipe_data))
    changed = [key for key in wanted | begun_with if key != "frames" and wanted.get(key) != begun_with.get(key)]
    if changed:
        raise PosepipeError(
            f"{folder} was begun with another recipe (differs in {', '.join(changed)}); give another folder"
        )
    if wanted["frames"] < begun_with["frames"]:
        raise PosepipeError(
            f"{folder} is a dataset of {begun_with['frames']} frames; give at least so many, or another folder"
        )
    if begun_with["frames"] % _recording_frames(wanted["sequence_frames"]) and begun_with["frames"] < wanted["frames"]:
        raise PosepipeError(f"{folder} ends on a short recording ({begun_with['frames']} frames); give another folder")


def _render_all(
    jobs: Sequence[_Job], renderer: Renderer, workers: int, on_frames: Callable[[int], None]
) -> Iterator[RecordingEntry]:
    """Render recordings in worker processes; yields each as it is finished."""
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            yield _render_recording(renderer, job, on_frames)
        return
    context = multiprocessing.get_context("spawn")  # a fork after Numba's threads have started would hang
    counter = context.Value("q", 0)
    pool = ProcessPoolExecutor(min(workers, len(jobs)), context, _start_worker, (renderer, counter))
    reported = 0
    try:
        with _interrupts_held():
            pending = {pool.submit(_work, job) for job in jobs}  # starts the workers
        while pending:
            finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            on_frames(counter.value - reported)
            reported = counter.value
            for future in finished:
                yield future.result()
    except BrokenProcessPool:
        raise PosepipeError("a worker was killed, perhaps for memory; give fewer --workers and go on") from None
    finally:
        pool.shutdown(cancel_futures=True)  # recordings that are under way are finished: they are kept


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until this is done, and not reach those processes, while they import, that are started here."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(slots=True)
class _Worker:
    """What a worker process keeps for all its recordings."""

    renderer: Renderer
    counter: Synchronized

    def count(self, frames: int) -> None:
        with self.counter.get_lock():
            self.counter.value += frames


_worker: _Worker | None = None  # set once in every worker process


def _start_worker(renderer: Renderer, counter: Synchronized) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threadpool_limits(1)  # the other cores have workers of their own
    numba.set_num_threads(1)
    _worker = _Worker(renderer, counter)


def _work(job: _Job) -> RecordingEntry:
    assert _worker is not None
    return _render_recording(_worker.renderer, job, _worker.count)


def _render_recording(renderer: Renderer, job: _Job, on_frames: Callable[[int], None]) -> RecordingEntry:
    sensor = renderer.recipe.sensor
    partial = job.path.with_name(job.path.name + ".partial")
    with RecordingWriter(partial, sensor.intrinsics, sensor.height, sensor.width, body=renderer.cast.body) as writer:
        for frame in renderer.frames(job.first, job.count):
            writer.write(frame)
            on_frames(1)
    with disk_errors(job.path):
        os.replace(partial, job.path)
    return RecordingEntry.describe(job.path, job.scene)
