"""Targets of the library that hold no depth: models, datasets, results, calibration, checkpoints, figures."""

from __future__ import annotations

import bz2
import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from posepipe.body_model.body_model import HUMAN_FILE, read_body_model
from posepipe.camera.camera_file import CameraFile, find_camera, write_camera_file
from posepipe.camera.extrinsics_file import read_extrinsics
from posepipe.datasets.dataset import Dataset, RecordingEntry, write_manifest
from posepipe.evaluation.people.people_frames import PeopleFrames
from posepipe.evaluation.suite.bar_chart import draw_suite
from posepipe.evaluation.suite.figure_names import BONE_ERRORS, REAL_FRAMES
from posepipe.evaluation.suite.sets import SETS, SuiteFigures
from posepipe.evaluation.suite.tables import suite_tables
from posepipe.facing.person_picture import CHANNELS, SIDE
from posepipe.io.npz import write_npz
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.interchange.pcl_tree_file import pcl_tree_files, read_pcl_forest
from posepipe.models.card import write_card
from posepipe.models.model_file import is_model_file
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.recording import RecordingWriter
from posepipe.results import FrameResult, Joint, Pose, Track
from posepipe.second_pass.relabelling import Relabelling
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.calibration import calibrated
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.segmentation.person_segmentation import SEGMENTS
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.views.view_choice import ViewChoice
from posepipe.segmentation.views.view_evidence import NAMES as VIEW_NAMES
from posepipe.sinks.files.json_lines import JsonLinesSink, ResultsHeader
from posepipe.sinks.files.results_reader import read_results
from posepipe.sinks.masks.mask_folder import NAMES, PEOPLE
from posepipe.thresholds import THRESHOLDS, ThresholdSettings, read_thresholds
from posepipe.viewer.playback.stored_results import body_with_joints, extrinsics_from_row, result_from_row
from tests.robustness.targets.described import describe
from tests.robustness.targets.target import Target
from tests.support import random_inputs
from tests.support.toy_person import INTRINSICS, SHAPE, TOY, toy_frame, toy_frames


@cache
def _small_model() -> PoseModel:
    rng = np.random.default_rng(1)
    trees = [random_inputs.tree(rng, 4, 6, TOY.n_classes) for _ in range(2)]
    forest = DepthForest(trees, [random_inputs.offset_pairs(rng, 6) for _ in trees], TOY)
    votes = [
        LeafVotes.from_dense(
            np.arange(tree.n_leaves, dtype=np.int32),
            rng.integers(-100, 100, (tree.n_leaves, len(TOY.joints), 2, 3)).astype(np.int8),
            rng.integers(0, 255, (tree.n_leaves, len(TOY.joints), 2)).astype(np.uint8),
        )
        for tree in trees
    ]
    plain = PoseModel.of(forest)
    joints = {name: {"ap": 0.5, "within_10cm": 0.9, "hidden_within_15cm": None} for name in TOY.joints}
    figures = {"toy": {"headline": {"visible joints within 10 cm": 0.9}, "joints": joints}}
    weights = rng.normal(0, 1, (len(TOY.parts) + len(TOY.joints), len(TOY.parts))).astype(np.float32)
    second = SecondPassParameters(Relabelling(weights, np.zeros(len(TOY.parts), np.float32)), plain.joint_parameters)
    model = PoseModel(forest, plain.joint_parameters, tuple(votes), second_pass=second)
    return model.with_metadata(name="small", figures=figures)


def _model(folder: Path) -> None:
    _find_people(_small_model())  # compiles the kernels for leaves that bytes do not hold exactly
    _small_model().save(folder / "small.npz")


def _use_model(folder: Path) -> None:
    """Find people by a model: what its loader accepts reaches the kernels."""
    is_model_file(folder / "small.npz")
    _find_people(PoseModel.load(folder / "small.npz"))
    describe(folder / "small.npz")


def _find_people(model: PoseModel) -> None:
    frame = toy_frame(1).depth
    pipeline = Pipeline.from_model(model, foreground="none")
    pipeline.rotated_views = None
    if model.person_classifier is not None:
        pipeline.person_filter = PersonFilter(classifier=model.person_classifier)
    if model.region_classifier is not None:
        regions = model.region_classifier
        calibrated(regions.trees.score(np.zeros(len(regions.trees.names), np.float32)), regions.calibration)
    if model.facing is not None:
        model.facing.predict(np.zeros((SIDE, SIDE, CHANNELS), np.float32))
    if model.view_choice is not None:
        model.view_choice.score(np.zeros(len(model.view_choice.trees.names), np.float32))
    if (segmentation := model.person_segmentation()) is not None:
        segmentation.segment(frame.depth_m, frame.intrinsics)
    pipeline.step(frame)


