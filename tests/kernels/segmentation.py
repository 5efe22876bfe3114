"""Kernels that find candidates and draw labels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.camera import Intrinsics, Plane
from posepipe.parts import PartProbabilities
from posepipe.segmentation.boosted_trees.sum_of_leaves import sum_of_leaves
from posepipe.segmentation.evidence.pixel_evidence import distance_to_joints, label_confidence
from posepipe.segmentation.evidence.second_differences import second_differences
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.room_geometry.background_model import FOLLOW, SEEN_FRAMES, BackgroundModel
from posepipe.segmentation.room_geometry.connected_components import (
    find_components,
    find_contacts,
    measure_components,
)
from posepipe.segmentation.room_geometry.plane_detection import (
    before_planes,
    find_planes,
    plane_tolerance_m,
    surface_cells,
)
from tests.kernels.kernel import Kernel
from tests.reference.segmentation import background_model as naive_background_model
from tests.reference.segmentation import connected_components as naive_connected_components
from tests.reference.segmentation import label_map as naive_label_map
from tests.reference.segmentation import pixel_evidence as naive_pixel_evidence
from tests.reference.segmentation import pixel_grid as naive_pixel_grid
from tests.reference.segmentation import plane_detection as naive_plane_detection
from tests.reference.segmentation import second_differences as naive_second_differences
from tests.reference.segmentation import sum_of_leaves as naive_sum_of_leaves
from tests.support import random_inputs, rooms

STANDS_FRAMES = 25
"""Of a film of some forty frames, for the background."""


def _mask(rng, size):
    return SimpleNamespace(mask=random_inputs.depth_image(rng, size, size * 4 // 3)[1])


def _evidence(rng, size):
    """Evidence, and ``size`` trees of five leaves, one after another."""
    trees = [random_inputs.tree(rng, 5, 12, 2) for _ in range(size)]
    starts = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    child = [tree.first_child + start for tree, start in zip(trees, starts, strict=False)]
    number = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
    thresholds = rng.normal(size=len(number)).astype(np.float32)
    shares = rng.random(len(number)).astype(np.float32)
    arrays = number, thresholds, np.concatenate(child).astype(np.int32), shares, starts[:-1].astype(np.int32)
    return SimpleNamespace(evidence=rng.normal(size=12).astype(np.float32), arrays=arrays)


def _pixels_of_people(rng, size):
    """Probabilities of some pixels, their points in metres, and joints among them."""
    values = rng.dirichlet(np.full(6, 0.3), size).astype(np.float32)
    values[::5, 2] = 0
    points_m = rng.normal((0, 0, 2), 0.4, (size, 3)).astype(np.float32)
    return SimpleNamespace(values=values, points_m=points_m, joints_m=rng.normal((0, 0, 2), 0.4, (7, 3)))


def _curved(rng, size):
    """A wavy surface with holes and steps, some of whose pixels are a candidate's."""
    row, col = np.mgrid[:60, :80]
    depth_m = np.float32(2 + 0.2 * np.sin(row / 7) + 0.1 * np.cos(col / 5) + 0.4 * (col > 50))
    depth_m[rng.random(depth_m.shape) < 0.05] = 0
    mask = rng.random(depth_m.shape) < 0.9
    pixels = np.argwhere(np.ones_like(mask))[np.sort(rng.permutation(mask.size)[:size])].astype(np.int32)
    return SimpleNamespace(depth_m=depth_m, mask=mask, pixels=pixels, intrinsics=Intrinsics(150.0, 140.0, 39.5, 29.5))


def _components(rng, size):
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


