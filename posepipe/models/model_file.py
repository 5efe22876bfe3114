"""Model file: one `.npz` of named, versioned sections and a JSON header, never pickled.

Arrays are named ``SECTION/NAME``. The header lists the sections with their versions, the body definition, the rules
of the probes and the metadata of the model. A reader ignores an unknown section, unless the header marks it as
required. New sections therefore need no new format. Files of versions 1 to 4, without sections, still load.
docs/reference/formats.md describes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.facing.facing_network import FacingNetwork
from posepipe.io.files import disk_errors
from posepipe.io.limits import max_model_bytes
from posepipe.io.npz import npz_names, read_npz, write_npz
from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import forest_from_arrays, forest_to_arrays
from posepipe.learn.depth.probes.probe_rules import ProbeRules
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.models.durations import split_durations, with_durations, write_durations
from posepipe.models.sections.boosted_sections import (
    classifier_from_arrays,
    classifier_to_arrays,
    region_classifier_from_arrays,
    region_classifier_to_arrays,
    view_choice_from_arrays,
    view_choice_to_arrays,
)
from posepipe.models.sections.facing_sections import facing_from_arrays, facing_to_arrays
from posepipe.models.sections.joint_sections import (
    joints_from_arrays,
    joints_to_arrays,
    refinement_from_arrays,
    refinement_to_arrays,
)
from posepipe.models.sections.second_pass_sections import second_pass_from_arrays, second_pass_to_arrays
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_segmentation import SEGMENTS
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.views.view_choice import ViewChoice

FORMAT = "posepipe-forest"
VERSION = 5
"""Version 5 has sections. Version 1 has no votes, 2 no symmetric forests, 3 no refinement of joints."""
SECTIONS = {
    "forest": 2,
    "votes": 2,
    "joints": 1,
    "refinement": 2,
    "segmentation": 2,
    "person_filter": 1,
    "relabelling": 1,
    "second_joints": 1,
    "second_refinement": 2,
    "view_choice": 1,
    "region_filter": 1,
    "facing": 1,
}
"""Sections that this program reads and writes, each with its version."""
_STRUCTURE = ("format", "version", "sections", "body", "probes", "trees", "joints_from", "symmetric")
_VOTE_ARRAYS = ("node_of_leaf", "n_votes", "joint", "offset", "weight")
_DENSE_VOTE_ARRAYS = ("node_of_leaf", "offsets", "weights")  #: of version 1 of the section
_OLD_NAMES = {"refine_certainty": "refinement/fusion_weights"}
_OLD_PREFIXES = {"votes_": "votes/", "joints_": "joints/", "refine_": "refinement/"}


class StoredModel(NamedTuple):
    """Content of a model file."""

    forest: DepthForest
    joint_parameters: JointParameters
    votes: tuple[LeafVotes, ...]  #: one a tree, or none
    metadata: dict[str, Any]  #: history and figures: the header without the fields that describe the file
    segmentation: DepthForest | None = None  #: finds people in whole frames
    person_classifier: PersonClassifier | None = None  #: of the person filter
    second_pass: SecondPassParameters | None = None
    view_choice: ViewChoice | None = None
    region_classifier: RegionClassifier | None = None  #: of the region filter
    facing: FacingNetwork | None = None


def write_model(path: str | Path, model: StoredModel) -> None:
    """Write a model file in one step, and its durations beside it; an interrupted write leaves no partial file."""
    forest, parameters = model.forest, model.joint_parameters
    sections = {
        "forest": forest_to_arrays(forest),
        "votes": {f"{name}_{k}": getattr(own, name) for k, own in enumerate(model.votes) for name in _VOTE_ARRAYS},
        "joints": joints_to_arrays(parameters),
        "refinement": refinement_to_arrays(parameters.refinement),
        "person_filter": classifier_to_arrays(model.person_classifier),
        "segmentation": {} if model.segmentation is None else forest_to_arrays(model.segmentation),
        **second_pass_to_arrays(model.second_pass),
        "view_choice": view_choice_to_arrays(model.view_choice),
        "region_filter": region_classifier_to_arrays(model.region_classifier),
        "facing": facing_to_arrays(model.facing),
    }
    metadata, durations = split_durations(model.metadata)
    header = {
        **metadata,
        "format": FORMAT,
        "version": VERSION,
        "sections": {name: {"version": SECTIONS[name]} for name, arrays in sections.items() if arrays},
        "body": forest.body.to_dict(),
        "probes": forest.probes.to_dict(),
        "trees": len(forest.trees),
        "joints_from": parameters.method,
        "symmetric": forest.symmetric,
    }
    arrays = {f"{section}/{name}": array for section, own in sections.items() for name, array in own.items()}
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_npz(path, {"header": np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays})
    write_durations(path, durations)


def is_model_file(path: str | Path) -> bool:
    """Whether a file is a zip that contains the header and the trees of a model; it may still be damaged."""
    names = npz_names(path)
    return "header" in names and bool({"feature_0", "forest/feature_0"} & names)


def read_model(path: str | Path) -> StoredModel:
    """Read a model file of any version.

    Raises
    ------
    FormatError
        When it is missing, truncated, of a newer version, or its sections do not match.
    """
    path = Path(path)
    arrays = read_npz(path, "a posepipe model", limit=max_model_bytes)
    try:
        header = json.loads(arrays.pop("header").tobytes().decode())
        _check_header(path, header)
        _check_sections(path, header)
        sections = _by_section(arrays, header["version"])
        arrays.clear()  # a section is let go as soon as it is read: the arrays of a model take as much memory again
        body = BodyDefinition.from_dict(header["body"])
        votes = _read_votes(sections.pop("votes"), header["trees"], body)
        symmetric = header.get("symmetric", False) is True
        probes = ProbeRules.from_dict(header["probes"])
        forest = forest_from_arrays(sections.pop("forest"), header["trees"], body, symmetric, probes)
        refinement = refinement_from_arrays(sections["refinement"])
        method = header.get("joints_from", "parts")
        parameters = joints_from_arrays(sections["joints"], method, refinement, body)
        metadata = with_durations(path, {name: value for name, value in header.items() if name not in _STRUCTURE})
        segmentation = _read_segmentation(sections["segmentation"])
        classifier = classifier_from_arrays(sections["person_filter"], body)
        second_pass = second_pass_from_arrays(sections, body)
        boosted = (
            view_choice_from_arrays(sections["view_choice"], body),
            region_classifier_from_arrays(sections["region_filter"], body),
        )
        facing = facing_from_arrays(sections["facing"])
        return StoredModel(forest, parameters, votes, metadata, segmentation, classifier, second_pass, *boosted, facing)
    except KeyError as error:
        raise FormatError(path, f"not a posepipe model: it lacks {error}") from None
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(path, f"a damaged posepipe model: {error}") from None


def _check_header(path: Path, header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(path, f"not a posepipe model: its header does not say {FORMAT!r}")
    if header["version"] > VERSION:
        raise FormatError(path, f"model version {header['version']}, this posepipe reads up to {VERSION}; update it")
    if not 1 <= header["trees"] <= 1000:
        raise FormatError(path, f"wanted 1 to 1000 trees, the header says {header['trees']}")
    for title, own in header.get("figures", {}).items():
        if not isinstance(own, dict) or "headline" not in own:
            raise FormatError(path, f"figures of {title!r:.60}: wanted an object with a headline, got {own!r:.60}")


def _check_sections(path: Path, header: Mapping[str, Any]) -> None:
    """Raise FormatError for a required section that is unknown, or a section of a newer version."""
    for name, section in header.get("sections", {}).items():
        known = SECTIONS.get(name)
        if known is None and section.get("required", False):
            raise FormatError(
                path, f"the model needs its section {name!r}, which this posepipe does not know; update it"
            )
        if known is not None and section["version"] > known:
            raise FormatError(
                path, f"section {name!r} of version {section['version']}, this posepipe reads up to {known}; update it"
            )


def _by_section(arrays: Mapping[str, np.ndarray], version: int) -> dict[str, dict[str, np.ndarray]]:
    """Group arrays by section and name; unknown sections are ignored."""
    sections: dict[str, dict[str, np.ndarray]] = {name: {} for name in SECTIONS}
    for stored, array in arrays.items():
        section, _, name = (stored if version >= 5 else _name_since_5(stored)).partition("/")
        if section in sections:
            sections[section][name] = array
    return sections


def _name_since_5(name: str) -> str:
    """Name since version 5 of an array of an older file."""
    if name in _OLD_NAMES:
        return _OLD_NAMES[name]
    for old, new in _OLD_PREFIXES.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name if name == "header" else f"forest/{name}"


def _read_votes(arrays: Mapping[str, np.ndarray], n_trees: int, body: BodyDefinition) -> tuple[LeafVotes, ...]:
    if not arrays:
        return ()
    trees = range(n_trees)
    if "weights_0" in arrays:
        return tuple(LeafVotes.from_dense(*(arrays[f"{name}_{k}"] for name in _DENSE_VOTE_ARRAYS)) for k in trees)
    n_joints = len(body.joints)
    return tuple(LeafVotes(**{name: arrays[f"{name}_{k}"] for name in _VOTE_ARRAYS}, n_joints=n_joints) for k in trees)


def _read_segmentation(arrays: Mapping[str, np.ndarray]) -> DepthForest | None:
    if not arrays:
        return None
    n_trees = sum(name.startswith("feature_") for name in arrays)
    return forest_from_arrays(arrays, n_trees, SEGMENTS, symmetric=False)
