"""A second camera before the same scene: the first one, moved along a circle around what it looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import Extrinsics
from synth.geometry.mesh import Mesh
from synth.scene.placement import Placement, rotation_about

_TO_Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""From the world axes of `synth.scene.placement`, y up, to those of results, z up."""
STANDS = 8
"""Places on the circle that stand for all of it."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """Position of a camera on the circle around the middle of a scene; 0 is the camera that the scene was drawn for.

    World axes have their origin below the camera, as in `synth.scene.placement`. An orbit converts places and meshes
    from those of the first camera to those of the moved one.
    """

    angle_rad: float  #: about the vertical; positive moves the camera to its right
    radius_m: float  #: distance along the floor from the camera to the middle

    def place(self, placement: Placement) -> Placement:
        """Return the placement of a subject before the moved camera."""
        lateral_m, depth_m = placement.floor_place_m
        x, _, z = self._moved(np.array([[lateral_m, 0.0, depth_m]]))[0]
        return replace(
            placement, yaw_rad=placement.yaw_rad - self.angle_rad, distance_m=float(-z), lateral_offset_m=float(x)
        )

    def mesh(self, mesh: Mesh) -> Mesh:
        """Return a room or its contents in the world axes of the moved camera."""
        return replace(mesh, vertices_m=self._moved(mesh.vertices_m))

    def extrinsics(self, camera: Placement) -> Extrinsics:
        """Pose of the moved camera: z up, the floor at 0, the origin below the first camera.

        Parameters
        ----------
        camera : Placement
            Any placement before the camera: height, pitch and roll are used.
        """
        turn = rotation_about("y", self.angle_rad)
        position_m = turn @ (camera.camera_m - self._middle_m) + self._middle_m
        return Extrinsics(_TO_Z_UP @ turn @ camera.world_view().rotation.T, _TO_Z_UP @ position_m)

    def stands_m(self) -> list[np.ndarray]:
        """Places (x, z) on the circle, first camera's world axes, metres: a room around them has space for cameras."""
        turns = np.linspace(0, 2 * np.pi, STANDS, endpoint=False)
        return [self.radius_m * np.array([np.sin(turn), np.cos(turn) - 1]) for turn in turns]

    @property
    def _middle_m(self) -> np.ndarray:
        return np.array([0.0, 0.0, -self.radius_m])

    def _moved(self, points_m: np.ndarray) -> np.ndarray:
        return (points_m - self._middle_m) @ rotation_about("y", -self.angle_rad).T + self._middle_m
