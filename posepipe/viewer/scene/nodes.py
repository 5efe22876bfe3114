"""The viser scene nodes of a page: they show the arrays of a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from posepipe.camera import Extrinsics, Intrinsics
from posepipe.viewer.scene.meshes import cylinder, sphere
from posepipe.viewer.scene.result_arrays import Cloud, Skeletons, cylinder_transforms

LAYERS = ("people", "room", "joints", "bones", "axes", "ids", "trails", "grid", "camera")
"""Layers that can be shown and hidden."""
HIDDEN_AT_FIRST = ("axes",)
POINT_SIZES = {"people": 0.5, "room": 0.35}
"""Size of points relative to their spacing; points of people are small, so the skeleton stays visible."""
BONE_RADIUS_M, TRAIL_WIDTH_M, AXIS_WIDTH_M = 0.009, 0.006, 0.005
FRUSTUM_M = 0.15
"""Size of the symbol of the depth camera, metres."""
GRID_M, CELL_M = 10.0, 0.5
_CELL, _SECTION, _CAMERA = (44, 46, 50), (72, 76, 84), (190, 196, 208)
_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])  # quaternion wxyz


class SceneNodes:
    """All nodes in the scene of a page. A hidden layer is not updated.

    Parameters
    ----------
    server : the viser server
    """

    def __init__(self, server: Any) -> None:
        self._scene = server.scene
        self._hidden = set(HIDDEN_AT_FIRST)
        self._labels: dict[int, Any] = {}
        self._scene.set_up_direction("+z")
        self._scene.configure_default_lights(enabled=True, cast_shadow=False)
        self._clouds = {layer: self._cloud(f"/{layer}") for layer in POINT_SIZES}
        self.point_scale = 1.0  #: factor on the size of points
        self._joints, self._bones = self._instances("/joints", *sphere()), self._instances("/bones", *cylinder())
        self._trails, self._axes = self._segments("/trails", TRAIL_WIDTH_M), self._segments("/axes", AXIS_WIDTH_M)
        self._grid = self._scene.add_grid(
            "/grid",
            GRID_M,
            GRID_M,
            cell_size=CELL_M,
            cell_color=_CELL,
            section_color=_SECTION,
            shadow_opacity=0.0,
            visible=False,
        )
        self._camera = self._scene.add_camera_frustum(
            "/camera", 1.0, 4 / 3, scale=FRUSTUM_M, color=_CAMERA, visible=False
        )

    def _cloud(self, name: str) -> Any:
        points, colours = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint8)
        return self._scene.add_point_cloud(name, points, colours, point_shape="circle", point_shading="flat")

    def _instances(self, name: str, vertices: np.ndarray, faces: np.ndarray) -> Any:
        return self._scene.add_batched_meshes_simple(
            name,
            vertices,
            faces,
            batched_wxyzs=np.zeros((0, 4), np.float32),
            batched_positions=np.zeros((0, 3), np.float32),
            batched_scales=np.zeros((0, 3), np.float32),
            batched_colors=np.zeros((0, 3), np.uint8),
            material="toon5",  # the standard material compiles for ten seconds without a graphics card
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )

    def _segments(self, name: str, width_m: float) -> Any:
        ends, colours = np.zeros((0, 2, 3), np.float32), np.zeros((0, 2, 3), np.uint8)
        return self._scene.add_line_segments(name, ends, colours, thickness=width_m)

    def show(self, layer: str, shown: bool) -> None:
        """Show or hide one of `LAYERS`; it takes effect with the next arrays."""
        (self._hidden.discard if shown else self._hidden.add)(layer)

    def shows(self, layer: str) -> bool:
        """Whether a layer is shown."""
        return layer not in self._hidden

    def put_cloud(self, layer: str, cloud: Cloud) -> None:
        """Show the points of a layer, "people" or "room"."""
        node = self._clouds[layer]
        node.visible = self.shows(layer) and len(cloud.points_m) > 0
        if node.visible:
            node.points, node.colors = cloud.points_m, cloud.colours
            node.point_size = self.point_scale * POINT_SIZES[layer] * cloud.spacing_m

    def put_people(self, people: Skeletons) -> None:
        """Show joints, bones and ids."""
        count = len(people.joints_m)
        self._joints.visible = self.shows("joints") and count > 0
        if self._joints.visible:
            sizes_m = np.repeat(people.radii_m[:, None], 3, axis=1)
            _place(self._joints, people.joints_m, np.tile(_IDENTITY, (count, 1)), sizes_m, people.joint_colours)
        self._bones.visible = self.shows("bones") and len(people.bones_m) > 0
        if self._bones.visible:
            start_m, wxyz, length_m = cylinder_transforms(people.bones_m)
            radii_m = np.full_like(length_m, BONE_RADIUS_M)
            _place(self._bones, start_m, wxyz, np.stack([radii_m, radii_m, length_m], axis=1), people.bone_colours)
        self._put_labels(people.labels if self.shows("ids") else {})

    def _put_labels(self, labels: dict[int, np.ndarray]) -> None:
        for id in self._labels.keys() - labels.keys():
            self._labels.pop(id).remove()
        for id, position_m in labels.items():
            if id not in self._labels:
                self._labels[id] = self._scene.add_label(
                    f"/ids/{id}", str(id), font_screen_scale=1.5, anchor="bottom-center"
                )
            self._labels[id].position = position_m

    def put_trails(self, ends_m: np.ndarray, colours: np.ndarray) -> None:
        """Show trails: segments float32 (S, 2, 3), world axes, and their colours uint8 (S, 2, 3)."""
        self._put_segments("trails", self._trails, ends_m, colours)

    def put_axes(self, ends_m: np.ndarray, colours: np.ndarray) -> None:
        """Show axes of joints: segments as of trails."""
        self._put_segments("axes", self._axes, ends_m, colours)

    def _put_segments(self, layer: str, node: Any, ends_m: np.ndarray, colours: np.ndarray) -> None:
        node.visible = self.shows(layer) and len(ends_m) > 0
        if node.visible:
            node.points, node.colors = ends_m, colours

    def put_grid(self, centre_m: tuple[float, float, float] | None) -> None:
        """Show the floor grid around a point, with lines on whole metres; None hides it."""
        self._grid.visible = self.shows("grid") and centre_m is not None
        if centre_m is not None:
            self._grid.position = (round(centre_m[0]), round(centre_m[1]), centre_m[2])

    def put_camera(self, world: Extrinsics, intrinsics: Intrinsics, shape: tuple[int, int]) -> None:
        """Show position and field of view of the depth camera; ``shape`` is rows and columns of its image."""
        from viser.transforms import SO3

        self._camera.visible = self.shows("camera")
        self._camera.fov = float(2 * np.arctan2(shape[0] / 2, intrinsics.fy))
        self._camera.aspect = shape[1] / shape[0]
        self._camera.wxyz = SO3.from_matrix(world.rotation).wxyz
        self._camera.position = world.translation_m


def _place(node: Any, positions_m: np.ndarray, wxyz: np.ndarray, sizes_m: np.ndarray, colours: np.ndarray) -> None:
    node.batched_positions, node.batched_wxyzs = positions_m, wxyz
    node.batched_scales, node.batched_colors = sizes_m, colours
