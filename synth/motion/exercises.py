"""Exercises as curves of joint angles: squat, biceps curl, sitting down, waving and lunge; and people who rest.

Curves are exact truth. Each exercise begins at rest, so that jitter at rest can be measured as well. Who rests breathes
and sways, and does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

ANKLES = ("left_ankle", "right_ankle")


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """What one person does in one place, over T frames."""

    angles_deg: Mapping[str, np.ndarray]  #: name -> float64 (T,), see `synth.motion.posed_by_angles`
    planted: tuple[str, ...] = ANKLES  #: joints whose mean keeps its place on the floor
    lies: bool = False  #: on the back; angles are those of the body upright
    seat_at: int | None = None  #: frame by which the seat is made; None = people stand or lie


def repetitions(times_s: np.ndarray, start_s: float, move_s: float, hold_s: float) -> np.ndarray:
    """Rise from 0 to 1, hold, fall and rest, again and again from ``start_s`` on: float64 (T,).

    Moves have no jump in speed or acceleration (the polynomial of minimum jerk).

    References
    ----------
    Flash and Hogan, The coordination of arm movements, J. Neurosci. 5, 1985.
    """
    phase_s = np.where(times_s < start_s, 0.0, (times_s - start_s) % (2 * (move_s + hold_s)))
    share = np.interp(
        phase_s, [0, move_s, move_s + hold_s, 2 * move_s + hold_s, 2 * (move_s + hold_s)], [0, 1, 1, 0, 0]
    )
    return share**3 * (10 - 15 * share + 6 * share**2)


def _squat(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    down, knee = _tempo(times_s, rng), rng.uniform(75, 115)
    legs = _both({"hip_flexion": 1.12 * knee * down, "knee_flexion": knee * down})
    legs |= _both({"hip_abduction": _knees_apart(knee * down, rng.uniform(3, 7))})
    arms = _hanging(times_s) | _both({"shoulder_elevation": 12 + 65 * down, "shoulder_plane": 15 + 65 * down})
    return Exercise({"trunk_lean": 0.4 * knee * down, **legs, **arms})


def _curl(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    up, bent = _tempo(times_s, rng), rng.uniform(115, 140)
    angles = _standing(times_s)
    for side in rng.permutation(["left", "right"])[: rng.integers(1, 3)].tolist():
        angles[f"{side}_elbow_flexion"] = 10 + (bent - 10) * up
        angles[f"{side}_supination"] = np.full(len(times_s), 80.0)
    return Exercise(angles)


def _sit_down(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    down = repetitions(times_s, 0.6, rng.uniform(1.0, 1.4), 1.0)
    lean = 5 * down + rng.uniform(25, 40) * np.sin(np.pi * down)
    knee = rng.uniform(84, 95)
    legs = _both({"hip_flexion": 84 * down + lean, "knee_flexion": knee * down})
    legs |= _both({"hip_abduction": _knees_apart(knee * down, rng.uniform(2, 6))})
    arms = _hanging(times_s) | _both({"shoulder_elevation": 12 + 20 * down, "shoulder_plane": 15 + 60 * down})
    angles = {"trunk_lean": lean, **legs, **arms, **_both({"elbow_flexion": 12 + 45 * down})}
    return Exercise(angles, seat_at=int(np.argmax(angles["left_hip_flexion"])))


def _wave(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    raised = np.where(times_s < 1.5, repetitions(times_s, 0.5, 0.8, 10.0), 1.0)
    swing = raised * rng.uniform(18, 28) * np.sin(2 * np.pi * rng.uniform(0.8, 1.4) * np.maximum(times_s - 1.3, 0))
    side, angles = str(rng.choice(["left", "right"])), _standing(times_s)
    angles[f"{side}_shoulder_elevation"] = 12 + rng.uniform(60, 85) * raised
    angles[f"{side}_shoulder_plane"] = np.full(len(times_s), 15.0)
    angles[f"{side}_elbow_flexion"] = 12 + rng.uniform(70, 95) * raised
    angles[f"{side}_shoulder_rotation"] = 85 * raised + swing
    return Exercise(angles)


def _lunge(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    down, front = _tempo(times_s, rng), str(rng.choice(["left", "right"]))
    rear, depth = {"left": "right", "right": "left"}[front], rng.uniform(60, 85)
    angles = _standing(times_s) | {
        "trunk_lean": 8 * down,
        f"{front}_hip_flexion": (depth + 8) * down,
        f"{front}_knee_flexion": depth * down,
        f"{rear}_hip_flexion": -2 * down,
        f"{rear}_knee_flexion": depth * down,
        f"{rear}_foot_pitch": 55 * down,
    }
    return Exercise(angles, planted=(f"{rear}_foot",))


def _stand_still(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    sway = _breath(times_s, rng) + _drift(times_s, rng, 1.0)
    return Exercise(_standing(times_s) | {"trunk_lean": 2 + sway, **_both({"hip_flexion": 2 + sway})})


def _sit_still(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    lean = rng.uniform(-8, 8) + _breath(times_s, rng) + _drift(times_s, rng, 0.7)
    knee, apart = np.full(len(times_s), rng.uniform(80, 95)), rng.uniform(2, 10)
    legs = _both({"hip_flexion": 84 + lean, "knee_flexion": knee, "hip_abduction": _knees_apart(knee, apart)})
    arms = _both({"shoulder_elevation": 20 + 0 * lean, "shoulder_plane": 60 + 0 * lean, "elbow_flexion": 50 + lean})
    return Exercise({"trunk_lean": lean, **legs, **arms}, seat_at=0)


def _lie_still(times_s: np.ndarray, rng: np.random.Generator) -> Exercise:
    breath = _breath(times_s, rng)
    angles = _hanging(times_s) | _both({"hip_abduction": np.full(len(times_s), rng.uniform(4, 10))})
    angles |= {"trunk_lean": breath, **_both({"hip_flexion": breath})}
    return Exercise(angles, planted=("pelvis",), lies=True)


def _breath(times_s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Lean of the trunk with the breath, 9 to 18 a minute: degrees (T,). Moves shoulders by about 4 mm."""
    return rng.uniform(0.3, 0.5) * np.sin(2 * np.pi * rng.uniform(0.15, 0.3) * times_s + rng.uniform(0, 6))


