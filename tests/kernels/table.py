"""Every fast piece of numerical code beside its naive twin, with seeded inputs: tests and benchmarks walk this table.

``make_inputs`` returns one namespace with all that either side asks for, so that what is prepared
once in use (a packed forest, a bordered image) is no part of the time a benchmark measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics, Plane
from posepipe.evaluation.pose_metrics import average_precision
from posepipe.joints.calibration import (
    FULL_OVERRIDE_MARGIN,
    MAX_DISAGREEMENT_M,
    calibrate,
    confidence_of_mass,
    fuse,
    fusion_terms,
    share_within,
)
from posepipe.joints.conditional_gaussian import NUGGET, condition, leave_one_out
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.mean_shift import MAX_MODES, find_modes
from posepipe.joints.mlp import mlp_forward
from posepipe.joints.offset_votes import LeafVotes, cast_votes, find_vote_modes, pack_votes
from posepipe.joints.pose_prior import TRANSLATION_VARIANCE_M2, choose_proposals, expect_landmarks, infer_joints
from posepipe.joints.push_back import push_back
from posepipe.joints.refinement_features import decode_output, encode_features
from posepipe.joints.weighted_points import weigh_points
from posepipe.learn.depth.classify import classify, find_leaves, mean_posterior, pack_forest
from posepipe.learn.depth.depth_features import bordered_depth, depth_differences
from posepipe.learn.depth.histogram import best_splits
from posepipe.learn.depth.leaf_votes import STARTS, VoteRules, fit_votes
from posepipe.learn.depth.responses import DepthResponses, OffsetRange
from posepipe.learn.impurity import CRITERIA, NO_COSTS, entropy, information_gain
from posepipe.learn.tables.splitting.column_scan import EACH, EQUALS, NUMERIC, scan_columns
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.parts import PartProbabilities
from posepipe.recording.codecs.rvl import decode_rvl
from posepipe.segmentation.connected_components import find_components, find_contacts, keep_large, measure_components
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.plane_detection import before_planes, find_planes, surface_cells
from posepipe.tracking.association import align_pose, growth, measure_bones
from tests.reference.evaluation import pose_metrics as naive_metrics
from tests.reference.joints import calibration as naive_certainty
from tests.reference.joints import conditional_gaussian as naive_conditional_gaussian
from tests.reference.joints import mean_shift as naive_mean_shift
from tests.reference.joints import mlp as naive_perceptron
from tests.reference.joints import offset_votes as naive_votes
from tests.reference.joints import pose_prior as naive_assembly
from tests.reference.joints import push_back as naive_push_back
from tests.reference.joints import refinement_features as naive_refinement_numbers
from tests.reference.joints import weighted_points as naive_density
from tests.reference.learn import classify as naive_classify
from tests.reference.learn import depth_features as naive_depth_features
from tests.reference.learn import histogram as naive_histogram
from tests.reference.learn import impurity as naive_impurity
from tests.reference.learn import leaf_votes as naive_leaf_votes
from tests.reference.learn import responses as naive_responses
from tests.reference.recording import rvl as naive_rvl
from tests.reference.segmentation import connected_components as naive_pieces
from tests.reference.segmentation import label_map as naive_label_images
from tests.reference.segmentation import pixel_grid as naive_pixel_grid
from tests.reference.segmentation import plane_detection as naive_planes
from tests.reference.tables import column_scan as naive_column_scan
from tests.reference.tables import descent as naive_descent
from tests.reference.tracking import association as naive_pose_pairing
from tests.support import random_inputs, rooms, ros_writers


@dataclass(frozen=True)
class Kernel:
    """A fast function, the slow one that says what it must return, and how near they must come."""

    name: str
    fast: Callable[[Any], Any]  #: namespace of inputs -> array, number, or tuple of them
    naive: Callable[[Any], Any]
    make_inputs: Callable[[np.random.Generator, int], Any]  #: (rng, size) -> namespace; size as in use: rows of output
    size: int  #: at which the naive twin takes a fraction of a second
    tolerance: float | tuple[float, ...] = 0.0  #: largest absolute difference, one for each output or for all
    may_differ: float = 0.0  #: share of the rows of output that may differ by more
    reason: str = "exact"  #: why not exact


def _bordered_depth(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    return SimpleNamespace(depth_m=depth_m, mask=mask)


def _rvl_stream(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    grey = np.rint(depth_m * mask * 1000).astype(np.uint16)
    return SimpleNamespace(stream=ros_writers.rvl(grey)[8:], shape=grey.shape)


def _mlp_forward(rng, size):
    sizes = (60, 32, 16, size)  # one person: rows of output are units
    return SimpleNamespace(
        inputs=rng.normal(0, 1, (1, sizes[0])).astype(np.float32),
        weights=[rng.normal(0, 0.2, shape).astype(np.float32) for shape in pairwise(sizes)],
        biases=[rng.normal(0, 0.1, n).astype(np.float32) for n in sizes[1:]],
    )


def _pieces(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    mask &= depth_m > 0
    camera = Intrinsics(140.0, 150.0, 79.5, 59.5)
    components, count = find_components(depth_m, mask)
    plane = Plane((0.0, -0.8, -0.6), 1.9)
    return SimpleNamespace(
        depth_m=depth_m,
        mask=mask,
        components=components,
        count=count,
        intrinsics=camera,
        camera=(camera.fx, camera.fy, camera.cx, camera.cy),
        planes=(plane, Plane((0.6, 0.0, -0.8), 2.5)),
    )


def _room(rng, size):
    camera = rooms.CAMERA.scaled(size / rooms.SHAPE[0])
    depth_m = rooms.with_box(rooms.empty_room(15), (0.2, 0.1, 2.5), (0.5, 1.2))
    depth_m += (0.0016 * depth_m**2 * rng.normal(size=depth_m.shape)).astype(np.float32)
    step = rooms.SHAPE[0] // size
    return SimpleNamespace(
        depth_m=np.ascontiguousarray(depth_m[::step, ::step]),
        intrinsics=camera,
        camera=(camera.fx, camera.fy, camera.cx, camera.cy),
    )


def _depth_differences(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, 120, 160)
    return SimpleNamespace(
        depth_m=depth_m,
        mask=mask,
        pixels=random_inputs.readable_pixels(rng, depth_m, mask, size),
        offsets=random_inputs.offset_pairs(rng, 20),
        intrinsics=Intrinsics(140.0, 150.0, 79.5, 59.5),
    )


def _classify(rng, size):
    inputs = _depth_differences(rng, size)
    inputs.image = bordered_depth(inputs.depth_m, inputs.mask)
    inputs.trees = [random_inputs.tree(rng, 8, 20, 5) for _ in range(3)]
    inputs.tables = [random_inputs.offset_pairs(rng, 20) for _ in range(3)]
    inputs.mirrored_classes = np.array([0, 2, 1, 4, 3])
    inputs.packed = pack_forest(inputs.trees, inputs.tables, inputs.mirrored_classes)
    mirrored = [
        naive_classify.mirrored(*walk, inputs.mirrored_classes)
        for walk in zip(inputs.trees, inputs.tables, strict=True)
    ]
    inputs.walks = [*zip(inputs.trees, inputs.tables, strict=True), *mirrored]
    return inputs


def _leaves_of_pixels(rng, size):
    inputs = _classify(rng, size)
    inputs.leaves = np.stack([rng.integers(t.n_leaves, size=size) for t, _ in inputs.walks], 1).astype(np.int32)
    return inputs


def _best_splits(rng, size):
    """Nodes of 1 to 400 samples, one of them pure, one constant in every feature."""
    ends = np.unique(np.concatenate([[1, 3, 40, 80, size], rng.integers(80, size, size // 200)]))
    starts = np.concatenate([[0], ends]).astype(np.int64)
    labels = rng.integers(6, size=size).astype(np.uint8)
    bins = np.clip(rng.normal(8 + labels[:, None], 4, (size, 19)), 0, 15).astype(np.uint8)
    labels[3:40] = 7
    bins[40:80] = 5
    return SimpleNamespace(bins=bins, labels=labels, starts=starts, n_bins=16)


def _told(splits):
    """Splits without the feature and bin of nodes that no split parts, of which nothing is said."""
    gain, feature, threshold_bin = splits
    parted = gain > -np.inf
    return gain, np.where(parted, feature, -1), np.where(parted, threshold_bin, -1)


def _counts(rng, size):
    children = rng.integers(0, 50, (size, 3, 6))
    children[0] = 0
    children[1, 1:] = 0
    return SimpleNamespace(parent=children.sum(1), children=children)


def _responses(rng, size):
    samples = random_inputs.pixel_samples(rng, 6, max(50, size // 2))
    offset_range = OffsetRange()
    chosen = rng.integers(len(samples.label), size=size).astype(np.int32)
    return SimpleNamespace(
        samples=samples,
        responses=DepthResponses(samples, offset_range),
        thresholds_mm=offset_range.thresholds_mm(),
        chosen=chosen,
        offsets=random_inputs.offset_pairs(rng, 20),
        own_offsets=random_inputs.offset_pairs(rng, size),
        threshold_bins=rng.integers(offset_range.n_thresholds, size=size).astype(np.int32),
    )


def _fill_bins(inputs):
    out = np.empty((len(inputs.chosen), len(inputs.offsets)), np.uint8)
    inputs.responses.fill_bins(inputs.chosen, inputs.offsets, out)
    return out


def _weigh_points(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, 120, 160)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, size)
    values = rng.dirichlet(np.ones(6), size).astype(np.float32)
    return SimpleNamespace(
        depth_m=depth_m,
        intrinsics=Intrinsics(140.0, 150.0, 79.5, 59.5),
        parts=PartProbabilities(pixels, values, stride=(2, 3)),
        landmark_classes=np.array([[0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]], bool),
    )


def _drawn_labels(rng, size):
    stride = (3, 2)
    mask = rng.random((91, 101)) < 0.6  # cells at the end are cut
    pixels = pixels_of(mask, stride)
    pixels = pixels[np.sort(rng.permutation(len(pixels))[:size])]
    values = rng.dirichlet(np.full(5, 0.3), len(pixels)).astype(np.float32)
    values[::7, 1:] = 0  # nobody's
    values[3::11] = values[3::11][:, [0, 2, 2, 3, 4]]  # two parts are as likely
    return SimpleNamespace(parts=PartProbabilities(pixels, values, stride), mask=mask)


def _weighed(inputs):
    density = weigh_points(inputs.depth_m, inputs.intrinsics, inputs.parts, inputs.landmark_classes)
    return density.points_m, density.weights


def _find_modes(rng, size):
    """Three blobs a landmark, far apart and narrower than the kernel, of clearly different mass."""
    points, owner, mass = [], [], []
    for landmark in range(3):
        centres = np.array([[0, 0, 2], [0.9, 0, 2.2], [0, -0.9, 2.4]]) + rng.uniform(-0.1, 0.1, (3, 3))
        for centre, heavy in zip(centres, (1.0, 0.7, 0.4), strict=True):
            points.append(random_inputs.blobs(rng, centre[None], size // 9, 0.02))
            owner += [landmark] * (size // 9)
            mass += [heavy] * (size // 9)
    order = rng.permutation(len(owner))
    points, owner, mass = np.concatenate(points)[order], np.array(owner)[order], np.array(mass)[order]
    probabilities = np.full((len(points), 3), 0.05, np.float32)
    probabilities[np.arange(len(points)), owner] = mass
    return SimpleNamespace(
        points_m=points,
        probabilities=probabilities,
        area_m2=rng.uniform(2e-5, 4e-5, len(points)).astype(np.float32),
        bandwidth_m=np.array([0.05, 0.065, 0.09], np.float32),
        min_probability=np.full(3, 0.1, np.float32),
    )


def _training_pixels(rng, size):
    """Pixels of a tree's leaves, one a person; each leaf sees a joint at one place or another, some joints unknown."""
    tree = random_inputs.tree(rng, 5, 3, 2)
    leaves = rng.integers(tree.n_leaves, size=size).astype(np.int32)
    places = rng.uniform(-0.3, 0.3, (tree.n_leaves, 2, 3, 3))
    offsets = places[leaves, (rng.random(size) < 0.3).astype(int)] + rng.normal(0, 0.005, (size, 3, 3))
    offsets[:, 2][rng.random(size) < 0.3] = np.nan
    points_m = rng.uniform([-1, -1, 1], [1, 1, 4], (size, 3)).astype(np.float32)
    return SimpleNamespace(
        tree=tree,
        leaves=leaves,
        points_m=points_m,
        person=np.arange(size, dtype=np.int32),
        joints_m=(points_m[:, None] + offsets).astype(np.float32),
        limits_m=np.array([0.4, 0.35, 0.4], np.float32),
        rules=VoteRules(min_samples=15, max_samples=40, bandwidth_m=0.03),
    )


