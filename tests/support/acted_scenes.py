"""Rendered people who fall, sit down, bend, squat, walk and point: for the tests of the examples.

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
from synth.geometry.mesh import ROOM, Mesh, box
from synth.geometry.quaternions import from_rotation_vector, multiply
from synth.motion.pose_sampler import standing_pose
from synth.motion.poses.clips import embedded_motion, embedded_pose_bank
from synth.motion.poses.pose_variation import pose_between, without_heading
from synth.recipe import Recipe
from synth.render.render_frame import shoot
from synth.scene.placement import Placement, View
from synth.scene.subjects import Figure, People
from synth.sensors.presets import PRESETS, SensorPreset

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
class Film:
    """What the camera took, and the truth."""

    frames: tuple[DepthFrame, ...]
    joints_m: np.ndarray  #: float32 (T, 20, 3), camera axes


@dataclass(frozen=True, eq=False)
class Stage:
    """Somebody before a camera that stands still."""

    seed: int  #: of build, clothes and noise
    yaw_deg: float = 0.0  #: 0 faces the camera
    distance_m: float = 3.2
    height_m: float = 1.6  #: of the camera
    pitch_deg: float = 14.0  #: of the camera, down is positive
    room: bool = True  #: floor and walls; without them people are cut out
    size: float = 0.5  #: of the picture: 1 has 320x240 pixels

    @property
    def place(self) -> Placement:
        return Placement(np.radians(self.yaw_deg), self.distance_m, 0.0, self.height_m, np.radians(self.pitch_deg), 0.0)

    @property
    def sensor(self) -> SensorPreset:
        full = PRESETS["kinect-v1-320"]
        width, height = round(full.width * self.size), round(full.height * self.size)
        return replace(full, width=width, height=height, intrinsics=full.intrinsics.scaled(self.size))

    @cached_property
    def _dressed(self):
        return _people().dressed(np.random.default_rng(self.seed))

    def figure(self, pose: np.ndarray) -> Figure:
        """The person in a pose; the same random numbers hang cloth in the same folds."""
        return _people().posed(self._dressed, pose, np.random.default_rng(self.seed))

    def film(self, poses: np.ndarray, seat: bool = False) -> Film:
        """Act on the spot, poses (T, 20, 4); with a chair, for those who end up sitting."""
        figures = [self.figure(pose) for pose in poses]
        views = [self._standing(figure) for figure in figures]
        return self._shoot(figures, views, [self._chair(figures[-1], views[-1])] if seat else [])

    def film_walk(self, seconds: float) -> Film:
        """Walk across the picture, 1 m/s, from its left to its right."""
        walk = embedded_motion("humanoid3d_walk")
        times = np.arange(0, seconds, 1 / FPS)
        poses = without_heading(walk.rotations)[np.round(times * walk.fps).astype(int) % len(walk.rotations)]
        figures = [self.figure(pose) for pose in poses]
        places = [replace(self.place, yaw_rad=np.pi / 2, aside_m=time - seconds / 2) for time in times]
        views = [place.view(figure.root_m, figure.floor_y_m) for place, figure in zip(places, figures, strict=True)]
        return self._shoot(figures, views, [])

    def pointing(self, side: str, place_m: Sequence[float], reach: float) -> np.ndarray:
        """Hold a hand out so that shoulder, hand and a place in camera axes lie in a line.

        ``reach``: how far the hand is from the shoulder, of what a straight arm can.
        """
        ease = self.figure(at_ease())
        view = self._standing(ease)
        joints_m = [ease.joints_m[HUMAN.joint_index(f"{side}_{joint}")] for joint in ("shoulder", "elbow", "hand")]
        towards = view.rotation.T @ (np.asarray(place_m) - view.translation_m) - joints_m[0]
        return _held_out(side, joints_m, towards / np.linalg.norm(towards), reach)

    def _standing(self, figure: Figure) -> View:
        """From the axes of a body that stands on its place: the middle of its ankles is there."""
        ankles_m = figure.joints_m[[HUMAN.joint_index(f"{side}_ankle") for side in ("left", "right")]]
        return self.place.view(ankles_m.mean(axis=0), figure.floor_y_m)

    def _shoot(self, figures: Sequence[Figure], views: Sequence[View], furniture: Sequence[Mesh]) -> Film:
        room = Mesh.join([*_walls(self.distance_m + 1.0), *furniture]).facing(self.place.camera_m)
        shots = []
        for time, (figure, view) in enumerate(zip(figures, views, strict=True)):
            behind = [(room, self.place.world_view())] if self.room else []
            noise_rng = np.random.default_rng([self.seed, time])
            shots.append(shoot([figure], [view], behind, HUMAN, self.sensor, True, time, noise_rng))
        frames = tuple(replace(shot.depth, timestamp_s=time / FPS) for time, shot in enumerate(shots))
        return Film(frames, np.stack([shot.joints_m[0] for shot in shots]))

    def _chair(self, sitting: Figure, view: View) -> Mesh:
        """Seat, back and legs under a body, world axes."""
        x, hips_y, z = sitting.joints_m[[HUMAN.joint_index("left_hip"), HUMAN.joint_index("right_hip")]].mean(axis=0)
        top, floor = hips_y - SEAT_M, sitting.floor_y_m
        boxes = [((-0.22, top - 0.05, -0.2), (0.22, top, 0.22)), ((-0.22, top, -0.24), (0.22, top + 0.4, -0.2))]
        boxes += [((a - 0.02, floor, b - 0.02), (a + 0.02, top, b + 0.02)) for a in (-0.2, 0.2) for b in (-0.18, 0.2)]
        chair = Mesh.join([box(np.add(low, (x, 0, z)), np.add(high, (x, 0, z)), ROOM) for low, high in boxes])
        world = self.place.world_view()
        return replace(chair, vertices_m=(view.camera_points(chair.vertices_m) - world.translation_m) @ world.rotation)


@cache
def _people() -> People:
    return People(Recipe(poses="all", wardrobe="full"), embedded_pose_bank())


def _walls(back_m: float) -> list[Mesh]:
    """A floor, the wall behind and one at the left, world axes."""
    return [
        box((-2.5, -0.1, -back_m), (3.0, 0.0, 1.0), ROOM),
        box((-2.5, 0.0, -back_m - 0.1), (3.0, 2.6, -back_m), ROOM),
        box((-2.6, 0.0, -back_m), (-2.5, 2.6, 1.0), ROOM),
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
