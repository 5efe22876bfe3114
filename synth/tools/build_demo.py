"""Render the recording of `posepipe demo`: somebody walks into a furnished room, waves, squats and sits down.

    python -m synth.tools.build_demo apps/data/demo.mcap

The body is not in the training data; neither are the curves of the exercises, nor the room.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from posepipe.body import HUMAN
from posepipe.frames import LabelledFrame
from posepipe.recording import RecordingWriter
from synth.exercise_sequences import with_chair
from synth.geometry.mesh import Mesh
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.exercises import EXERCISES
from synth.motion.poses.clips import embedded_motion, embedded_pose_bank
from synth.motion.poses.pose_variation import without_heading
from synth.recipe import ClothingRecipe, MaterialRecipe, PoseRecipe, SceneRecipe
from synth.scene.furnished_room import build_furnished_room
from synth.scene.placement import Placement
from synth.scene.scene import PlacedSubject, Scene, place_subject
from synth.scene.seats.furnishings import furnishings_of
from synth.scene.seats.model_seats import draw_model_seat
from synth.scene.subjects import DressedPerson, People, Subject
from synth.sensors.sensor_noise import sensor_preset

FPS = 12
"""Below the rate of a camera, for a small file."""
SEED, ROOM_SEED, PERSON_SEED = 7, 20, 60217
SENSOR = "kinect-v1-320"
WALK_S, BLEND_S = 1.9, 0.35
WALK_FROM_M, STANDS_M, SITS_M = np.array([-2.0, 3.1]), np.array([-0.1, 2.75]), np.array([-0.1, 3.1])
"""Places on the floor: to the camera's right, and ahead of it."""
FACING_DEG = 12.0
"""Direction of the exercises; 0 faces the camera."""
SHOWN_S = {"wave": 2.1, "squat": 2.2, "sit down": 1.9}
"""Exercise -> how much of it is shown."""
CAMERA_HEIGHT_M, AIM_HEIGHT_M = 1.35, 0.85
ROOM = SceneRecipe(
    room_share=1.0,
    model_share=1.0,
    density=(0.95, 0.95),
    wall_fitting_share=1.0,
    things_share=1.0,
    model_seat_share=1.0,
)
MATERIAL = MaterialRecipe(infrared_share=1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What the person does in T frames."""

    rotations: np.ndarray  #: float32 (T, 20, 4), global rotation of each bone, without heading
    floor_m: np.ndarray  #: float64 (T, 2), metres: to the camera's right, and ahead of it
    yaw_deg: np.ndarray  #: float64 (T,), about the vertical; 0 faces the camera

    def then(self, other: Action) -> Action:
        """Let another action follow, its first frames blended with the last one of this."""
        count = min(round(BLEND_S * FPS), len(other.rotations))
        share = (np.arange(count) + 1) / (count + 1)
        ease = share**2 * (3 - 2 * share)
        rotations = other.rotations.copy()
        for bone in range(rotations.shape[1]):
            for time in range(count):
                ends = Rotation.from_quat([self.rotations[-1, bone], other.rotations[time, bone]])
                rotations[time, bone] = Slerp([0, 1], ends)(ease[time]).as_quat()
        floor_m, yaw_deg = other.floor_m.copy(), other.yaw_deg.copy()
        floor_m[:count] = self.floor_m[-1] + ease[:, None] * (floor_m[:count] - self.floor_m[-1])
        yaw_deg[:count] = self.yaw_deg[-1] + ease * (yaw_deg[:count] - self.yaw_deg[-1])
        return Action(
            np.concatenate([self.rotations, rotations]),
            np.concatenate([self.floor_m, floor_m]),
            np.concatenate([self.yaw_deg, yaw_deg]),
        )


def act(people: People, person: DressedPerson, rng: np.random.Generator) -> Action:
    """Walk into the image, turn to the camera, and do the exercises."""
    walk = _walk()
    for name, shown_s in SHOWN_S.items():
        curves = EXERCISES[name](np.arange(round(shown_s * FPS)) / FPS, rng)
        rotations = people.poses_by_angles(person, curves.angles_deg)
        place = SITS_M if name == "sit down" else STANDS_M
        walk = walk.then(Action(rotations, np.tile(place, (len(rotations), 1)), np.full(len(rotations), FACING_DEG)))
    return walk


def _walk() -> Action:
    motion, count = embedded_motion("humanoid3d_walk"), round(WALK_S * FPS)
    rows = np.round(np.arange(count) * motion.fps / FPS).astype(int) % len(motion.rotations)
    path_m = WALK_FROM_M + np.linspace(0, 1, count)[:, None] * (STANDS_M - WALK_FROM_M)
    ahead = STANDS_M - WALK_FROM_M
    yaw_deg = np.degrees(np.arctan2(ahead[0], -ahead[1]))
    return Action(without_heading(motion.rotations[rows]), path_m, np.full(count, yaw_deg))


def render_demo() -> Iterator[LabelledFrame]:
    """Render the frames of the recording."""
    sensor, rng = sensor_preset(SENSOR), np.random.default_rng(PERSON_SEED)
    people = People(PoseRecipe(poses="all"), ClothingRecipe(), embedded_pose_bank())
    person = people.dressed(rng)
    action = act(people, person, rng)
    placed = [_placed(people, person, action, time) for time in range(len(action.rotations))]
    shell, contents = _room(placed)
    for time, subject in enumerate(placed):
        scene = Scene((subject,), shell, contents)
        noise, still = np.random.default_rng([SEED, time]), np.random.default_rng([SEED, 0, 1])
        frame = render_labelled_frame(scene, HUMAN, Sensing(sensor, material=MATERIAL), time, noise, still)
        yield replace(frame, depth=replace(frame.depth, timestamp_s=time / FPS))


def _placed(people: People, person: DressedPerson, action: Action, time: int) -> PlacedSubject:
    subject = people.posed(person, action.rotations[time], np.random.default_rng(SEED))
    lateral_m, distance_m = action.floor_m[time]
    pitch = float(np.arctan2(CAMERA_HEIGHT_M - AIM_HEIGHT_M, STANDS_M[1]))
    yaw = np.radians(action.yaw_deg[time])
    return place_subject(_on_ankles(subject), Placement(yaw, distance_m, lateral_m, CAMERA_HEIGHT_M, pitch, 0.0))


def _on_ankles(subject: Subject) -> Subject:
    """The subject with the middle of its ankles as its root, which stays in place while it exercises."""
    rows = [HUMAN.joint_index(f"{side}_ankle") for side in ("left", "right")]
    return replace(subject, root_m=subject.joints_m[rows].mean(axis=0))


def _room(placed: list[PlacedSubject]) -> tuple[Mesh, Mesh | None]:
    """Room around all that the person does, with a chair under where they sit."""
    furnishings, rng = furnishings_of(ROOM), np.random.default_rng(ROOM_SEED)
    assert furnishings is not None
    points = np.concatenate([_in_world(each, each.subject.mesh.vertices_m[::20]) for each in placed[::2]])
    seated = placed[-1]
    seat = draw_model_seat(seated.subject.skin_m, seated.subject.joints_m, furnishings, rng)
    chair = None if seat is None else replace(seat, vertices_m=_in_world(seated, seat.vertices_m))
    taken = [] if chair is None else [chair.vertices_m]
    camera_m = seated.placement.camera_m
    shell, contents = build_furnished_room(points, taken, camera_m, ROOM, furnishings, rng)
    return shell, with_chair(contents, chair)


def _in_world(placed: PlacedSubject, points_m: np.ndarray) -> np.ndarray:
    to_world = placed.view.onto(placed.placement.world_view())
    return np.asarray(points_m @ to_world.rotation.T + to_world.translation_m)


def main() -> None:
    """Render the recording from the command line."""
    parser = argparse.ArgumentParser(description="Render the recording of posepipe demo.")
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    sensor = sensor_preset(SENSOR)
    out.parent.mkdir(parents=True, exist_ok=True)
    with RecordingWriter(out, sensor.intrinsics, sensor.height, sensor.width, body=HUMAN) as writer:
        for frame in render_demo():
            writer.write(frame)
    print(f"{writer.frame_count} frames, {out.stat().st_size / 1e6:.2f} MB -> {out}")


if __name__ == "__main__":
    main()