def _pixels_and_rules(inputs):
    return inputs.tree, inputs.leaves, inputs.points_m, inputs.person, inputs.joints_m, inputs.limits_m, inputs.rules


def _fitted(inputs):
    """Offsets and weights leaf by leaf."""
    votes = fit_votes(*_pixels_and_rules(inputs))
    return votes.offsets[votes.node_of_leaf], votes.weights[votes.node_of_leaf]


def _voters(rng, size):
    """Pixels round three joints, a leaf each, whose votes in each of three trees err by a centimetre."""
    home, offset = rng.integers(3, size=size), rng.integers(-40, 41, (size, 3))
    trees = []
    for _ in range(3):
        offsets, weights = np.zeros((size, 3, 2, 3), np.int8), np.zeros((size, 3, 2), np.uint8)
        offsets[np.arange(size), home, 0] = offset + rng.integers(-2, 3, (size, 3))
        weights[np.arange(size), home, 0] = rng.integers(100, 256, size)
        trees.append(LeafVotes(np.arange(size, dtype=np.int32), offsets, weights))
    joints = np.array([[0, 0, 2], [0.8, 0.1, 2.3], [-0.7, 0.6, 2.1]])
    return SimpleNamespace(
        points_m=(joints[home] - offset * 0.005).astype(np.float32),
        area_m2=rng.uniform(5e-5, 15e-5, size).astype(np.float32),
        leaves=np.repeat(np.arange(size)[:, None], 3, 1).astype(np.int32),
        trees=trees,
        packed=pack_votes(trees),
        bandwidth_m=np.array([0.05, 0.06, 0.07], np.float32),
    )