def _drift(times_s: np.ndarray, rng: np.random.Generator, size_deg: float) -> np.ndarray:
    """Slow sway of somebody who keeps still, over 5 to 60 s: degrees (T,)."""
    periods_s, phases = np.geomspace(5, 60, 5), rng.uniform(0, 2 * np.pi, 5)
    return size_deg * np.sin(2 * np.pi * times_s[:, None] / periods_s + phases).mean(axis=1)


def _knees_apart(knee_deg: np.ndarray, standing_deg: float) -> np.ndarray:
    """Abduction of hips that keeps feet in place while knees bend, for thighs as long as shanks: degrees (T,)."""
    return np.degrees(np.arcsin(2 * np.sin(np.radians(standing_deg)) / (1 + np.cos(np.radians(knee_deg)))))


def _tempo(times_s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return repetitions(times_s, 0.5, rng.uniform(0.7, 1.1), rng.uniform(0.3, 0.5))


def _both(angles_deg: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same angles of both sides."""
    return {f"{side}_{name}": values for side in ("left", "right") for name, values in angles_deg.items()}


def _hanging(times_s: np.ndarray) -> dict[str, np.ndarray]:
    """Arms at rest, away from the hips."""
    at_rest = {"shoulder_elevation": 12.0, "shoulder_plane": 15.0, "elbow_flexion": 12.0}
    return _both({name: np.full(len(times_s), value) for name, value in at_rest.items()})


def _standing(times_s: np.ndarray) -> dict[str, np.ndarray]:
    return _hanging(times_s) | _both({"hip_abduction": np.full(len(times_s), 4.0)})


Curves = Callable[[np.ndarray, np.random.Generator], Exercise]
EXERCISES: dict[str, Curves] = {
    "squat": _squat,
    "biceps curl": _curl,
    "sit down": _sit_down,
    "wave": _wave,
    "lunge": _lunge,
}
"""Exercise -> its curves at times (T,), seconds."""
RESTING: dict[str, Curves] = {"stand still": _stand_still, "sit still": _sit_still, "lie still": _lie_still}
"""The same of people who rest."""
BY_MOTIONS = {"exercises": EXERCISES, "resting": RESTING}
"""Curves by the field ``motions`` of a recipe. Sequence ``number`` shows number modulo their count."""


def exercise_of(number: int, motions: str = "exercises") -> str:
    """Return the name of what sequence ``number`` shows."""
    names = list(BY_MOTIONS[motions])
    return names[number % len(names)]
