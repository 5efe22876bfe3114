"""Small files in the layout of ITOP: rendered people in rooms, with ITOP's intrinsics and label files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from posepipe.body import HUMAN
from posepipe.frames import LabelledFrame
from posepipe.sources.formats.itop.itop import INTRINSICS, JOINTS
from synth.sensors.sensor_presets import PRESETS
from tests.support.rendered_people import recipe_of, renderer_of


@cache
def people_in_rooms(count: int = 4) -> tuple[LabelledFrame, ...]:
    """One person per frame, two to three metres away, facing the camera."""
    sensor = replace(PRESETS["kinect-v1-320"], intrinsics=INTRINSICS)
    recipe = recipe_of(
        seed=5, sensor=sensor, distance_m=(2.0, 3.0), camera_height_m=(1.0, 1.5), facing_share=1.0, room_share=1.0,
        lateral_offset=(-0.1, 0.1), relax_share=1.0, random_rotation_share=0.0,
    )  # fmt: skip
    renderer = renderer_of(recipe)
    return tuple(renderer.render(index) for index in range(count))


def itop_arrays(frames: tuple[LabelledFrame, ...]) -> tuple[dict, dict]:
    """Arrays of the depth file and of the label file, by name; every frame is valid."""
    columns = [HUMAN.joint_index(joint) for joint in JOINTS]
    joints_m = np.stack([frame.joints_m[0, columns] for frame in frames]) * [1, -1, 1]  # ITOP's y is up
    pixels = INTRINSICS.project(joints_m * [1, -1, 1])[..., ::-1]
    ids = np.array([f"05_{index:05d}".encode() for index in range(len(frames))])
    depth = {"id": ids, "data": np.stack([frame.depth.depth_m for frame in frames]).astype(np.float16)}
    labels = {
        "id": ids,
        "is_valid": np.ones(len(frames), np.uint8),
        "visible_joints": np.stack([frame.visible[0, columns] for frame in frames]).astype(np.int16),
        "image_coordinates": np.rint(pixels).astype(np.int16),
        "real_world_coordinates": joints_m.astype(np.float16),
        "segmentation": np.stack([np.where(frame.people == 1, 3, -1) for frame in frames]).astype(np.int8),
    }
    return depth, labels


def write_itop(folder: Path, depth: dict, labels: dict | None, name: str = "ITOP_side_test") -> Path:
    """Write both files and return the path of the depth. None leaves out an array."""
    import h5py

    for end, arrays in (("depth_map", depth), ("labels", labels)):
        if arrays is not None:
            with h5py.File(folder / f"{name}_{end}.h5", "w") as file:
                for key, array in arrays.items():
                    if array is not None:
                        file[key] = array
    return folder / f"{name}_depth_map.h5"
