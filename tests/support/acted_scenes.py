"""Rendered people who fall, sit down, bend, squat, walk and point: for the tests of the example programs.

Poses are made of the one at ease, bone by bone, in body axes: y up, facing +z, left = +x. Feet stay where they are
while the body moves about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.frames import DepthFrame
from synth.body.body_asset import load_body_asset
from synth.body.skinning import POSED_BONES
from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.geometry.quaternions import from_rotation_vector, multiply
from synth.labelled_frame import Sensing, render_labelled_frame
from synth.motion.pose_sampler import standing_pose
from synth.motion.poses.clips import embedded_motion, embedded_pose_bank
from synth.motion.poses.pose_variation import pose_between, without_heading
from synth.recipe import ClothingRecipe, PoseRecipe
from synth.scene.placement import Placement, ViewTransform
from synth.scene.scene import PlacedSubject, Scene, floor_y_m, place_subject
from synth.scene.subjects import DressedPerson, People, Subject
from synth.sensors.sensor_presets import PRESETS, SensorPreset

FPS = 12
TRUNK = tuple(bone for bone in POSED_BONES if not bone.startswith(("thigh", "calf", "foot")))
SEAT_M = 0.1
"""The seat of a chair is so far below the hips."""


def at_ease() -> np.ndarray:
    """Standing: float (20, 4), global rotations as in `synth.motion.poses.clips.PoseBank`, like all here."""
    return standing_pose(load_body_asset()).astype(float)


def turned(pose: np.ndarray, bones: Sequence[str], degrees: Sequence[float]) -> np.ndarray:
    """A pose with bones turned about a body's axes; one named without its side stands for both."""
    rows = [row for row, bone in enumerate(POSED_BONES) if bone in bones or bone[:-2] in bones]
    out = pose.copy()
    out[rows] = multiply(from_rotation_vector(np.radians(degrees)), pose[rows])
    return out


def tipped(pose: np.ndarray, degrees: Sequence[float]) -> np.ndarray:
    """The whole body turned over: (90, 0, 0) is onto the face."""
    return turned(pose, POSED_BONES, degrees)


def bent(lean_deg: float) -> np.ndarray:
    """Bowing with straight legs."""
    return turned(at_ease(), TRUNK, (lean_deg, 0, 0))


def squatting(knees_deg: float, more_right_deg: float = 0.0) -> np.ndarray:
    """Knees bent so much further than at ease, the trunk leaning and the arms ahead for balance."""
    pose = bent(0.35 * knees_deg)
    for side, knee_deg in (("l", knees_deg), ("r", knees_deg + more_right_deg)):
        pose = turned(pose, [f"thigh_{side}"], (-0.65 * knee_deg, 0, 0))
        pose = turned(pose, [f"calf_{side}"], (0.35 * knee_deg, 0, 0))
    return turned(pose, ("upperarm", "lowerarm", "hand"), (-0.8 * knees_deg, 0, 0))


def seated() -> np.ndarray:
    """On a chair, forearms ahead."""
    return turned(turned(bent(-5), ["thigh"], (-85, 0, 0)), ("lowerarm", "hand"), (-70, 0, 0))


def play(*keys: tuple[float, np.ndarray]) -> np.ndarray:
    """From pose to pose, each at its second, gently: float32 (T, 20, 4)."""
    times = np.array([time for time, _ in keys])
    poses = []
    for now in np.arange(0, times[-1] + 1e-6, 1 / FPS):
        k = int(np.clip(np.searchsorted(times, now, side="right") - 1, 0, len(keys) - 2))
        share = float(np.clip((now - times[k]) / (times[k + 1] - times[k]), 0, 1))
        poses.append(pose_between(keys[k][1], keys[k + 1][1], share**2 * (3 - 2 * share)))
    return np.array(poses, np.float32)


@dataclass(frozen=True, eq=False)
class RecordedScene:
    """Frames of one camera, and the truth."""

    frames: tuple[DepthFrame, ...]
    joints_m: np.ndarray  #: float32 (T, 20, 3), camera axes


