"""A scene: subjects at their places before one camera, the furniture they rest on, and the room around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synth.geometry.mesh import Mesh
from synth.scene.placement import Placement, ViewTransform
from synth.scene.subjects import Subject


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSubject:
    """A subject, its place before the camera, and what it rests on."""

    subject: Subject
    placement: Placement
    view: ViewTransform  #: from the subject's axes to the camera's
    furniture: Mesh | None = None  #: a seat or bed in the subject's axes; None = it stands, or rests on the floor

    @property
    def reach_m(self) -> float:
        """Largest distance from the root along the floor: everything else in a room stays clear of it."""
        root_m = self.subject.root_m
        meshes = _meshes(self.subject, self.furniture)
        return max(float(np.hypot(*(mesh.vertices_m - root_m)[:, [0, 2]].T).max()) for mesh in meshes)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What one camera sees.

    All placements have the same camera. Without a room only subjects show, cut out from the background. Furniture
    still lifts them to its height then.

    Raises
    ------
    ValueError
        Without any subject.
    """

    subjects: tuple[PlacedSubject, ...]  #: the k-th has the id k + 1
    room: Mesh | None = None  #: floor, walls and what stands there, world axes
    contents: Mesh | None = None  #: models of furniture in the room, world axes
    deserted: bool = False  #: the subjects have left, and what they rested on shows

    def __post_init__(self) -> None:
        if not self.subjects:
            raise ValueError("a scene needs at least one subject, got none")

    @property
    def shown(self) -> tuple[PlacedSubject, ...]:
        """Return the subjects that are in the picture."""
        return () if self.deserted else self.subjects

    @property
    def camera(self) -> ViewTransform:
        """Transform from world axes to the camera's."""
        return self.subjects[0].placement.world_view()


def place_subject(subject: Subject, placement: Placement, furniture: Mesh | None = None) -> PlacedSubject:
    """Put a subject at a place, its lowest point, or that of its furniture, on the floor."""
    view = placement.view(subject.root_m, floor_y_m(subject, furniture))
    return PlacedSubject(subject, placement, view, furniture)


def floor_y_m(subject: Subject, furniture: Mesh | None = None) -> float:
    """Return the height of the floor in a subject's axes: of its lowest point, or of its furniture's."""
    return min(float(mesh.vertices_m[:, 1].min()) for mesh in _meshes(subject, furniture))


def _meshes(subject: Subject, furniture: Mesh | None) -> list[Mesh]:
    return [subject.mesh] if furniture is None else [subject.mesh, furniture]
