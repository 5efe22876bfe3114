"""Render the recording of `posepipe bench`: one person, cut out, walks past a Kinect v1, with the truth.

    python -m synth.tools.build_cut_out apps/data/cut_out.mcap

The body is not in the training data; poses of this clip are.
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
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.poses.clips import Motion, embedded_motion, embedded_pose_bank
from synth.recipe import ClothingRecipe, PoseRecipe
from synth.scene.placement import Placement
from synth.scene.scene import PlacedSubject, Scene, place_subject
from synth.scene.subjects import People, Subject
from synth.sensors.sensor_noise import SensorPreset, sensor_preset

MOTION = "humanoid3d_walk"
FRAMES = 60
SEED = 60217
SENSOR = "kinect-v1-320"
YAW_DEG = 35.0
"""Of the walk: towards the camera and past it."""
START_M = 3.4
LATERAL_OFFSET = -0.15
"""From the centre of the image, in image widths."""
CAMERA_HEIGHT_M, AIM_HEIGHT_M = 1.3, 0.95


def render_motion(motion: Motion, sensor: SensorPreset, seed: int) -> Iterator[LabelledFrame]:
    """Render frames of one dressed person who walks before a camera that does not move."""
    rng = np.random.default_rng(seed)
    people = People(PoseRecipe(poses="all"), ClothingRecipe(), embedded_pose_bank())
    person = people.dressed(rng)
    first: PlacedSubject | None = None
    for index in range(min(FRAMES, len(motion.rotations))):
        subject = _moved(people.posed(person, motion.rotations[index], rng), motion.root_m[index])
        if first is None:
            placement = Placement(
                yaw_rad=np.radians(YAW_DEG),
                distance_m=START_M,
                lateral_offset_m=LATERAL_OFFSET * sensor.width / sensor.intrinsics.fx * START_M,
                camera_height_m=CAMERA_HEIGHT_M,
                pitch_rad=np.arctan2(CAMERA_HEIGHT_M - AIM_HEIGHT_M, START_M),
                roll_rad=0.0,
            )
            first = place_subject(subject, placement)
        scene = Scene((replace(first, subject=subject),))  # the person walks in their own axes
        yield render_labelled_frame(scene, HUMAN, Sensing(sensor), index, rng)


def _moved(subject: Subject, step_m: np.ndarray) -> Subject:
    mesh = replace(subject.mesh, vertices_m=subject.mesh.vertices_m + step_m)
    return replace(
        subject,
        mesh=mesh,
        joints_m=subject.joints_m + step_m,
        root_m=subject.root_m + step_m,
        skin_m=subject.skin_m + step_m,
    )


def main() -> None:
    """Render the recording from the command line."""
    parser = argparse.ArgumentParser(description="Render the recording of posepipe bench.")
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
