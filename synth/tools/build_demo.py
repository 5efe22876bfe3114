"""Renders the recording of `posepipe demo`: one person walks past a Kinect v1, with the truth.

    python -m synth.tools.build_demo apps/data/walk.mcap

The body is one that training never saw; poses of this clip are among the training poses.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from posepipe.body import HUMAN
from posepipe.frames import LabelledFrame
from posepipe.recording import RecordingWriter
from synth.motion.poses.clips import Motion, embedded_motion, embedded_pose_bank
from synth.recipe import Recipe
from synth.render.render_frame import shoot
from synth.scene.placement import Placement, View
from synth.scene.subjects import Figure, People
from synth.sensors.sensor_noise import SensorPreset, sensor_preset

MOTION = "humanoid3d_walk"
FRAMES = 60
SEED = 60217
SENSOR = "kinect-v1-320"
YAW_DEG = 35.0
"""Towards the camera and past it."""
START_M = 3.4
ASIDE_WIDTHS = -0.15
"""Of the image, from its centre."""
CAMERA_HEIGHT_M, AIM_HEIGHT_M = 1.3, 0.95


def render_motion(motion: Motion, sensor: SensorPreset, seed: int) -> Iterator[LabelledFrame]:
    """Frames of one dressed person who moves before a camera that stands still."""
    rng = np.random.default_rng(seed)
    people = People(Recipe(poses="all"), embedded_pose_bank())
    person = people.dressed(rng)
    view: View | None = None
    for index in range(min(FRAMES, len(motion.rotations))):
        figure = _moved(people.posed(person, motion.rotations[index], rng), motion.root_m[index])
        if view is None:
            placement = Placement(
                yaw_rad=np.radians(YAW_DEG),
                distance_m=START_M,
                aside_m=ASIDE_WIDTHS * sensor.width / sensor.intrinsics.fx * START_M,
                camera_height_m=CAMERA_HEIGHT_M,
                pitch_rad=np.arctan2(CAMERA_HEIGHT_M - AIM_HEIGHT_M, START_M),
                roll_rad=0.0,
            )
            view = placement.view(figure.root_m, figure.floor_y_m)
        yield shoot([figure], [view], [], HUMAN, sensor, True, index, rng)


def _moved(figure: Figure, step_m: np.ndarray) -> Figure:
    mesh = replace(figure.mesh, vertices_m=figure.mesh.vertices_m + step_m)
    return Figure(mesh, figure.joints_m + step_m, figure.root_m + step_m)


def main() -> None:
    parser = argparse.ArgumentParser(description="Render the recording of posepipe demo.")
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    sensor = sensor_preset(SENSOR)
    out.parent.mkdir(parents=True, exist_ok=True)
    with RecordingWriter(out, sensor.intrinsics, sensor.height, sensor.width, body=HUMAN) as writer:
        for frame in render_motion(embedded_motion(MOTION), sensor, SEED):
            writer.write(frame)
    print(f"{writer.frame_count} frames, {out.stat().st_size / 1e6:.2f} MB -> {out}")


if __name__ == "__main__":
    main()
