"""Trained model of one body: forest, leaf votes, joint parameters and metadata; immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.facing.facing_network import FacingNetwork
from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.depth.voting_forest import VotingForest
from posepipe.models.model_file import StoredModel, read_model, write_model
from posepipe.models.registry import model_path
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_segmentation import SEGMENTS, PersonSegmentation
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.views.view_choice import ViewChoice


@dataclass(frozen=True, slots=True, eq=False)
class PoseModel:
    """Forest, leaf votes, joint parameters and metadata of one model. Immutable: training returns a new one.

    Raises
    ------
    ValueError
        When votes, segmentation or second pass do not match the forest's body, or the joint parameters need votes and
        there are none.

    Examples
    --------
    >>> from posepipe import PoseModel
    >>> model = PoseModel.load("person")
    >>> model.body.name, len(model.body.joints), len(model.forest.trees)
    ('human', 20, 3)
    """

    forest: DepthForest  #: labels pixels with body parts
    joint_parameters: JointParameters  #: of mean shift, prior and refinement
    votes: tuple[LeafVotes, ...] = ()  #: one a tree, or none
    metadata: Mapping[str, Any] = field(default_factory=dict)  #: history and figures, plain data; read-only
    segmentation: DepthForest | None = None  #: finds people in whole frames; None = planes and components alone do
    person_classifier: PersonClassifier | None = None  #: of the person filter; None = class 0 of the forest decides
    second_pass: SecondPassParameters | None = None  #: None = the first pose, and the forest's labels, are kept
    view_choice: ViewChoice | None = None  #: chooses among rotated views; None = a rule does
    region_classifier: RegionClassifier | None = None  #: of the region filter; None = bounds decide
    facing: FacingNetwork | None = None  #: None = labels alone say which way somebody faces

    def __post_init__(self) -> None:
        if len(self.votes) not in (0, len(self.forest.trees)):
            raise ValueError(
                f"a forest of {len(self.forest.trees)} trees needs votes for each or none, got {len(self.votes)}"
            )
        for tree, own in zip(self.forest.trees, self.votes, strict=False):
            own.check(tree.n_leaves, len(self.body.joints))
        if self.joint_parameters.method != "parts" and not self.votes:
            method = self.joint_parameters.method
            raise ValueError(f"joints from {method!r} need votes, and this model has none; give frames to fit them to")
        if self.segmentation is not None and self.segmentation.body != SEGMENTS:
            raise ValueError(f"a segmentation has the classes {', '.join(SEGMENTS.parts)}, not those of a body")
        if self.second_pass is not None:
            self.second_pass.relabelling.check(self.body)
            if self.second_pass.joint_parameters.method != "parts":
                raise ValueError("a second pass finds joints from parts: its labels are new, and votes are not")
        object.__setattr__(self, "votes", tuple(self.votes))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __reduce__(self) -> tuple[type[PoseModel], tuple[Any, ...]]:
        """Metadata as a plain dictionary, for worker processes: a read-only one cannot be sent."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return type(self), tuple((own | {"metadata": dict(self.metadata)}).values())

    @classmethod
    def of(cls, forest: DepthForest) -> PoseModel:
        """Make a model from a forest alone: untrained joint parameters, no votes."""
        return cls(forest, JointParameters.default(forest.body))

    @property
    def body(self) -> BodyDefinition:
        """Body definition of the forest."""
        return self.forest.body

    def classifier(self) -> VotingForest:
        """Make a classifier from the forest and its votes."""
        return VotingForest(self.forest, self.votes)

    def person_segmentation(self) -> PersonSegmentation | None:
        """Make the stage that finds people in whole frames; None for a model without one."""
        return None if self.segmentation is None else PersonSegmentation(self.segmentation)

    def with_metadata(self, **fields: Any) -> PoseModel:
        """Return the model with some fields of its metadata added or replaced; None removes a field."""
        merged = {**self.metadata, **fields}
        return replace(self, metadata={name: value for name, value in merged.items() if value is not None})

    def save(self, path: str | Path) -> None:
        """Write the model file in one step."""
        write_model(path, StoredModel(*(getattr(self, name) for name in StoredModel._fields)))

    @classmethod
    def load(cls, model: str | Path) -> PoseModel:
        """Read a shipped model, by name, or a model file.

        Raises
        ------
        PosepipeError
            When no model has that name or path.
        FormatError
            When the file is no model, or its sections do not match.
        """
        path = model_path(model)
        try:
            return cls(*read_model(path))
        except ValueError as error:
            raise FormatError(path, f"a damaged posepipe model: {error}") from None
