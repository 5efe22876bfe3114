"""The training-data flow on one page: pose -> body -> clothes -> camera -> render -> noise -> labelled frame.

A frame depends on (recipe, index) alone. A dataset is written in recordings of RECORDING_FRAMES
frames each, every one complete or absent, so that any number of workers makes the same bytes and a
killed run goes on where it stopped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from posepipe.body import HUMAN
from posepipe.dataset import MANIFEST_NAME, RecordingEntry, recording_name, write_manifest
from posepipe.disk import disk_errors, read_json_object
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import RecordingWriter
from posepipe.revision import source_revision
from synth.body_asset import load_body_asset
from synth.body_mesh import RestBody, paint_parts, rest_body, sample_shape
from synth.clips import PoseBank
from synth.clothing import dress, garment_weights, sample_outfit, vertex_normals
from synth.label_spread import spread_labels
from synth.pose_drawing import draw_pose
from synth.rasterizer import paint, render_depth
from synth.recipe import Recipe
from synth.scenes import View, draw_view
from synth.sensors import SensorPreset, add_sensor_noise
from synth.skinning import PosedBody, pose_body
from synth.visibility import visible_joints

RECORDING_FRAMES = 250
MAX_VIEWS = 200
FPS = 30
MIN_PERSON_PIXELS = 200
"""A view that shows less of the person is drawn again: nothing is to be learned from it."""


class Stage:
    """One sensor, and everything about the body that does not change from frame to frame."""

    def __init__(self, sensor: SensorPreset, noise: bool = True) -> None:
        self.sensor = sensor
        self.asset = load_body_asset()
        self._noise = noise
        self._labels = paint_parts(self.asset)
        self._garments = garment_weights(self.asset)

    def dressed_body(self, rng: np.random.Generator, clothes: bool) -> RestBody:
        """Draw somebody, in clothes or without, in the rest pose."""
        rest = rest_body(self.asset, sample_shape(self.asset, rng))
        if not clothes:
            return rest
        normals = vertex_normals(rest.vertices_m, self.asset.triangles)
        return replace(rest, vertices_m=dress(rest.vertices_m, normals, self._garments, sample_outfit(rng), rng))

    def posed(self, rest: RestBody, rotations: np.ndarray) -> PosedBody:
        """Move a body into a pose."""
        return pose_body(self.asset, rest, rotations)

    def shot(self, posed: PosedBody, view: View, index: int, rng: np.random.Generator) -> LabelledFrame:
        """What the sensor makes of one cut-out person in one view, labelled."""
        sensor = self.sensor
        clean_m, triangles = render_depth(
            view.camera_points(posed.vertices_m), self.asset.triangles, sensor.intrinsics, sensor.height, sensor.width
        )
        parts = paint(triangles, self._labels)
        depth_m = add_sensor_noise(clean_m, sensor, rng) if self._noise else clean_m
        depth_m = np.round(depth_m, 3)  # what the recording keeps: whole millimetres
        spread_labels(parts, depth_m)
        depth_m[parts == 0] = 0
        joints = view.camera_points(posed.joints_m)
        visible = visible_joints(depth_m, parts, joints, sensor.intrinsics, HUMAN)
        return LabelledFrame(
            depth=DepthFrame(depth_m, sensor.intrinsics, index / FPS, index),
            parts=parts,
            people=(parts > 0).astype(np.uint8),
            joints_m=joints[None],
            visible=visible[None],
        )


class PersonRenderer:
    """Renders the frames of one recipe, any frame at any time."""

    def __init__(self, recipe: Recipe, bank: PoseBank) -> None:
        self.recipe = recipe
        self.stage = Stage(recipe.sensor, recipe.noise)
        split = bank if recipe.poses == "all" else bank.split(recipe.poses)
        self._poses = split.select(recipe.only_clips, recipe.leave_out_clips)
        if len(self._poses.rotations) == 0:
            raise PosepipeError(f"the recipe leaves no {recipe.poses} clips of {', '.join(np.unique(bank.clips))}")

    def render(self, index: int) -> LabelledFrame:
        """Render frame ``index``: one cut-out person, labelled."""
        rng = np.random.default_rng([self.recipe.seed, index])
        stage, sensor = self.stage, self.stage.sensor
        rest = stage.dressed_body(rng, self.recipe.clothes)
        posed = stage.posed(rest, draw_pose(self._poses, self.recipe, stage.asset, rest, rng))
        pelvis, floor = posed.joints_m[HUMAN.joint_index("pelvis")], float(posed.vertices_m[:, 1].min())
        for _ in range(MAX_VIEWS):
            view = draw_view(self.recipe, pelvis, floor, sensor.intrinsics, sensor.width, rng)
            frame = stage.shot(posed, view, index, rng)
            if np.count_nonzero(frame.parts) >= MIN_PERSON_PIXELS:
                return frame
        raise PosepipeError(
            f"recipe: of {MAX_VIEWS} views none showed the person; distance_m, camera_height_m, aim_height_m,"
            " pitch_deg or aside lie out of sight"
        )


@dataclass(frozen=True, slots=True)
class _Job:
    """One recording to render."""

    path: Path
    first: int
    count: int


def generate(
    folder: str | Path,
    recipe: Recipe,
    bank: PoseBank,
    workers: int | None = None,
    on_frames: Callable[[int], None] = lambda count: None,
) -> None:
    """Render a dataset into a folder; recordings that are already there are kept.

    Parameters
    ----------
    folder : made if needed
    recipe : Recipe
    bank : PoseBank, from which the recipe's poses are drawn
    workers : processes; None = one a core
    on_frames : told how many more frames are on disk, for a progress bar

    Raises
    ------
    PosepipeError
        When the folder holds a dataset of another recipe or of other poses.
    """
    folder = Path(folder)
    PersonRenderer(recipe, bank)  # a wrong sensor or an empty choice of clips is refused before anything is written
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    made_from = {**recipe.to_dict(), "pose_bank": bank.digest()}
    _refuse_other_recipe(folder, made_from)
    done: dict[str, RecordingEntry] = {}
    jobs = []
    for number, first in enumerate(range(0, recipe.frames, RECORDING_FRAMES)):
        job = _Job(folder / recording_name(number), first, min(RECORDING_FRAMES, recipe.frames - first))
        entry = RecordingEntry.describe(job.path) if job.path.exists() else None
        if entry is not None and entry.frames == job.count:
            done[entry.file] = entry
            on_frames(job.count)
        else:
            jobs.append(job)

    def record_progress() -> None:
        entries = [done[name] for name in sorted(done)]
        write_manifest(folder, HUMAN, made_from, entries, source_revision=source_revision())

    record_progress()
    for entry in _render_all(jobs, recipe, bank, workers or os.cpu_count() or 1, on_frames):
        done[entry.file] = entry
        record_progress()


def _refuse_other_recipe(folder: Path, made_from: dict) -> None:
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
    begun_with, wanted = (json.loads(json.dumps(fields)) for fields in (begun_with, made_from))
    changed = [key for key in wanted | begun_with if key != "frames" and wanted.get(key) != begun_with.get(key)]
    if changed:
        raise PosepipeError(
            f"{folder} was begun with another recipe (differs in {', '.join(changed)}); give another folder"
        )
    if wanted["frames"] < begun_with["frames"]:
        raise PosepipeError(
            f"{folder} is a dataset of {begun_with['frames']} frames; give at least so many, or another folder"
        )
    if begun_with["frames"] % RECORDING_FRAMES and begun_with["frames"] < wanted["frames"]:
        raise PosepipeError(f"{folder} ends on a short recording ({begun_with['frames']} frames); give another folder")


def _render_all(
    jobs: Sequence[_Job], recipe: Recipe, bank: PoseBank, workers: int, on_frames: Callable[[int], None]
) -> Iterator[RecordingEntry]:
    """Render recordings in worker processes; yields each as it is finished."""
    if workers == 1 or len(jobs) <= 1:
        renderer = PersonRenderer(recipe, bank) if jobs else None
        for job in jobs:
            assert renderer is not None
            yield _render_recording(renderer, job, on_frames)
        return
    context = multiprocessing.get_context("spawn")  # a fork after Numba's threads have started would hang
    counter = context.Value("q", 0)
    pool = ProcessPoolExecutor(min(workers, len(jobs)), context, _start_worker, (recipe, bank, counter))
    reported = 0
    try:
        pending = {pool.submit(_work, job) for job in jobs}
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


@dataclass(slots=True)
class _Worker:
    """What a worker process keeps for all its recordings."""

    renderer: PersonRenderer
    counter: Synchronized

    def count(self, frames: int) -> None:
        with self.counter.get_lock():
            self.counter.value += frames


_worker: _Worker | None = None  # set once in every worker process


def _start_worker(recipe: Recipe, bank: PoseBank, counter: Synchronized) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threadpool_limits(1)  # the other cores have workers of their own
    numba.set_num_threads(1)
    _worker = _Worker(PersonRenderer(recipe, bank), counter)


def _work(job: _Job) -> RecordingEntry:
    assert _worker is not None
    return _render_recording(_worker.renderer, job, _worker.count)


def _render_recording(renderer: PersonRenderer, job: _Job, on_frames: Callable[[int], None]) -> RecordingEntry:
    sensor = renderer.stage.sensor
    partial = job.path.with_name(job.path.name + ".partial")
    with RecordingWriter(partial, sensor.intrinsics, sensor.height, sensor.width, body=HUMAN) as writer:
        for index in range(job.first, job.first + job.count):
            writer.write(renderer.render(index))
            on_frames(1)
    with disk_errors(job.path):
        os.replace(partial, job.path)
    return RecordingEntry.describe(job.path)