def _model_with_all_sections() -> PoseModel:
    """The small model, with segmentation, choice of views, facing network, and filters of candidates and of regions."""
    rng = np.random.default_rng(2)
    segmentation = DepthForest(
        [random_inputs.tree(rng, 4, 6, SEGMENTS.n_classes)], [random_inputs.offset_pairs(rng, 6)], SEGMENTS
    )
    bones = tuple(TOY.bones())
    lengths = BoneLengths(bones, np.full(len(bones), 0.5, np.float32))
    trees = BoostedTrees(
        PersonEvidence(TOY, lengths).names,
        number=np.array([0, 3, *[LEAF] * 3], np.int32),
        threshold=np.array([0.5, 1.5, 0, 0, 0], np.float32),
        child=np.array([1, 3, 0, 0, 0], np.int32),
        value=np.array([0, 0, -1, 0.5, 2], np.float32),
        roots=np.array([0, 1], np.int32),
    )
    classifier = PersonClassifier(TOY, lengths, trees, np.array([0.1, 1.2], np.float32))
    choice = ViewChoice(TOY, lengths, replace(trees, names=VIEW_NAMES))
    regions = RegionClassifier(TOY, lengths, trees, np.array([0.2, 0.9], np.float32))
    facing = random_inputs.facing_network(rng)
    filters = {"person_classifier": classifier, "region_classifier": regions}
    return replace(_small_model(), segmentation=segmentation, view_choice=choice, facing=facing, **filters)


def _sections(folder: Path) -> None:
    _model(folder)
    _model_with_all_sections().save(folder / "small.npz")


def _label_images(folder: Path) -> None:
    (folder / PEOPLE).mkdir()
    cv2.imwrite(str(folder / PEOPLE / "000000.png"), np.ones((4, 6), np.uint16))
    (folder / NAMES).write_text(json.dumps({part: code for code, part in enumerate(TOY.parts, start=1)}))


def _pcl_trees(folder: Path) -> None:
    rng = np.random.default_rng(3)
    for name, height in (("tree1.txt", 3), ("tree2.txt.bz2", 2)):
        nodes = rng.integers(-350, 351, (2**height - 1, 5)).tolist()
        labels = rng.integers(0, 25, (2**height, 1)).tolist()
        text = "\n".join([str(height), *(" ".join(map(str, row)) for row in nodes + labels), ""]).encode()
        (folder / name).write_bytes(bz2.compress(text) if name.endswith("bz2") else text)


def _card(folder: Path) -> None:
    _small_model().save(folder / "small.npz")
    write_card(folder / "small.npz")


def _durations(folder: Path) -> None:
    stages = {stage: {"frames": 5, "seconds": 2.5} for stage in ("segmentation", "person_filter")}
    model = _small_model().with_metadata(seconds=1.5, joint_seconds=300, resumed=True, training_frames=9, **stages)
    model.save(folder / "small.npz")


def _dataset(folder: Path) -> None:
    path = folder / "frames-00000.mcap"
    with RecordingWriter(path, INTRINSICS, *SHAPE, body=TOY, metadata={"seed": "1"}) as writer:
        for frame in toy_frames(2):
            writer.write(frame)
    write_manifest(folder, TOY, {"frames": 2, "seed": 1}, [RecordingEntry.describe(path, "walking")])


def _read_dataset(folder: Path) -> None:
    with Dataset.open(folder) as dataset:
        for _ in dataset:
            pass
        str((dataset.content, dataset.sequences, dataset.timestamps_s))
    describe(folder)


def _results(folder: Path) -> None:
    with JsonLinesSink(folder / "r.jsonl", ResultsHeader(TOY.joints, "walk.mcap", "person")) as sink:
        for frame in toy_frames(3):
            joints = {name: Joint(name, (0.1, -0.2, 2.0), 0.9) for name in TOY.joints}
            empty = np.zeros(SHAPE, np.uint8)
            sink.write(FrameResult(frame.depth, empty > 0, empty, (), (Track(1, Pose.of(joints)),)))


def _read_results(folder: Path) -> None:
    path = folder / "r.jsonl"
    results = read_results(path)
    body_with_joints(results.header.joints)
    for row in results.frames:
        result_from_row(row)
        extrinsics_from_row(row)
    describe(path)


def _camera(folder: Path) -> None:
    write_camera_file(folder / "camera.json", CameraFile(SHAPE[1], SHAPE[0], INTRINSICS, 0.001, 30.0))


def _extrinsics(folder: Path) -> None:
    matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.5], [0.0, 0.0, 0.0, 1.0]]
    (folder / "extrinsics.json").write_text(json.dumps({"T_world_camera": matrix}))


def _checkpoint(folder: Path) -> None:
    Checkpoints(folder, {"levels": 3}, "data", resume=False)
    levels = {name: np.arange(3, dtype=np.float32) for name in ("threshold", "leaf_statistics")}
    levels |= {name: np.arange(3, dtype=np.int32) for name in ("feature", "first_child", "n_children", "features")}
    levels |= {f"{name}_sizes": np.array([1, 2]) for name in list(levels)}
    order = np.arange(5)
    write_npz(folder / "tree-0.npz", {"order": order, "starts": order[:2], "ends": order[:2], **levels})