def _cast(inputs):
    return cast_votes(inputs.points_m, inputs.area_m2, inputs.leaves, inputs.packed, 60, 77)


def _cast_naively(inputs):
    cast = naive_votes.cast_votes(inputs.points_m, inputs.area_m2, inputs.leaves, inputs.trees, 60, 77)
    places, weights = np.zeros((len(cast), 60, 3)), np.zeros((len(cast), 60))
    for joint, votes in enumerate(cast):
        for k, vote in enumerate(votes):
            places[joint, k], weights[joint, k] = vote
    return places, weights, np.array([len(votes) for votes in cast])


def _find_vote_modes_naively(inputs):
    places, weights, n_votes = inputs.votes
    cast = [list(zip(places[j, :n], weights[j, :n], strict=True)) for j, n in enumerate(n_votes)]
    modes, masses = naive_votes.find_vote_modes(cast, inputs.bandwidth_m, 1)
    return modes, masses


def _voters_with_votes(rng, size):
    inputs = _voters(rng, size)
    inputs.votes = _cast(inputs)
    return inputs


def _heaviest(found):
    return found[0][:, :1], found[1][:, :1]


def _surface_points(rng, size):
    return SimpleNamespace(
        modes=rng.uniform([-1, -1, 1], [1, 1, 4], (size, 4, 3)).astype(np.float32),
        push=rng.uniform(0, 0.1, (size, 4)).astype(np.float32),
        masses=np.exp(rng.uniform(-10, 0, (size, 4))).astype(np.float32),
        confidence=rng.uniform([0, 0], [8, 2], (size, 2)).astype(np.float32),
    )


