"""Write a dataset: recordings rendered by a pool of workers, resumed where an earlier run stopped, and a manifest.

A dataset is written in recordings of RECORDING_FRAMES frames, or of one sequence. Each recording is complete or absent.
Any number of workers therefore writes the same bytes, and an interrupted run can be resumed: a recording that was being
rendered is dropped and rendered again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from threadpoolctl import threadpool_limits

from posepipe.camera import Extrinsics
from posepipe.datasets.dataset import MANIFEST_NAME, RecordingEntry, recording_name, write_manifest
from posepipe.errors import FormatError, PosepipeError, counted
from posepipe.io.files import disk_errors, locked_folder, read_json_object
from posepipe.models.provenance import source_revision
from posepipe.processes.worker_pool import WorkerDiedError, WorkerPool
from posepipe.recording import RecordingWriter
from synth.recipe import Recipe, flat_fields
from synth.renderer import Renderer

if TYPE_CHECKING:
    from posepipe.cluster.cluster import Cluster

RECORDING_FRAMES = 250


@dataclass(frozen=True, slots=True)
class _Job:
    """One recording to render."""

    path: Path
    first: int
    count: int
    scenario: str | None  #: of a sequence
    extrinsics: Extrinsics | None = None  #: of a recipe with several cameras


def write_dataset(
    folder: str | Path,
    renderer: Renderer,
    workers: int | None = None,
    on_frames: Callable[[int], None] = lambda count: None,
    cluster: Cluster | None = None,
) -> None:
    """Render a dataset into a folder; recordings that are already there are kept.

    A dataset grows when its recipe asks for more frames. Its last recording is rendered anew where it was a short one.

    Parameters
    ----------
    folder : path
        Made if needed.
    renderer : Renderer
        Renders the recipe; see `synth.renderer.make_renderer`.
    workers : int, optional
        Processes; None = one a core.
    on_frames : callable
        Called with the number of frames that were written since the last call.
    cluster : Cluster, optional
        Renders instead of processes of this machine; its workers write to the same folder.

    Raises
    ------
    PosepipeError
        When the folder holds a dataset of another recipe, of other poses or of more frames, or another program is
        writing it.
    """
    folder = Path(folder)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked_folder(folder):  # whoever ends removes what was begun, which must be theirs
        _write(folder, renderer, workers or os.cpu_count() or 1, on_frames, cluster)


def _write(
    folder: Path, renderer: Renderer, workers: int, on_frames: Callable[[int], None], cluster: Cluster | None
) -> None:
    """Write the recordings that a folder lacks, and its manifest."""
    recipe_data = {**renderer.recipe.to_dict(), **renderer.describe()}
    _refuse_other_recipe(folder, recipe_data)
    done: dict[str, RecordingEntry] = {}
    jobs = []
    for job in _jobs(folder, renderer):
        entry = _finished(job)
        if entry is not None and entry.frames == job.count:
            done[entry.file] = entry
            on_frames(job.count)
        else:
            jobs.append(job)

    def record_progress() -> None:
        entries = [done[name] for name in sorted(done)]
        write_manifest(folder, renderer.subjects.body, recipe_data, entries, source_revision=source_revision())

    record_progress()
    try:
        if cluster is not None:
            jobs = [replace(job, path=job.path.absolute()) for job in jobs]
            entries = cluster.run(_RecordingWork(renderer), jobs, on_frames)
        else:
            entries = _render_all(jobs, renderer, workers, on_frames)
        for entry in entries:
            done[entry.file] = entry
            record_progress()
    finally:
        for begun in folder.glob("frames-*.partial"):  # by a worker that was stopped
            begun.unlink(missing_ok=True)
        if not done:  # a recipe that failed at once keeps no other from the folder
            (folder / MANIFEST_NAME).unlink(missing_ok=True)


def _finished(job: _Job) -> RecordingEntry | None:
    """Entry of a recording that is there; None where it is not, or a power failure left nothing that can be read."""
    try:
        return RecordingEntry.describe(job.path, job.scenario, job.extrinsics) if job.path.exists() else None
    except FormatError:
        return None


def _jobs(folder: Path, renderer: Renderer) -> Iterator[_Job]:
    """Every recording of the dataset."""
    frames, each = renderer.recipe.frames, renderer.recipe.sequence_frames or RECORDING_FRAMES
    for number, first in enumerate(range(0, frames, each)):
        shows = renderer.scenario(number), renderer.extrinsics(number)
        yield _Job(folder / recording_name(number), first, min(each, frames - first), *shows)


def _refuse_other_recipe(folder: Path, recipe_data: dict[str, Any]) -> None:
    """Raise PosepipeError unless a folder is empty, or holds a dataset of the same recipe with at most as many frames.

    Recipes are compared field by field, whatever version wrote the manifest. A field that it lacks has its default.
    """
    if not (folder / MANIFEST_NAME).exists():
        ours = ("frames-", MANIFEST_NAME, ".")  # a killed writer leaves parts of recordings and of the manifest
        strangers = [path.name for path in folder.iterdir() if not path.name.startswith(ours)]
        if strangers:
            raise PosepipeError(f"{folder} holds {strangers[0]}, which is no part of a dataset; give an empty folder")
        return
    begun_with = _recorded_recipe(folder / MANIFEST_NAME)
    wanted = _comparable(recipe_data)
    changed = [key for key in wanted | begun_with if key != "frames" and wanted.get(key) != begun_with.get(key)]
    if changed:
        raise PosepipeError(
            f"{folder} was begun with another recipe (differs in {', '.join(changed)}); give another folder"
        )
    if wanted["frames"] < begun_with["frames"]:
        has = counted(begun_with["frames"], "frame")
        raise PosepipeError(f"{folder} is a dataset of {has}; give at least so many, or another folder")


def _recorded_recipe(path: Path) -> dict[str, Any]:
    """The recipe of a manifest, in the form that `_comparable` gives."""
    recorded = read_json_object(path).get("recipe")
    if not isinstance(recorded, dict) or not isinstance(recorded.get("frames"), int):
        raise FormatError(path, "names no recipe; give another folder")
    try:
        return _comparable(recorded)
    except ValueError as error:
        raise FormatError(path, f"{error}; give another folder") from None


def _comparable(recipe_data: dict[str, Any]) -> dict[str, Any]:
    """All fields of a recipe in one table, as JSON keeps them."""
    return json.loads(json.dumps({**flat_fields(Recipe().to_dict()), **flat_fields(recipe_data)}))


def _render_all(
    jobs: Sequence[_Job], renderer: Renderer, workers: int, on_frames: Callable[[int], None]
) -> Iterator[RecordingEntry]:
    """Render recordings in worker processes; yields each as it is finished."""
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            yield _render_recording(renderer, job, on_frames)
        return
    try:
        with WorkerPool(_RecordingWork(renderer), min(workers, len(jobs))) as pool:
            yield from pool.run(jobs, on_frames)
    except WorkerDiedError:
        raise PosepipeError("a worker was killed, perhaps for memory; give fewer --workers and resume") from None


@dataclass(frozen=True, slots=True)
class _RecordingWork:
    """What a worker process does: render recordings in one thread; the other cores have workers of their own."""

    renderer: Renderer

    def __call__(self, job: _Job, on_frames: Callable[[int], None]) -> RecordingEntry:
        numba.set_num_threads(1)
        with threadpool_limits(1):
            return _render_recording(self.renderer, job, on_frames)


def _render_recording(renderer: Renderer, job: _Job, on_frames: Callable[[int], None]) -> RecordingEntry:
    sensor = renderer.recipe.sensor
    partial = job.path.with_name(job.path.name + ".partial")
    with RecordingWriter(
        partial, sensor.intrinsics, sensor.height, sensor.width, body=renderer.subjects.body
    ) as writer:
        for frame in renderer.frames(job.first, job.count):
            writer.write(frame)
            on_frames(1)
    with disk_errors(job.path):
        os.replace(partial, job.path)
    return RecordingEntry.describe(job.path, job.scenario, job.extrinsics)