@dataclass(frozen=True, eq=False)
class Stage:
    """One person before a camera that does not move."""

    seed: int  #: of build, clothes and noise
    yaw_deg: float = 0.0  #: 0 faces the camera
    distance_m: float = 3.2
    height_m: float = 1.6  #: of the camera
    pitch_deg: float = 14.0  #: of the camera, down is positive
    room: bool = True  #: floor and walls; without them people are cut out
    size: float = 0.5  #: of the image: 1 has 320x240 pixels

    @property
    def place(self) -> Placement:
        return Placement(np.radians(self.yaw_deg), self.distance_m, 0.0, self.height_m, np.radians(self.pitch_deg), 0.0)

    @property
    def sensor(self) -> SensorPreset:
        full = PRESETS["kinect-v1-320"]
        width, height = round(full.width * self.size), round(full.height * self.size)
        return replace(full, width=width, height=height, intrinsics=full.intrinsics.scaled(self.size))

    @cached_property
    def _dressed(self) -> DressedPerson:
        return _people().dressed(np.random.default_rng(self.seed))

    def subject(self, pose: np.ndarray) -> Subject:
        """Return the person in a pose; the same random numbers give cloth the same wrinkles."""
        return _people().posed(self._dressed, pose, np.random.default_rng(self.seed))

    def film(self, poses: np.ndarray, seat: bool = False) -> RecordedScene:
        """Record poses (T, 20, 4) in one place; with a chair, for people who end up sitting."""
        subjects = [self.subject(pose) for pose in poses]
        placed = [PlacedSubject(subject, self.place, self._standing(subject)) for subject in subjects]
        return self._record(placed, [self._chair(placed[-1])] if seat else [])

    def film_walk(self, seconds: float) -> RecordedScene:
        """Record a walk across the image, 1 m/s, from its left to its right."""
        walk = embedded_motion("humanoid3d_walk")
        times = np.arange(0, seconds, 1 / FPS)
        poses = without_heading(walk.rotations)[np.round(times * walk.fps).astype(int) % len(walk.rotations)]
        subjects = [self.subject(pose) for pose in poses]
        places = [replace(self.place, yaw_rad=np.pi / 2, lateral_offset_m=time - seconds / 2) for time in times]
        return self._record([place_subject(*each) for each in zip(subjects, places, strict=True)], [])

    def pointing(self, side: str, place_m: Sequence[float], reach: float) -> np.ndarray:
        """Hold a hand out so that shoulder, hand and a place in camera axes lie in a line.

        ``reach``: how far the hand is from the shoulder, of what a straight arm can.
        """
        ease = self.subject(at_ease())
        view = self._standing(ease)
        joints_m = [ease.joints_m[HUMAN.joint_index(f"{side}_{joint}")] for joint in ("shoulder", "elbow", "hand")]
        towards = view.rotation.T @ (np.asarray(place_m) - view.translation_m) - joints_m[0]
        return _held_out(side, joints_m, towards / np.linalg.norm(towards), reach)

    def _standing(self, subject: Subject) -> ViewTransform:
        """Transform from the axes of a body that stands on its place: the middle of its ankles is there."""
        ankles_m = subject.joints_m[[HUMAN.joint_index(f"{side}_ankle") for side in ("left", "right")]]
        return self.place.view(ankles_m.mean(axis=0), floor_y_m(subject))

    def _record(self, placed: Sequence[PlacedSubject], furniture: Sequence[Mesh]) -> RecordedScene:
        room = Mesh.join([*_walls(self.distance_m + 1.0), *furniture]) if self.room else None
        labelled = [
            render_labelled_frame(
                Scene((each,), room), HUMAN, Sensing(self.sensor), time, np.random.default_rng([self.seed, time])
            )
            for time, each in enumerate(placed)
        ]
        frames = tuple(replace(frame.depth, timestamp_s=time / FPS) for time, frame in enumerate(labelled))
        return RecordedScene(frames, np.stack([frame.joints_m[0] for frame in labelled]))

    def _chair(self, sitting: PlacedSubject) -> Mesh:
        """Seat, back and legs under a body, world axes."""
        hips = [HUMAN.joint_index("left_hip"), HUMAN.joint_index("right_hip")]
        x, hips_y, z = sitting.subject.joints_m[hips].mean(axis=0)
        top, floor = hips_y - SEAT_M, floor_y_m(sitting.subject)
        boxes = [((-0.22, top - 0.05, -0.2), (0.22, top, 0.22)), ((-0.22, top, -0.24), (0.22, top + 0.4, -0.2))]
        boxes += [((a - 0.02, floor, b - 0.02), (a + 0.02, top, b + 0.02)) for a in (-0.2, 0.2) for b in (-0.18, 0.2)]
        chair = Mesh.join([box(np.add(low, (x, 0, z)), np.add(high, (x, 0, z)), BACKGROUND) for low, high in boxes])
        world = self.place.world_view()
        vertices_m = (sitting.view.camera_points(chair.vertices_m) - world.translation_m) @ world.rotation
        return replace(chair, vertices_m=vertices_m)


@cache
def _people() -> People:
    return People(PoseRecipe(poses="all"), ClothingRecipe(wardrobe="full"), embedded_pose_bank())


def _walls(back_m: float) -> list[Mesh]:
    """A floor, the wall behind and one at the left, world axes."""
    return [
        box((-2.5, -0.1, -back_m), (3.0, 0.0, 1.0), BACKGROUND),
        box((-2.5, 0.0, -back_m - 0.1), (3.0, 2.6, -back_m), BACKGROUND),
        box((-2.6, 0.0, -back_m), (-2.5, 2.6, 1.0), BACKGROUND),
    ]


def _held_out(side: str, joints_m: Sequence[np.ndarray], ahead: np.ndarray, reach: float) -> np.ndarray:
    """Standing with one hand ahead of its shoulder along a unit vector, the elbow below the line between them."""
    upper_m, lower_m = joints_m[1] - joints_m[0], joints_m[2] - joints_m[1]
    upper, lower = float(np.linalg.norm(upper_m)), float(np.linalg.norm(lower_m))
    far = reach * (upper + lower)
    along = (far**2 + upper**2 - lower**2) / (2 * far)  # law of cosines
    down = np.array([0.0, -1.0, 0.0]) + ahead[1] * ahead
    elbow_m = along * ahead + np.sqrt(max(upper**2 - along**2, 0.0)) * down / np.linalg.norm(down)
    pose = at_ease()
    for bones, was_m, is_m in (
        ([f"upperarm_{side[0]}"], upper_m, elbow_m),
        ([f"lowerarm_{side[0]}", f"hand_{side[0]}"], lower_m, far * ahead - elbow_m),
    ):
        turn, _ = Rotation.align_vectors([is_m], [was_m])
        pose = turned(pose, bones, turn.as_rotvec(degrees=True))
    return pose
