"""Motion plans: what each person of a sequence does, and the scenarios that sequences show.

The root motion of a captured motion is left out, since paths on the floor are planned here. Motions that were recorded
without their root can therefore be used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from synth.motion.motions import Motions
from synth.motion.poses.clips import Motion
from synth.motion.poses.pose_variation import without_heading
from synth.recipe import FPS

EASE_S = 0.4
"""Duration of a change of pace or direction."""
FACING_SPREAD_DEG = 40.0
"""Standard deviation of the yaw of people who stay in one place."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionPlan:
    """What one person does in a sequence of T frames."""

    rotations: np.ndarray  #: float32 (T, 20, 4), global rotation of each bone
    floor_m: np.ndarray  #: float64 (T, 2), metres: to the camera's right, and ahead of it
    yaw_rad: np.ndarray  #: float64 (T,), about the vertical; 0 faces the camera


@dataclass(frozen=True, slots=True)
class MotionPlanner:
    """Draws the motion plans of one sequence."""

    motions: Motions
    frames: int
    rng: np.random.Generator

    @property
    def half_s(self) -> float:
        """Half of the sequence, seconds: people who meet do so then."""
        return self.frames / FPS / 2

    def hold(self, lateral_m: float, distance_m: float) -> MotionPlan:
        """Stand still in one pose."""
        plan = self.act(lateral_m, distance_m)
        return MotionPlan(np.repeat(plan.rotations[:1], self.frames, axis=0), plan.floor_m, plan.yaw_rad)

    def act(self, lateral_m: float, distance_m: float) -> MotionPlan:
        """Perform a motion in one place."""
        yaw = np.full(self.frames, self.rng.normal(0, np.radians(FACING_SPREAD_DEG)))
        return MotionPlan(self._play(self.motions.acts), np.tile([lateral_m, distance_m], (self.frames, 1)), yaw)

    def cross(self, distance_m: float, side: int, speed_m_s: float) -> MotionPlan:
        """Walk across the image, its middle at half time; ``side`` 1 comes from the left, -1 from the right."""
        reach, slant = side * speed_m_s * self.half_s, self.rng.uniform(-0.1, 0.1)
        return self.walk([(-reach, distance_m - slant), (reach, distance_m + slant)], [0, 2 * self.half_s])

    def turn_back(self, distance_m: float, side: int, speed_m_s: float, nearest_m: float) -> MotionPlan:
        """Walk towards the middle of the image, as near as ``nearest_m``, and back."""
        reach = nearest_m + speed_m_s * self.half_s
        places = [(-side * reach, distance_m), (-side * nearest_m, distance_m), (-side * reach, distance_m)]
        return self.walk(places, [0, self.half_s, 2 * self.half_s])

    def walk(self, floor_m: Sequence[tuple[float, float]], times_s: Sequence[float]) -> MotionPlan:
        """Walk from place to place, facing the direction of the walk."""
        places_m, yaw_rad = follow(np.array(floor_m, float), np.array(times_s, float), self.frames)
        return MotionPlan(without_heading(self._play(self.motions.walks)), places_m, yaw_rad)

    def _play(self, motions: Sequence[Motion]) -> np.ndarray:
        """Part of a motion, forwards and, from its end, backwards: float32 (T, 20, 4)."""
        motion = motions[int(self.rng.integers(len(motions)))]
        length, poses_a_frame = len(motion.rotations), motion.fps / FPS
        first = self.rng.integers(max(1, length - round(self.frames * poses_a_frame)))
        rows = np.round(first + np.arange(self.frames) * poses_a_frame).astype(int)
        return motion.rotations[length - 1 - np.abs(length - 1 - rows % max(1, 2 * length - 2))]


def _standing(planner: MotionPlanner) -> list[MotionPlan]:
    return [planner.hold(planner.rng.uniform(-0.4, 0.4), planner.rng.uniform(1.8, 3.2))]


def _acting(planner: MotionPlanner) -> list[MotionPlan]:
    return [planner.act(planner.rng.uniform(-0.3, 0.3), planner.rng.uniform(2.0, 3.2))]


def _walking(planner: MotionPlanner) -> list[MotionPlan]:
    return [planner.cross(planner.rng.uniform(2.0, 3.2), _side(planner.rng), planner.rng.uniform(0.8, 1.2))]