def _infer_joints(rng, size, landmarks=8):
    """A body of so many joints beside its landmarks, five of which were found."""
    body = BodyDefinition(
        "random", tuple(f"part_{k}" for k in range(landmarks)), tuple(f"joint_{k}" for k in range(size)), {}
    )
    parameters = replace(
        JointParameters.default(body),
        mean_m=rng.uniform(-0.8, 0.8, (3, landmarks + size)).astype(np.float32),
        covariance_m2=random_inputs.covariances(rng, landmarks + size),
    )
    found = np.ones(landmarks, bool)
    found[rng.permutation(landmarks)[:3]] = False
    places = parameters.mean_m[:, :landmarks].T + [0.4, -0.2, 2.5] + rng.normal(0, 0.1, (landmarks, 3))
    return SimpleNamespace(
        landmarks_m=np.where(found[:, None], places, np.nan),
        found=found,
        noise_m2=rng.uniform(0.001, 0.02, landmarks),
        parameters=parameters,
    )


def _measured_values(rng, size, values=9):
    """So many values to ask for beside nine, of which six were measured."""
    seen = np.sort(rng.permutation(values)[:6])
    measured = np.isin(np.arange(values + size), seen)
    return SimpleNamespace(
        surprise=np.where(measured[:, None], rng.normal(0, 0.2, (values + size, 3)), np.nan),
        noise=np.where(measured, rng.uniform(0.001, 0.02, values + size), np.nan),
        covariance=random_inputs.covariances(rng, values + size),
        seen=seen,
        asked=np.arange(values, values + size),
        shared=100.0,
    )


def _inferred_naively(inputs):
    """Places with a truly flat prior on translation; deviations with the wide one, for a flat one has none."""
    p = inputs.parameters
    known = (inputs.landmarks_m, inputs.found, inputs.noise_m2, p.mean_m, p.covariance_m2)
    return (
        naive_assembly.infer_joints_placed_freely(*known),
        naive_assembly.infer_joints(*known, TRANSLATION_VARIANCE_M2)[1],
    )


def _rival_proposals(rng, size):
    """Up to three proposals of each of eight landmarks, the surest not always the likeliest; none of two of them."""
    inputs = _infer_joints(rng, size)
    places = np.nan_to_num(inputs.landmarks_m, nan=2.0)[:, None] + rng.normal(0, 0.3, (8, 3, 3))
    confidence = rng.uniform(0.1, 0.9, (8, 3)) * (rng.random((8, 3)) < 0.8)
    confidence[:2] = 0
    return SimpleNamespace(places_m=places, confidence=confidence, parameters=inputs.parameters)


def _shares(rng, size):
    return SimpleNamespace(
        shares=rng.uniform(0.001, 0.999, (size, 4)), confidence=rng.uniform([-2, 0], [2, 2], (4, 2)).astype(np.float32)
    )


def _two_models(rng, size):
    """Two models' joints of so many people, some of them far apart, and how sure each is."""
    expected_m = rng.uniform(-1, 3, (size, 4, 3))
    apart_m = rng.normal(0, 0.1, (size, 4, 3)) * np.arange(1, 5)[:, None]
    return SimpleNamespace(
        expected=(expected_m, rng.uniform(0.01, 0.99, (size, 4))),
        corrected=((expected_m + apart_m).astype(np.float32), rng.uniform(0.01, 0.99, (size, 4))),
        weights=rng.normal(0, 1, (2, 4, 6)).astype(np.float32),
        sigma_m=rng.uniform(0.01, 0.5, size),
    )


def _evidence(rng, size, landmarks=6, joints=5):
    """What is known of so many people, not every landmark of whom was proposed, and some answers."""
    alternatives = rng.random((size, landmarks, 2)) * (rng.random((size, landmarks, 2)) < 0.7)
    chosen = rng.random((size, landmarks)) * (rng.random((size, landmarks)) < 0.7)
    evidence = (
        rng.normal(0, 0.3, (size, joints, 3)) + [0.3, 0.1, 2.5],
        rng.uniform(0.001, 1.5, (size, joints)),
        rng.normal(0, 0.3, (size, landmarks, 2, 3)) + [0.3, 0.1, 2.5],
        alternatives,
        rng.normal(0, 0.3, (size, landmarks, 3)) + [0.3, 0.1, 2.5],
        chosen,
    )
    return SimpleNamespace(
        evidence=tuple(array.astype(np.float32) for array in evidence),
        answers=rng.normal(0, 1, (2 * size, 4 * joints)).astype(np.float32),
        mirrored_joints=np.array([0, 2, 1, 4, 3]),
    )