def _touching(rng, size):
    cells = (size // 3, size // 2)
    components = rng.integers(0, 40, cells).repeat(3, axis=0).repeat(2, axis=1).astype(np.int32)
    components[rng.random(components.shape) < 0.4] = 0
    return SimpleNamespace(components=components, depth_m=rng.uniform(1, 5, components.shape).astype(np.float32))


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


def _film(rng, size):
    """A noisy wall with holes; somebody walks by, a chair and a candidate stand there, a table comes in."""
    rows, cols = np.mgrid[:24, :32]
    depths_m = np.repeat(3 + 0.01 * cols[None] + 0 * rows, size, axis=0)
    people, doubtful = np.zeros((2, *depths_m.shape), bool)
    depths_m[:, 15:, 20:26] = 2.2
    doubtful[:, 5:15, 2:8] = True
    depths_m[size // 2 :, 10:14, 10:30] = 2.6
    for frame in range(size):
        people[frame, 4:, frame % 28 : frame % 28 + 4] = True
    depths_m[people] = 1.8
    depths_m += rng.normal(0, 0.01, depths_m.shape)
    depths_m[rng.random(depths_m.shape) < 0.03] = 0
    return SimpleNamespace(depths_m=depths_m.astype(np.float32), people=people, doubtful=doubtful)


def _watched(inputs):
    """Background, and what the last frame shows before it."""
    background = BackgroundModel(stands_frames=STANDS_FRAMES)
    for frame in zip(inputs.depths_m, inputs.people, inputs.doubtful, strict=True):
        background.learn(*frame)
    return background.depth_m, background.before(inputs.depths_m[-1])


def _watched_naively(inputs):
    rules = SEEN_FRAMES, STANDS_FRAMES, FOLLOW
    films = inputs.depths_m, inputs.people, inputs.doubtful
    background_m = naive_background_model.learn(*films, _twice_the_tolerance_m, *rules)
    return background_m, naive_background_model.before(inputs.depths_m[-1], background_m, _twice_the_tolerance_m)


def _pixels(*images):
    return tuple(image.ravel() for image in images)


def _twice_the_tolerance_m(depth_m):
    return 2 * plane_tolerance_m(depth_m)


def _drawn_labels(rng, size):
    stride = (3, 2)
    mask = rng.random((91, 101)) < 0.6  # cells at the end are cut
    pixels = pixels_of(mask, stride)
    pixels = pixels[np.sort(rng.permutation(len(pixels))[:size])]
    values = rng.dirichlet(np.full(5, 0.3), len(pixels)).astype(np.float32)
    values[::7, 1:] = 0  # no person's
    values[3::11] = values[3::11][:, [0, 2, 2, 3, 4]]  # two parts are as likely
    return SimpleNamespace(parts=PartProbabilities(pixels, values, stride), mask=mask)


KERNELS = (
    Kernel(
        "find_components",
        lambda i: find_components(i.depth_m, i.mask),
        lambda i: naive_connected_components.find_components(i.depth_m, i.mask),
        _components,
        size=90,
        may_differ=0.01,
        reason="exact but for a jump that float32 rounds to the other side",
    ),
    Kernel(
        "measure_components",
        lambda i: measure_components(i.components, i.count, i.depth_m, i.intrinsics),
        lambda i: naive_connected_components.measure_components(i.components, i.count, i.depth_m, *i.camera),
        _components,
        size=90,
        tolerance=1e-5,
        reason="squares of float32 metres",
    ),
    Kernel(
        "find_contacts",
        lambda i: find_contacts(i.components, i.depth_m, 6),
        lambda i: naive_connected_components.find_contacts(i.components, i.depth_m, 6),
        _touching,
        size=90,
        tolerance=1e-6,
        reason="float32 metres",
    ),
    Kernel(
        "surface_cells",
        lambda i: surface_cells(i.depth_m, i.intrinsics, 4),
        lambda i: naive_plane_detection.surface_cells(i.depth_m, *i.camera, 4),
        _room,
        size=120,
        tolerance=(1e-4, 5e-3, 1e-4),
        reason="float32; a normal is a difference of neighbours",
    ),
    Kernel(
        "find_planes",
        lambda i: np.array([(*plane.normal, plane.distance_m) for plane in find_planes(i.depth_m, i.intrinsics)]),
        lambda i: np.array(
            [(*normal, distance) for normal, distance in naive_plane_detection.find_planes(i.depth_m, *i.camera, 2)]
        ),
        _room,
        size=120,
        tolerance=2e-3,
        reason="float32; a cell at the tolerance falls on either side",
    ),
    Kernel(
        "before_planes",
        lambda i: before_planes(i.depth_m, i.intrinsics, i.planes),
        lambda i: naive_plane_detection.before_planes(i.depth_m, *i.camera, i.planes),
        _components,
        size=90,
        may_differ=0.03,
        reason="float32: a reading as far off as the tolerance falls on either side",
    ),
    Kernel(
        "background_model",
        lambda i: _pixels(*_watched(i)),
        lambda i: _pixels(*_watched_naively(i)),
        _film,
        size=40,
        tolerance=(1e-5, 0),
        may_differ=0.01,
        reason="float32 metres: a reading at the tolerance falls on either side",
    ),
    Kernel(
        "draw_labels",
        lambda i: draw_labels(i.parts, i.mask),
        lambda i: naive_label_map.draw_labels(i.parts.pixels, i.parts.probabilities, i.parts.stride, i.mask),
        _drawn_labels,
        size=700,
        tolerance=0,
        reason="exact",
    ),
    Kernel(
        "pixels_of",
        lambda i: pixels_of(i.mask, (3, 2)),
        lambda i: naive_pixel_grid.pixels_of(i.mask, (3, 2)),
        _mask,
        size=60,
    ),
    Kernel(
        "label_confidence",
        lambda i: label_confidence(i.values),
        lambda i: naive_pixel_evidence.label_confidence(i.values),
        _pixels_of_people,
        size=400,
        tolerance=1e-5,
        reason="float32",
    ),
    Kernel(
        "distance_to_joints",
        lambda i: distance_to_joints(i.points_m, i.joints_m),
        lambda i: naive_pixel_evidence.distance_to_joints(i.points_m, i.joints_m),
        _pixels_of_people,
        size=300,
        tolerance=1e-6,
        reason="float32 metres",
    ),
    Kernel(
        "second_differences",
        lambda i: second_differences(i.depth_m, i.mask, i.pixels, i.intrinsics),
        lambda i: naive_second_differences.second_differences(
            i.depth_m, i.mask, i.pixels, i.intrinsics.fx, i.intrinsics.fy
        ),
        _curved,
        size=900,
        tolerance=1e-6,
        may_differ=0.01,
        reason="float32: a slope at the limit falls on either side",
    ),
    Kernel(
        "sum_of_leaves",
        lambda i: sum_of_leaves(i.evidence, *i.arrays),
        lambda i: naive_sum_of_leaves.sum_of_leaves(i.evidence, *i.arrays),
        _evidence,
        size=40,
        tolerance=1e-6,
        reason="order of the sum",
    ),
)
