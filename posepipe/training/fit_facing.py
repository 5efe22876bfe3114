"""Trains the facing network of a model, on pictures of people whose true joints are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.facing.facing_network import FacingNetwork, direction_vectors, layer_shapes
from posepipe.facing.person_picture import CHANNELS, SIDE, person_picture
from posepipe.io.growing_array import GrowingArray
from posepipe.models.pose_model import PoseModel
from posepipe.training.check_frames import check_people
from posepipe.training.networks.adam import Adam, cosine_schedule
from posepipe.training.networks.facing_gradients import FacingLayers, facing_gradients
from posepipe.training.origin import origin_of

EPOCHS = 8
BATCH = 128
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-3
MIN_PIXELS = 200
"""Minimum number of pixels of a person in the pictures."""
SHARPNESS = 4.0
"""Concentration of the directions that count as the true one, a von Mises distribution: about half a radian wide."""
FULL_WIDTH_M = 0.2
"""Horizontal distance between left and right from which a picture counts in full: of who lies on a side it is 0."""
COVERED_SHARE = 0.3
"""Share of the pictures that something covers in part, as furniture does."""
COVERED_CELLS = 8, 30
"""Minimum and maximum sides of what covers them."""


class _Pictures(NamedTuple):
    """Pictures of P people, and which way they face."""

    pictures: np.ndarray  #: float16 (P, SIDE, SIDE, CHANNELS)
    across_m: np.ndarray  #: float64 (P, 2), from right to left, x and z of the camera


def refit_facing(
    model: PoseModel,
    frames: FrameSequence,
    command: str = "",
    on_frame: Callable[[], object] = lambda: None,
    on_epoch: Callable[[], object] = lambda: None,
) -> PoseModel:
    """Train the facing network of a model; all else of it stays.

    Parameters
    ----------
    model : PoseModel, of a body with sides
    frames : labelled frames; every person in them is one picture
    command : command line of the training, for the metadata
    on_frame : called after every frame
    on_epoch : called EPOCHS times

    Returns
    -------
    PoseModel, without the figures of the earlier model

    Raises
    ------
    ValueError
        When the frames show another body, or nobody whose left and right are known.
    """
    if frames.body != model.body:
        raise ValueError(f"a model of {model.body.name!r} needs frames of the same body, got {frames.body.name!r}")
    if not model.body.has_sides:
        raise ValueError(f"which way it faces is told by left and right, and body {model.body.name!r} has no sides")
    check_people(frames, "a facing network")
    about, started = origin_of(frames, command), time.monotonic()
    drawn = _draw_pictures(frames, on_frame)
    network = train_facing(*drawn, np.random.default_rng(0), on_epoch)
    about |= {"people": len(drawn.pictures), "seconds": round(time.monotonic() - started, 1)}
    return replace(model, facing=network).with_metadata(figures=None, facing=about)


def train_facing(
    pictures: np.ndarray,
    across_m: np.ndarray,
    rng: np.random.Generator,
    on_epoch: Callable[[], object] = lambda: None,
    epochs: int = EPOCHS,
) -> FacingNetwork:
    """Train a network by Adam with weight decay and a cosine schedule of the learning rate.

    Every second picture of a batch is mirrored, and some are covered in part.

    Parameters
    ----------
    pictures : float16 (P, SIDE, SIDE, CHANNELS), of `person_picture`
    across_m : float (P, 2), true vectors from right to left, x and z of the camera
    rng : draws initial weights, order, what is covered, and dropped units
    on_epoch : called after each epoch
    epochs : int

    Returns
    -------
    FacingNetwork
    """
    layers = FacingLayers.draw(layer_shapes(), rng)
    optimiser = Adam(layers.parameters, WEIGHT_DECAY)
    targets = directions_around(across_m)
    importance = np.minimum(np.linalg.norm(across_m, axis=1) / FULL_WIDTH_M, 1).astype(np.float32)
    n_batches = -(-len(pictures) // BATCH)
    for done in range(epochs):
        for k, batch in enumerate(np.array_split(rng.permutation(len(pictures)), n_batches)):
            seen, wanted = _varied(pictures[batch].astype(np.float32), targets[batch], rng)
            _, gradients = facing_gradients(layers, seen, wanted, importance[batch], rng)
            optimiser.step(gradients, LEARNING_RATE * cosine_schedule((done + k / n_batches) / epochs))
        on_epoch()
    return layers.network()


def directions_around(across_m: np.ndarray) -> np.ndarray:
    """Target probabilities of the directions around vectors (P, 2): float32 (P, DIRECTIONS)."""
    unit = across_m / np.maximum(np.linalg.norm(across_m, axis=1, keepdims=True), 1e-9)
    weight = np.exp(SHARPNESS * (unit @ direction_vectors().T))
    return (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)


def _draw_pictures(frames: FrameSequence, on_frame: Callable[[], object]) -> _Pictures:
    """Draw everybody who shows enough, and whose left and right are known."""
    pictures, across_m = GrowingArray(), []
    for frame in frames:
        for mask, own_m in _people(frame.people, frame.depth.depth_m, frame.joints_m, frames.body):
            picture = person_picture(frame.depth.depth_m, mask, frame.depth.intrinsics)
            pictures.append(picture.astype(np.float16).view(np.int16).reshape(-1))
            across_m.append(own_m[[0, 2]])
        on_frame()
    if not across_m:
        raise ValueError(
            f"a facing network learns from people of {MIN_PIXELS} pixels or more whose left and right are known; these"
            f" {len(frames)} frames show none"
        )
    drawn = pictures.finish().view(np.float16).reshape(-1, SIDE, SIDE, CHANNELS)
    return _Pictures(drawn, np.stack(across_m))


def _people(
    people: np.ndarray, depth_m: np.ndarray, joints_m: np.ndarray, body: BodyDefinition
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for number, own_m in enumerate(joints_m, start=1):
        mask, across_m = (people == number) & (depth_m > 0), body.across(own_m)
        if np.count_nonzero(mask) >= MIN_PIXELS and np.isfinite(across_m).all():
            yield mask, across_m


def _varied(pictures: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mirror every second picture of a batch, and cover some in part; in place."""
    wanted = targets.copy()
    pictures[1::2] = pictures[1::2, :, ::-1].copy()
    wanted[1::2] = wanted[1::2, ::-1].copy()
    for row in np.flatnonzero(rng.random(len(pictures)) < COVERED_SHARE):
        height, width = rng.integers(*COVERED_CELLS, size=2)
        top, left = rng.integers(0, SIDE - height), rng.integers(0, SIDE - width)
        pictures[row, top : top + height, left : left + width, :2] = 0
    return pictures, wanted