def _pose_and_memory(rng, size):
    """A pose of so many joints and somebody's, each without some."""
    joints_m, offsets_m = rng.normal(0, 0.4, (2, size, 3)) + [[[0.4, -0.2, 2.5]], [[0, 0, 0]]]
    joints_m[rng.permutation(size)[: size // 4]] = np.nan
    offsets_m[rng.permutation(size)[: size // 4]] = np.nan
    lengths_m = rng.uniform(0.1, 0.5, size)
    lengths_m[rng.permutation(size)[: size // 4]] = np.nan
    looks = rng.integers(0, 5, size)
    return SimpleNamespace(
        joints_m=joints_m,
        confidence=rng.uniform(0, 1, size),
        offsets_m=offsets_m,
        bones=rng.integers(size, size=(size, 2)),
        lengths_m=lengths_m,
        sums_m=looks * rng.uniform(0.1, 0.5, size),
        looks=looks,
    )


def _marked(*outputs):
    """What is not known, NaN, as a number that nothing else is, so that both sides must say it of the same."""
    return tuple(np.nan_to_num(output, nan=-999.0) for output in outputs)


def _ranked(rng, size):
    right = rng.random(size) < 0.4
    return SimpleNamespace(
        proposals=[(float(c), bool(r)) for c, r in zip(rng.random(size), right, strict=True)],
        n_true=int(right.sum()) + 3,
    )


#: columns of a random table: how each is asked, and how many categories it has
KINDS = {"x": NUMERIC, "y": NUMERIC, "z": NUMERIC, "colour": EACH, "shape": EACH, "size": EQUALS, "flag": EQUALS}
NAIVE_KINDS = {NUMERIC: naive_column_scan.NUMERIC, EACH: naive_column_scan.EACH, EQUALS: naive_column_scan.EQUALS}
N_CODES = [0, 0, 0, 3, 7, 4, 2]


def _table_of_kinds(rng, n_rows):
    """Cells, how their columns are asked, and two linear combinations of numbers, in eighths: sums are exact."""
    kinds = np.array(list(KINDS.values()), np.uint8)
    combinations = np.zeros((2, len(kinds)))
    combinations[:, :3] = rng.integers(-8, 9, (2, 3)) / 8
    combinations[0, 1] = 0
    return SimpleNamespace(
        cells=random_inputs.cells(rng, n_rows, N_CODES),
        kinds=kinds,
        naive_kinds=[NAIVE_KINDS[kind] for kind in kinds],
        combinations=combinations,
    )


def _open_nodes(rng, size, criterion, costs=None):
    """Nodes of 1 to 50 rows of a table, one of them pure, one the same in every cell; some with weights."""
    ends = np.cumsum(np.append([1, 2, 10, 10], rng.integers(3, 50, size - 4)))
    inputs = _table_of_kinds(rng, ends[-1])
    inputs.order = rng.permutation(ends[-1]).astype(np.int32)
    target = rng.integers(-20, 20, ends[-1]) / 4 if criterion == "squared_error" else rng.integers(3, size=ends[-1])
    target[inputs.order[3:13]] = 1
    inputs.cells[inputs.order[13:23]] = 1
    inputs.weight = np.where(rng.random(ends[-1]) < 0.5, 1, rng.integers(1, 9, ends[-1]) / 4)
    inputs.starts, inputs.ends = np.append(0, ends[:-1]), ends
    inputs.criterion, inputs.costs, inputs.min_leaf = criterion, costs, rng.choice([0.0, 1, 2.5])
    inputs.table = Table.of(inputs.cells, inputs.kinds, np.array(N_CODES), target.astype(np.float64), 3)
    inputs.candidates = np.tile(np.arange(len(N_CODES) + len(inputs.combinations), dtype=np.int32), (size, 1))
    return inputs


def _scanned(inputs):
    table = inputs.table
    gain, intrinsic, threshold = scan_columns(
        table.columns,
        table.codes,
        table.kinds,
        table.n_codes,
        table.target,
        (CRITERIA[inputs.criterion], NO_COSTS if inputs.costs is None else inputs.costs, inputs.min_leaf, 3),
        (inputs.order, inputs.weight, inputs.starts, inputs.ends),
        inputs.candidates,
        inputs.combinations,
    )
    parts = gain > -np.inf
    asked = parts & ~np.append(table.kinds == EACH, [False, False])  # of a branch for each there is no threshold
    return gain, np.where(parts, intrinsic, 0), np.where(asked, threshold, 0)


def _scanned_naively(inputs):
    columns = [_with_gaps(column) for column in inputs.cells.T]
    columns += [naive_column_scan.combine(row, columns) for row in inputs.combinations.tolist()]
    kinds = [*inputs.naive_kinds, naive_column_scan.NUMERIC, naive_column_scan.NUMERIC]
    costs = None if inputs.costs is None else {(i, j): inputs.costs[i, j] for i in range(3) for j in range(3)}
    found = np.empty((3, len(inputs.starts), len(kinds)))
    for node, (start, end) in enumerate(zip(inputs.starts, inputs.ends, strict=True)):
        rows = inputs.order[start:end]
        target, weight = inputs.table.target[rows].tolist(), inputs.weight[start:end].tolist()
        for k, (kind, column) in enumerate(zip(kinds, columns, strict=True)):
            own = naive_column_scan.of_rows(column, rows)
            found[:, node, k] = naive_column_scan.best_split(
                kind, own, target, weight, inputs.criterion, costs, inputs.min_leaf
            )
    return tuple(found)


def _with_gaps(cells):
    """Cells as the naive twins have them: None where one is missing."""
    return [None if cell != cell else cell for cell in cells.tolist()]


def _rows_to_answer(rng, size, moments=False):
    """Rows and a tree over their columns; a category may be one that the tree does not know."""
    inputs = _table_of_kinds(rng, size)
    inputs.cells[rng.random(size) < 0.1, 4] = 7
    is_each = [kind == EACH for kind in KINDS.values()]
    inputs.tree = random_inputs.table_tree(rng, 5, N_CODES, is_each, len(inputs.combinations), 3)
    inputs.table_tree = TableTree(inputs.tree, inputs.kinds, inputs.combinations, moments)
    inputs.columns, inputs.moments = np.ascontiguousarray(inputs.cells.T), moments
    inputs.target = rng.integers(3, size=size).astype(np.float64)
    return inputs


def _answered(inputs):
    out = [np.zeros((len(inputs.cells), inputs.table_tree.values.shape[1])) for _ in range(2)]
    inputs.table_tree.answer(inputs.columns, "fractional", out[0])
    inputs.table_tree.answer(inputs.columns, "most_common", out[1])
    return tuple(out)


def _answered_naively(inputs):
    known = inputs.tree, inputs.naive_kinds, inputs.combinations.tolist()
    return tuple(
        [naive_descent.answer(*known, _with_gaps(row), inputs.moments, missing) for row in inputs.cells]
        for missing in ("fractional", "most_common")
    )


KERNELS = (
    Kernel(
        "bordered_depth",
        lambda i: bordered_depth(i.depth_m, i.mask),
        lambda i: naive_depth_features.bordered(i.depth_m, i.mask),
        _bordered_depth,
        size=60,
        may_differ=0.03,
        reason="float32 times 1000 falls on either side of a half millimetre",
    ),
    Kernel(
        "find_components",
        lambda i: find_components(i.depth_m, i.mask),
        lambda i: naive_pieces.find_components(i.depth_m, i.mask),
        _pieces,
        size=90,
        may_differ=0.01,
        reason="exact but for a jump that float32 rounds to the other side",
    ),
    Kernel(
        "measure_components",
        lambda i: measure_components(i.components, i.count, i.depth_m, i.intrinsics),
        lambda i: naive_pieces.measure_components(i.components, i.count, i.depth_m, *i.camera),
        _pieces,
        size=90,
        tolerance=1e-5,
        reason="squares of float32 metres",
    ),
    Kernel(
        "keep_large",
        lambda i: keep_large(i.components, i.count, i.depth_m, i.intrinsics, 1.9e-4),
        lambda i: naive_pieces.keep_large(i.components, i.count, i.depth_m, *i.camera[:2], 1.9e-4),
        _pieces,
        size=60,
    ),
    Kernel(
        "find_contacts",
        lambda i: find_contacts(i.components, i.count, i.depth_m, 6),
        lambda i: naive_pieces.find_contacts(i.components, i.count, i.depth_m, 6),
        _pieces,
        size=90,
        tolerance=1e-6,
        reason="float32 metres",
    ),
    Kernel(
        "surface_cells",
        lambda i: surface_cells(i.depth_m, i.intrinsics, 4),
        lambda i: naive_planes.surface_cells(i.depth_m, *i.camera, 4),
        _room,
        size=120,
        tolerance=(1e-4, 5e-3, 1e-4),
        reason="float32; a normal is a difference of neighbours",
    ),
    Kernel(
        "find_planes",
        lambda i: np.array([(*plane.normal, plane.distance_m) for plane in find_planes(i.depth_m, i.intrinsics)]),
        lambda i: np.array(
            [(*normal, distance) for normal, distance in naive_planes.find_planes(i.depth_m, *i.camera, 2)]
        ),
        _room,
        size=120,
        tolerance=2e-3,
        reason="float32; a cell at the tolerance falls on either side",
    ),
    Kernel(
        "before_planes",
        lambda i: before_planes(i.depth_m, i.intrinsics, i.planes),
        lambda i: naive_planes.before_planes(i.depth_m, *i.camera, i.planes),
        _pieces,
        size=90,
        may_differ=0.03,
        reason="float32: a reading as far off as the tolerance falls on either side",
    ),
    Kernel(
        "depth_differences",
        lambda i: depth_differences(i.depth_m, i.mask, i.pixels, i.offsets, i.intrinsics),
        lambda i: naive_depth_features.depth_differences(
            i.depth_m, i.mask, i.pixels, i.offsets, i.intrinsics.fx, i.intrinsics.fy
        ),
        _depth_differences,
        size=400,
        tolerance=2e-6,
        may_differ=0.03,
        reason="float32 metres up to 10; half millimetres and the edges of pixels are rounded either way",
    ),
    Kernel(
        "classify",
        lambda i: classify(i.image, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.packed),
        lambda i: naive_classify.classify(
            i.depth_m, i.mask, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.trees, i.tables, i.mirrored_classes
        ),
        _classify,
        size=1000,
        tolerance=1e-6,
        may_differ=0.005,
        reason="float32 mean of six; a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "find_leaves",
        lambda i: find_leaves(i.image, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.packed),
        lambda i: [
            [
                naive_classify.leaf_of(tree, table, i.depth_m, i.mask, *pixel, i.intrinsics.fx, i.intrinsics.fy)
                for tree, table in i.walks
            ]
            for pixel in i.pixels
        ],
        _classify,
        size=1000,
        may_differ=0.005,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "mean_posterior",
        lambda i: mean_posterior(i.leaves, i.packed),
        lambda i: np.mean([t.leaf_statistics[i.leaves[:, k]] for k, (t, _) in enumerate(i.walks)], axis=0),
        _leaves_of_pixels,
        size=1000,
        tolerance=1e-6,
        reason="float32 mean of six",
    ),
    Kernel(
        "best_splits",
        lambda i: _told(best_splits(i.bins, i.labels, i.starts, i.n_bins)),
        lambda i: _told(naive_histogram.best_splits(i.bins, i.labels, i.starts, i.n_bins)),
        _best_splits,
        size=3000,
        tolerance=1e-6,
        reason="n log n is held in millionths of a bit; feature and bin are whole numbers, hence exact",
    ),
    Kernel(
        "entropy",
        lambda i: entropy(i.children),
        lambda i: [[naive_impurity.entropy(child.tolist()) for child in node] for node in i.children],
        _counts,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
    Kernel(
        "information_gain",
        lambda i: information_gain(i.parent, i.children),
        lambda i: [
            naive_impurity.information_gain(parent.tolist(), children.tolist())
            for parent, children in zip(i.parent, i.children, strict=True)
        ],
        _counts,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
    Kernel(
        "fill_bins",
        _fill_bins,
        lambda i: naive_responses.fill_bins(i.samples, i.chosen, i.offsets, i.thresholds_mm),
        _responses,
        size=200,
        may_differ=0.01,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "go_right",
        lambda i: i.responses.go_right(i.chosen, i.own_offsets, i.responses.threshold(i.threshold_bins)),
        lambda i: naive_responses.go_right(i.samples, i.chosen, i.own_offsets, i.thresholds_mm, i.threshold_bins),
        _responses,
        size=2000,
        may_differ=0.001,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "draw_labels",
        lambda i: draw_labels(i.parts, i.mask),
        lambda i: naive_label_images.draw_labels(i.parts.pixels, i.parts.values, i.parts.stride, i.mask),
        _drawn_labels,
        size=700,
        tolerance=0,
        reason="exact",
    ),
    Kernel(
        "weigh_points",
        _weighed,
        lambda i: naive_density.weigh_points(
            i.depth_m,
            i.intrinsics.fx,
            i.intrinsics.fy,
            i.intrinsics.cx,
            i.intrinsics.cy,
            i.parts.pixels,
            i.parts.values,
            i.parts.stands_for,
            i.landmark_classes,
        ),
        _weigh_points,
        size=1000,
        tolerance=(1e-6, 1e-9),
        reason="float32 metres up to 4, and weights up to 1e-3 square metres",
    ),
    Kernel(
        "mlp_forward",
        lambda i: mlp_forward(i.inputs, i.weights, i.biases)[0],
        lambda i: naive_perceptron.mlp_forward(i.inputs, i.weights, i.biases)[0],
        _mlp_forward,
        size=80,
        tolerance=1e-5,
        reason="float32 sums",
    ),
    Kernel(
        "find_modes",
        lambda i: find_modes(i.points_m, i.probabilities, i.area_m2, i.bandwidth_m, i.min_probability),
        lambda i: naive_mean_shift.find_modes(
            i.points_m, i.probabilities, i.area_m2, i.bandwidth_m, i.min_probability, MAX_MODES
        ),
        _find_modes,
        size=900,
        tolerance=(5e-4, 2e-6),
        reason="a climb ends at a step of half a millimetre, and blobs narrower than the kernel shorten every step;"
        " masses are of some thousandths of a square metre, at the place where the climb ended",
    ),
    Kernel(
        "fit_votes",
        _fitted,
        lambda i: naive_leaf_votes.fit_votes(*_pixels_and_rules(i), STARTS),
        _training_pixels,
        size=600,
        tolerance=(1, 2),
        may_differ=0.1,
        reason="stored steps are rounded either way; votes of equal or of the least weight change places or go",
    ),
    Kernel(
        "cast_votes",
        _cast,
        _cast_naively,
        _voters,
        size=300,
        tolerance=1e-6,
        reason="float32 places",
    ),
    Kernel(
        "find_vote_modes",
        lambda i: _heaviest(find_vote_modes(*i.votes, i.bandwidth_m)),
        _find_vote_modes_naively,
        _voters_with_votes,
        size=300,
        tolerance=(1e-3, 2e-6),
        reason="as for find_modes",
    ),
    Kernel(
        "push_back",
        lambda i: push_back(i.modes, i.push),
        lambda i: naive_push_back.push_back(i.modes, i.push),
        _surface_points,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "pixels_of",
        lambda i: pixels_of(i.mask, (3, 2)),
        lambda i: naive_pixel_grid.pixels_of(i.mask, (3, 2)),
        _bordered_depth,
        size=60,
    ),
    Kernel(
        "align_pose",
        lambda i: _marked(*align_pose(i.joints_m, i.confidence, i.offsets_m)),
        lambda i: _marked(*naive_pose_pairing.align_pose(i.joints_m, i.confidence, i.offsets_m)),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "measure_bones",
        lambda i: _marked(measure_bones(i.joints_m, i.bones)),
        lambda i: _marked(naive_pose_pairing.measure_bones(i.joints_m, i.bones)),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "growth",
        lambda i: growth(i.lengths_m, i.sums_m, i.looks),
        lambda i: naive_pose_pairing.growth(i.lengths_m, i.sums_m, i.looks),
        _pose_and_memory,
        size=20,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "confidence_of_mass",
        lambda i: confidence_of_mass(i.masses, i.confidence),
        lambda i: naive_certainty.confidence_of_mass(i.masses, i.confidence),
        _surface_points,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "share_within",
        lambda i: share_within(i.sigma_m, 0.12),
        lambda i: naive_certainty.share_within(i.sigma_m, 0.12),
        _two_models,
        size=60,
        tolerance=1e-7,
        reason="the twin adds up a density in steps",
    ),
    Kernel(
        "fusion_terms",
        lambda i: fusion_terms(i.expected, i.corrected),
        lambda i: naive_certainty.fusion_terms(i.expected, i.corrected, MAX_DISAGREEMENT_M),
        _two_models,
        size=60,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "fuse",
        lambda i: fuse(i.weights, i.expected, i.corrected),
        lambda i: naive_certainty.fuse(i.weights, i.expected, i.corrected, FULL_OVERRIDE_MARGIN, MAX_DISAGREEMENT_M),
        _two_models,
        size=60,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "encode_features",
        lambda i: encode_features(*i.evidence),
        lambda i: naive_refinement_numbers.encode_features(*i.evidence),
        _evidence,
        size=40,
        tolerance=1e-6,
        reason="float32 metres up to 4",
    ),
    Kernel(
        "decode_output",
        lambda i: decode_output(i.answers, i.evidence[0], i.mirrored_joints),
        lambda i: naive_refinement_numbers.decode_output(i.answers, i.evidence[0], i.mirrored_joints),
        _evidence,
        size=40,
        tolerance=1e-6,
        reason="float32 metres up to 4",
    ),
    Kernel(
        "condition",
        lambda i: condition(i.surprise, i.noise, i.covariance, i.seen, i.asked, i.shared),
        lambda i: naive_conditional_gaussian.condition(
            i.surprise, i.noise, i.covariance, i.seen, i.asked, i.shared, NUGGET
        ),
        _measured_values,
        size=6,
        tolerance=1e-6,
        reason="a variance of 100 is shared by values that differ by hundredths",
    ),
    Kernel(
        "leave_one_out",
        lambda i: leave_one_out(i.surprise, i.noise, i.covariance, i.seen, i.shared),
        lambda i: naive_conditional_gaussian.leave_one_out(i.surprise, i.noise, i.covariance, i.seen, i.shared, NUGGET),
        _measured_values,
        size=6,
        tolerance=1e-6,
        reason="as for condition",
    ),
    Kernel(
        "infer_joints",
        lambda i: infer_joints(i.landmarks_m, i.found, i.noise_m2, i.parameters),
        _inferred_naively,
        _infer_joints,
        size=6,
        tolerance=(3e-4, 1e-5),
        reason="a prior of 10 m on translation is flat to some hundredths of a millimetre, and a millimetre is added"
        " to the landmarks' noise for stability",
    ),
    Kernel(
        "expect_landmarks",
        lambda i: expect_landmarks(i.landmarks_m, i.found, i.noise_m2, i.parameters),
        lambda i: naive_assembly.expect_landmarks(
            i.landmarks_m,
            i.found,
            i.noise_m2,
            i.parameters.mean_m,
            i.parameters.covariance_m2,
            TRANSLATION_VARIANCE_M2,
        ),
        _infer_joints,
        size=6,
        tolerance=(3e-4, 1e-5),
        reason="as for infer_joints",
    ),
    Kernel(
        "choose_proposals",
        lambda i: choose_proposals(i.places_m, i.confidence, i.parameters),
        lambda i: naive_assembly.choose_proposals(
            i.places_m, i.confidence, i.parameters.mean_m, i.parameters.covariance_m2, TRANSLATION_VARIANCE_M2
        ),
        _rival_proposals,
        size=6,
    ),
    Kernel(
        "calibrate",
        lambda i: calibrate(i.shares, i.confidence),
        lambda i: naive_certainty.calibrate(i.shares, i.confidence),
        _shares,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "average_precision",
        lambda i: average_precision(i.proposals, i.n_true),
        lambda i: naive_metrics.average_precision(i.proposals, i.n_true),
        _ranked,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
    Kernel(
        "scan_columns",
        _scanned,
        _scanned_naively,
        partial(_open_nodes, criterion="entropy"),
        size=12,
        tolerance=1e-12,
        reason="order of a float64 sum",
    ),
    *(
        Kernel(
            f"scan_columns_by_{criterion}{'_with_costs' if costs is not None else ''}",
            _scanned,
            _scanned_naively,
            partial(_open_nodes, criterion=criterion, costs=costs),
            size=8,
            tolerance=1e-12,
            reason="order of a float64 sum",
        )
        for criterion, costs in (
            ("gini", None),
            ("gini", np.array([[0.0, 1, 5], [2, 0, 1], [1, 3, 0]])),
            ("misclassification", None),
            ("squared_error", None),
        )
    ),
    *(
        Kernel(
            f"answer_{'numbers' if moments else 'classes'}",
            _answered,
            _answered_naively,
            partial(_rows_to_answer, moments=moments),
            size=200,
            tolerance=1e-13,
            reason="order of a float64 sum",
        )
        for moments in (False, True)
    ),
    Kernel(
        "leaves",
        lambda i: i.table_tree.leaves(i.columns),
        lambda i: [
            naive_descent.leaf(i.tree, i.naive_kinds, i.combinations.tolist(), _with_gaps(row), False)
            for row in i.cells
        ],
        _rows_to_answer,
        size=200,
    ),
    Kernel(
        "passed",
        lambda i: i.table_tree.passed(i.columns, i.target),
        lambda i: naive_descent.passed(
            i.tree, i.naive_kinds, i.combinations.tolist(), map(_with_gaps, i.cells), i.target.tolist(), i.moments
        ),
        partial(_rows_to_answer, moments=True),
        size=200,
        tolerance=1e-12,
        reason="order of a float64 sum",
    ),
    Kernel(
        "decode_rvl",
        lambda i: decode_rvl(i.stream, *i.shape),
        lambda i: naive_rvl.decode_rvl(i.stream, *i.shape),
        _rvl_stream,
        size=48,
    ),
)