class _Drawn(dict):
    """Figures that are made up when they are first asked for."""

    def __missing__(self, name: str) -> float:
        self[name] = 0.5
        return self[name]


def _figures(folder: Path) -> None:
    by = {"0-30 deg": 0.5, "30-60 deg": None}
    scores = {"headline": _Drawn(), "within_10cm_by_yaw": by, "within_10cm_by_distance": {"1-2 m": 0.5}}
    frames = dict.fromkeys(("model", "oracle labels", "shuffled labels"), scores)
    trackers = {name: {"all": _Drawn()} for name in ("tracker", "tracker, smoothed", "nearest pose")}
    tracks = dict.fromkeys(("all", "frame step 3", "gap 0.5 s", "gap 0.9 s"), trackers)
    sets = {
        each.name: {"frames": 9, "content": "c", "models": {"m": tracks if each.tracks else frames}} for each in SETS
    }
    real = dict.fromkeys(("as found", "offsets removed", "offsets removed, all joints"), _Drawn())
    real |= {BONE_ERRORS: {"reference": 0.03, "as found": 0.02}}
    sets[REAL_FRAMES] = {"frames": 9, "content": "c", "subjects": 2, "models": {"m": real}}
    figures = SuiteFigures(sets, {"m": "sha"})
    str((suite_tables(figures, "m"), draw_suite(figures, "m")))
    figures.write(folder / "figures.json")


def _read_figures(folder: Path) -> None:
    figures = SuiteFigures.read(folder / "figures.json")
    figures.has("rooms", "c", "m", "sha")
    figures.with_scores("rooms", {"content": "c"}, "m", "other", {})
    str((suite_tables(figures, "m"), draw_suite(figures, "m")))


def _thresholds(folder: Path) -> None:
    settings = ThresholdSettings({each: each.min for each in THRESHOLDS}, max_people=2, smooth=True)
    (folder / "thresholds.toml").write_text(settings.to_toml(), encoding="utf-8")


def _person_labels(folder: Path) -> None:
    person = {"box": [4, 5, 20, 60], "torso": [12, 30], "state": "sit", "visible": "upper", "ignore": False}
    rows = [{"pack": "office", "index": k, "people": [person] * k, "place": "hall"} for k in range(3)]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    depth_mm = np.full((3, 64, 48), 2000, np.uint16)
    np.savez(folder / "office.npz", depth_mm=depth_mm, K=np.array([60.0, 60.0, 23.5, 31.5]), index=np.arange(3))


def _read_labelled_people(folder: Path) -> None:
    list(PeopleFrames.labelled([folder / "office.npz"], folder / "labels.jsonl").single_frames())


FILE_TARGETS = (
    Target("model", _model, _use_model, ("posepipe.models.model_file", "posepipe.models.header")),
    Target(
        "body-model",
        lambda f: shutil.copy(HUMAN_FILE, f / "human.npz"),
        lambda f: read_body_model(f / "human.npz"),
        ("posepipe.body_model.body_model",),
    ),
    Target(
        "pcl-trees",
        _pcl_trees,
        lambda f: read_pcl_forest([f / "tree1.txt", f / "tree2.txt.bz2"]) and pcl_tree_files(f),
        ("posepipe.learn.interchange.pcl_tree_file",),
    ),
    Target("model-sections", _sections, _use_model, ()),
    Target("model-card", _card, lambda f: write_card(f / "small.npz"), ("posepipe.models.card",)),
    Target("model-durations", _durations, lambda f: write_card(f / "small.npz"), ("posepipe.models.durations",)),
    Target(
        "dataset",
        _dataset,
        _read_dataset,
        ("posepipe.datasets.dataset", "posepipe.sources.formats.dataset_folder", "posepipe.recording.reader"),
    ),
    Target("results", _results, _read_results, ("posepipe.sinks.files.results_reader", "apps.view")),
    Target("camera-file", _camera, lambda f: find_camera(f / "camera.json"), ("posepipe.camera.camera_file",)),
    Target(
        "extrinsics",
        _extrinsics,
        lambda f: read_extrinsics(f / "extrinsics.json"),
        ("posepipe.camera.extrinsics_file",),
    ),
    Target(
        "checkpoint",
        _checkpoint,
        lambda f: Checkpoints(f, {"levels": 3}, "data", resume=True).load(0),
        ("posepipe.learn.depth.checkpoints",),
    ),
    Target("thresholds", _thresholds, lambda f: read_thresholds(f / "thresholds.toml"), ("posepipe.thresholds",)),
    Target(
        "person-labels",
        _person_labels,
        _read_labelled_people,
        ("posepipe.evaluation.people.person_labels", "posepipe.evaluation.people.people_frames"),
    ),
    Target("label-images", _label_images, describe, ("apps.info",)),
    Target("suite-figures", _figures, _read_figures, ("posepipe.evaluation.suite.sets",)),
)