def _crossing(planner: MotionPlanner) -> list[MotionPlan]:
    rng, side = planner.rng, _side(planner.rng)
    near_m = rng.uniform(1.9, 2.4)
    far_m = near_m + rng.uniform(0.7, 1.0)
    return [
        planner.cross(near_m, side, rng.uniform(0.8, 1.2)),
        planner.cross(far_m, -side, rng.uniform(0.8, 1.2)),
    ]


def _passing(planner: MotionPlanner) -> list[MotionPlan]:
    rng = planner.rng
    near_m = rng.uniform(1.9, 2.4)
    walker = planner.cross(near_m + rng.uniform(0.7, 1.0), _side(rng), rng.uniform(0.7, 1.0))
    return [planner.act(rng.uniform(-0.15, 0.15), near_m), walker]


def _hiding(planner: MotionPlanner) -> list[MotionPlan]:
    rng, side = planner.rng, _side(planner.rng)
    near_m, half_s, reach = rng.uniform(1.9, 2.4), planner.half_s, 0.9 * planner.half_s
    far_m = near_m + rng.uniform(0.7, 1.0)
    pause_s = min(0.35, half_s / 2)
    places = [(-side * reach, far_m), (-side * 0.05, far_m), (side * 0.05, far_m), (side * reach, far_m)]
    walker = planner.walk(places, [0, half_s - pause_s, half_s + pause_s, 2 * half_s])
    return [planner.hold(0.0, near_m), walker]


def _meeting(planner: MotionPlanner) -> list[MotionPlan]:
    rng, side = planner.rng, _side(planner.rng)
    distance_m = rng.uniform(2.4, 3.0)
    places_m = distance_m, distance_m + rng.uniform(-0.3, 0.3)
    return [
        planner.turn_back(place, s, rng.uniform(0.7, 1.0), rng.uniform(0.25, 0.4))
        for place, s in zip(places_m, (side, -side), strict=True)
    ]


def _crowd(planner: MotionPlanner) -> list[MotionPlan]:
    rng, side = planner.rng, _side(planner.rng)
    return [
        planner.cross(rng.uniform(1.8, 2.0), side, rng.uniform(0.8, 1.2)),
        planner.act(rng.uniform(-0.3, 0.3), rng.uniform(2.6, 2.8)),
        planner.cross(rng.uniform(3.3, 3.6), -side, rng.uniform(0.8, 1.2)),
    ]


def _side(rng: np.random.Generator) -> int:
    return int(rng.choice([-1, 1]))


SCENARIOS: dict[str, Callable[[MotionPlanner], list[MotionPlan]]] = {
    "standing": _standing,  # one person stands still: jitter at rest
    "crossing": _crossing,  # two people walk opposite ways, one behind the other
    "walking": _walking,  # one person walks across
    "passing": _passing,  # one walks behind another who acts in one place
    "hiding": _hiding,  # one pauses behind another who stands still, and walks on
    "acting": _acting,  # one person acts in one place
    "meeting": _meeting,  # two walk towards each other and both turn back
    "crowd": _crowd,  # two walk opposite ways, in front of and behind a third
}
"""What sequences show, in turn: sequence ``number`` shows the scenario ``number`` modulo their count."""


def scenario_of(number: int) -> str:
    """Return the name of what sequence ``number`` shows."""
    return list(SCENARIOS)[number % len(SCENARIOS)]


def follow(floor_m: np.ndarray, times_s: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Walk along straight legs at even pace; corners and turns are smoothed over EASE_S.

    Parameters
    ----------
    floor_m : float (K, 2), metres
        Places, to the camera's right and ahead of it; at least two, no leg of length 0.
    times_s : float (K,), seconds
        When each place is reached, rising.
    frames : int, T

    Returns
    -------
    places_m : float64 (T, 2), metres
    yaw_rad : float64 (T,)
        In the direction of the walk.
    """
    legs = np.diff(floor_m, axis=0)
    # a body at yaw 0 faces the camera, against the second axis, and its left is at +x
    headings = np.unwrap(np.arctan2(legs[:, 0], -legs[:, 1]))
    ease = round(EASE_S * FPS / 2)
    seconds = np.arange(-ease, frames + ease) / FPS
    leg = np.clip(np.searchsorted(times_s, seconds, side="right") - 1, 0, len(legs) - 1)
    share = (seconds - times_s[leg]) / np.diff(times_s)[leg]  # beyond both ends the legs continue
    dense = np.column_stack([floor_m[leg] + share[:, None] * legs[leg], headings[leg]])
    window = np.lib.stride_tricks.sliding_window_view(dense, 2 * ease + 1, axis=0).mean(axis=-1)
    return window[:, :2], window[:, 2]
