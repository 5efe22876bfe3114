"""Paragraphs of a model card: the stages of a model, and what each was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posepipe.joints.joint_parameters import JointParameters
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_classifier.person_classifier import MIN_PROBABILITY

STAGES = (
    ("facing", "facing network"),
    ("second_pass", "second pass"),
    ("segmentation", "segmentation"),
    ("background", "weight of class 0"),
    ("person_filter", "person filter"),
    ("view_choice", "choice of views"),
    ("region_filter", "region filter"),
)
"""Field of the metadata, and title, of the stages that are trained after the trees and the joint parameters."""


def describe_joints(model: PoseModel) -> list[str]:
    """Describe the stages that find joints; a model without one of them has an empty paragraph."""
    return [_joints_from(model.joint_parameters), _facing(model), _second_pass(model)]


def describe_filters(model: PoseModel) -> list[str]:
    """Describe the stages that find people; a model without one of them has an empty paragraph."""
    about = {name: model.metadata.get(name, {}) for name, _ in STAGES}
    return [
        _segmentation(model, about["segmentation"]),
        _background(about["background"]),
        _person_filter(model, about["person_filter"]),
        _view_choice(model, about["view_choice"]),
        _region_filter(model, about["region_filter"]),
    ]


def _joints_from(parameters: JointParameters) -> str:
    sources = {"parts": "surfaces", "votes": "votes", "both": "surfaces and votes"}
    return f"Joints follow from {sources[parameters.method]}{_network(parameters)}."


def _network(parameters: JointParameters) -> str:
    network = parameters.refinement
    size = 0 if network is None else sum(weight.size for weight in network.weights)
    return f", corrected by a network of {size:,} weights" if size else ""


def _facing(model: PoseModel) -> str:
    network = model.facing
    if network is None:
        return ""
    size = sum(weight.size for weight, _ in network.convolutions) + sum(weight.size for weight in network.weights)
    about = model.metadata.get("facing", {})
    of = f" ({about['people']:,} people)" if "people" in about else ""
    return (
        f"Where a pose is in doubt, a convolutional network of {size:,} weights says which way somebody"
        f" faces{_trained_on(about)}{of}."
    )


def _second_pass(model: PoseModel) -> str:
    if model.second_pass is None:
        return ""
    return (
        "Given these joints, pixels are labelled anew, and joints found from them once more"
        f"{_network(model.second_pass.joint_parameters)}{_trained_on(about_second_pass(model))}."
    )


def about_second_pass(model: PoseModel) -> Mapping[str, Any]:
    """Its history; a program that knows no second pass may have kept that alone."""
    return {} if model.second_pass is None else model.metadata.get("second_pass", {})


def _segmentation(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.segmentation is None:
        return ""
    nodes = sum(tree.n_nodes for tree in model.segmentation.trees)
    return f"People in whole frames are found by a segmentation forest of {nodes:,} nodes{_trained_on(about)}."


def _background(about: Mapping[str, Any]) -> str:
    """How the weight of class 0 was found, by `posepipe.training.fit_background_weight`."""
    if not about:
        return ""
    return (
        f"In {about['candidates']:,} candidates of people, of {about['frames']:,} frames (content {about['identity']}),"
        f" class 0 has a share of {about['share']:.3f} of the pixels; before it was weighed, its mean probability was"
        f" {about['mean_probability']:.3f}."
    )


def _person_filter(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.person_classifier is None:
        return ""
    trees = len(model.person_classifier.trees.roots)
    of = f" ({about['people']:,} people among {about['candidates']:,} candidates)" if "people" in about else ""
    judged = f"Candidates are judged by a person filter of {trees} trees{_trained_on(about)}{of}."
    minimum = model.person_classifier.min_probability
    if minimum != MIN_PROBABILITY:
        judged += f" It takes them for people from a probability of {minimum:g} on."
    return judged + _left_out(about["left_out"], about.get("folds_of")) if about.get("left_out") else judged


def _view_choice(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.view_choice is None:
        return ""
    of = f" ({about['people']:,} choices)" if "people" in about else ""
    chosen = (
        f"Among rotated views of people who lie, bend or are upside down, {len(model.view_choice.trees.roots)} trees"
        f" choose{_trained_on(about)}{of}."
    )
    if not about.get("left_out"):
        return chosen
    unseen = _unseen(about.get("folds_of"))
    shares = about["left_out"]
    return chosen + (
        f" On {unseen}, {shares['right']:.3f} of these people's visible joints are right at first, instead of"
        f" {shares['by_rule']:.3f} by the rule of models without such trees, and {shares['at_best']:.3f} at best."
    )


def _region_filter(model: PoseModel, about: Mapping[str, Any]) -> str:
    if model.region_classifier is None:
        return ""
    trees = len(model.region_classifier.trees.roots)
    of = f" ({about['people']:,} of somebody new among {about['regions']:,})" if "people" in about else ""
    return f"Regions of candidates are judged by a region filter of {trees} trees{_trained_on(about)}{of}."


def _unseen(folds_of: str | None) -> str:
    return "thirds of these datasets that were left out in turn" if folds_of == "frames" else "datasets left out"


def _left_out(point: Mapping[str, float], folds_of: str | None) -> str:
    """Describe a filter on frames that it has not seen, the `OperatingPoint` of the training."""
    return (
        f" At a probability of {point['min_probability']:.2f}, on {_unseen(folds_of)}, it accepts {point['found']:.3f}"
        f" of the candidates that are people, and somebody in {point['false_frames']:.3f} of the frames without people."
    )


def _trained_on(about: Mapping[str, Any]) -> str:
    if "frames" not in about:
        return ""
    took = f" in {duration(about['seconds'])}" if "seconds" in about else ""
    return (
        f", trained on {count(about['frames'])} frames (content {about['identity']}){took} by posepipe"
        f" {about['source_revision']}"
    )


def count(number: int | None) -> str:
    """Format a number of things; nothing where it is not known."""
    return "" if number is None else f"{number:,}"


def duration(seconds: float | None) -> str:
    """Format a duration in seconds or minutes; nothing where it is not known."""
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
