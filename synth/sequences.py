"""Short sequences before a camera that stands still: people walk, act and pass behind each other, with the truth.

Frames of other datasets know nothing of each other; here everybody keeps his body, his clothes and his id
from the first frame to the last, so that ids and jitter can be measured. A sequence depends on
(recipe, index) alone. What a motion's own root does is left out: paths on the floor are planned, so
that motions which were recorded without one will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posepipe.frames import LabelledFrame
from synth.motion.motions import Motions
from synth.motion.poses.clips import Motion
from synth.motion.poses.pose_variation import without_heading
from synth.recipe import FPS, Recipe
from synth.render.render_frame import shoot
from synth.scene.placement import Placement
from synth.scene.room import build_room
from synth.scene.subjects import DressedPerson, Figure, People

EASE_S = 0.4
"""A change of pace or direction takes so long."""
AIM_HEIGHT_M = 0.95
"""The camera looks at this height of the people."""
FACING_SPREAD_DEG = 40.0
"""Standard deviation of the yaw of those who stay where they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one person does in a sequence of T frames."""

    rotations: np.ndarray  #: float32 (T, 20, 4), global rotation of each bone
    floor_m: np.ndarray  #: float64 (T, 2), metres: to the camera's right, and ahead of it
    yaw_rad: np.ndarray  #: float64 (T,), turn about the vertical; 0 faces the camera


@dataclass(frozen=True, slots=True)
class Director:
    """Draws the parts of one sequence."""

    motions: Motions
    frames: int
    rng: np.random.Generator

    @property
    def half_s(self) -> float:
        """Half of the sequence, seconds: those who meet do so then."""
        return self.frames / FPS / 2

    def hold(self, aside_m: float, distance_m: float) -> Part:
        """Stand as still as a statue."""
        part = self.act(aside_m, distance_m)
        return Part(np.repeat(part.rotations[:1], self.frames, axis=0), part.floor_m, part.yaw_rad)

    def act(self, aside_m: float, distance_m: float) -> Part:
        """Do something on the spot."""
        yaw = np.full(self.frames, self.rng.normal(0, np.radians(FACING_SPREAD_DEG)))
        return Part(self._play(self.motions.acts), np.tile([aside_m, distance_m], (self.frames, 1)), yaw)

    def cross(self, distance_m: float, side: int, speed_m_s: float) -> Part:
        """Walk across the picture, its middle at half time; ``side`` 1 comes from the left, -1 from the right."""
        reach, slant = side * speed_m_s * self.half_s, self.rng.uniform(-0.1, 0.1)
        return self.walk([(-reach, distance_m - slant), (reach, distance_m + slant)], [0, 2 * self.half_s])

    def turn_back(self, distance_m: float, side: int, speed_m_s: float, nearest_m: float) -> Part:
        """Come towards the middle of the picture and, so near to it, go back."""
        reach = nearest_m + speed_m_s * self.half_s
        places = [(-side * reach, distance_m), (-side * nearest_m, distance_m), (-side * reach, distance_m)]
        return self.walk(places, [0, self.half_s, 2 * self.half_s])

    def walk(self, floor_m: Sequence[tuple[float, float]], times_s: Sequence[float]) -> Part:
        """Walk from place to place, facing the way."""
        places_m, yaw_rad = follow(np.array(floor_m, float), np.array(times_s, float), self.frames)
        return Part(without_heading(self._play(self.motions.walks)), places_m, yaw_rad)

    def _play(self, motions: Sequence[Motion]) -> np.ndarray:
        """Some of a motion, forwards and, when it ends, backwards: float32 (T, 20, 4)."""
        motion = motions[int(self.rng.integers(len(motions)))]
        length = len(motion.rotations)
        first = self.rng.integers(max(1, length - self.frames))
        rows = np.round(first + np.arange(self.frames) * motion.fps / FPS).astype(int)
        return motion.rotations[length - 1 - np.abs(length - 1 - rows % max(1, 2 * length - 2))]


def _standing(director: Director) -> list[Part]:
    return [director.hold(director.rng.uniform(-0.4, 0.4), director.rng.uniform(1.8, 3.2))]


def _acting(director: Director) -> list[Part]:
    return [director.act(director.rng.uniform(-0.3, 0.3), director.rng.uniform(2.0, 3.2))]


def _walking(director: Director) -> list[Part]:
    return [director.cross(director.rng.uniform(2.0, 3.2), _side(director.rng), director.rng.uniform(0.8, 1.2))]


def _crossing(director: Director) -> list[Part]:
    rng, side = director.rng, _side(director.rng)
    near_m = rng.uniform(1.9, 2.4)
    far_m = near_m + rng.uniform(0.7, 1.0)
    return [
        director.cross(near_m, side, rng.uniform(0.8, 1.2)),
        director.cross(far_m, -side, rng.uniform(0.8, 1.2)),
    ]


def _passing(director: Director) -> list[Part]:
    rng = director.rng
    near_m = rng.uniform(1.9, 2.4)
    walker = director.cross(near_m + rng.uniform(0.7, 1.0), _side(rng), rng.uniform(0.7, 1.0))
    return [director.act(rng.uniform(-0.15, 0.15), near_m), walker]


def _hiding(director: Director) -> list[Part]:
    rng, side = director.rng, _side(director.rng)
    near_m, half_s, reach = rng.uniform(1.9, 2.4), director.half_s, 0.9 * director.half_s
    far_m = near_m + rng.uniform(0.7, 1.0)
    pause_s = min(0.35, half_s / 2)
    places = [(-side * reach, far_m), (-side * 0.05, far_m), (side * 0.05, far_m), (side * reach, far_m)]
    walker = director.walk(places, [0, half_s - pause_s, half_s + pause_s, 2 * half_s])
    return [director.hold(0.0, near_m), walker]


def _meeting(director: Director) -> list[Part]:
    rng, side = director.rng, _side(director.rng)
    distance_m = rng.uniform(2.4, 3.0)
    places_m = distance_m, distance_m + rng.uniform(-0.3, 0.3)
    return [
        director.turn_back(place, s, rng.uniform(0.7, 1.0), rng.uniform(0.25, 0.4))
        for place, s in zip(places_m, (side, -side), strict=True)
    ]


def _crowd(director: Director) -> list[Part]:
    rng, side = director.rng, _side(director.rng)
    return [
        director.cross(rng.uniform(1.8, 2.0), side, rng.uniform(0.8, 1.2)),
        director.act(rng.uniform(-0.3, 0.3), rng.uniform(2.6, 2.8)),
        director.cross(rng.uniform(3.3, 3.6), -side, rng.uniform(0.8, 1.2)),
    ]


def _side(rng: np.random.Generator) -> int:
    return int(rng.choice([-1, 1]))


SCENES: dict[str, Callable[[Director], list[Part]]] = {
    "standing": _standing,  # one who keeps still: jitter at rest
    "crossing": _crossing,  # two walk opposite ways, one behind the other
    "walking": _walking,  # one walks across
    "passing": _passing,  # one walks behind another who acts on the spot
    "hiding": _hiding,  # one all but stops behind another who keeps still, and goes on
    "acting": _acting,  # one acts on the spot
    "meeting": _meeting,  # two come towards each other and both turn back
    "crowd": _crowd,  # two walk opposite ways, before and behind a third
}
"""Sequences show one after the other: sequence ``index`` scene ``index`` modulo their number."""


def scene_of(index: int) -> str:
    """What sequence ``index`` shows."""
    return list(SCENES)[index % len(SCENES)]


class SequenceRenderer:
    """Renders the sequences of a recipe, any of them at any time."""

    def __init__(self, recipe: Recipe, people: People, motions: Motions) -> None:
        self.recipe = recipe
        self.cast = people
        self._motions = motions

    def frames(self, first: int, count: int) -> Iterator[LabelledFrame]:
        """The sequence of ``count`` frames that begins with frame ``first`` of the dataset."""
        return render_sequence(self.cast, self.recipe, first // self.recipe.sequence_frames, count, self._motions)

    def scene(self, number: int) -> str:
        """What sequence ``number`` shows."""
        return scene_of(number)

    def describe(self) -> dict:
        """The poses that it shows are those of its motions."""
        return {"pose_bank": self._motions.digest()}


def render_sequence(
    people: People,
    recipe: Recipe,
    index: int,
    frames: int = 60,
    motions: Motions | None = None,
    scene: str | None = None,
) -> Iterator[LabelledFrame]:
    """Render one sequence of one to three people.

    Parameters
    ----------
    people : draws bodies and clothes; made from the same recipe
    recipe : its seed, sensor, noise, clothes, camera height and room_share are used; places and poses come from the
        scene
    index : of the sequence
    frames : at FPS frames a second
    motions : None = those that come with the project
    scene : one of SCENES; None = as the index says

    Yields
    ------
    LabelledFrame, index and time counted from the sequence's start; a person has the same id and row in all of them,
    whether in view or not

    Raises
    ------
    ValueError
        For a scene that is not there.
    """
    name = scene_of(index) if scene is None else scene
    if name not in SCENES:
        raise ValueError(f"no scene {name!r}; there are {', '.join(SCENES)}")
    rng = np.random.default_rng([recipe.seed, index])
    parts = SCENES[name](Director(motions or Motions.embedded(), frames, rng))
    dressed = [people.dressed(rng) for _ in parts]
    camera = _camera(parts, recipe, rng)
    folds = int(rng.integers(2**32))
    room = []
    if recipe.room_share and rng.random() < recipe.room_share:
        trodden = [_placed(camera, part, time).floor_place_m for part in parts for time in range(frames)]
        room = [(build_room(trodden, rng).facing(camera.camera_m), camera.world_view())]
    for time in range(frames):
        figures = [
            _posed(people, person, part, time, folds + k)
            for k, (person, part) in enumerate(zip(dressed, parts, strict=True))
        ]
        places = [_placed(camera, part, time) for part in parts]
        views = [place.view(f.root_m, f.floor_y_m) for place, f in zip(places, figures, strict=True)]
        noise_rng = np.random.default_rng([recipe.seed, index, time])
        yield shoot(figures, views, room, people.body, recipe.sensor, recipe.noise, time, noise_rng)


def _posed(people: People, person: DressedPerson, part: Part, time: int, folds: int) -> Figure:
    """In the pose of the time; the same random numbers in every frame hang cloth in the same folds."""
    return replace(people.posed(person, part.rotations[time], np.random.default_rng(folds)), support=None)


def _camera(parts: Sequence[Part], recipe: Recipe, rng: np.random.Generator) -> Placement:
    """A level camera that looks at the middle of what goes on; where it stands is the rest of a placement."""
    height_m = rng.uniform(*recipe.camera_height_m)
    distance_m = float(np.mean([part.floor_m[:, 1].mean() for part in parts]))
    pitch = float(np.arctan2(height_m - AIM_HEIGHT_M, distance_m))
    return Placement(0.0, distance_m, 0.0, height_m, pitch, roll_rad=0.0)


def _placed(camera: Placement, part: Part, time: int) -> Placement:
    aside_m, distance_m = part.floor_m[time]
    yaw = float(part.yaw_rad[time])
    return Placement(yaw, distance_m, aside_m, camera.camera_height_m, camera.pitch_rad, camera.roll_rad)


def follow(floor_m: np.ndarray, times_s: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Walk along straight legs at even pace, corners and turns rounded off over EASE_S.

    Parameters
    ----------
    floor_m : float (K, 2), metres, to the camera's right and ahead of it; two places at least, no leg of length 0
    times_s : float (K,), rising: when one is where
    frames : T

    Returns
    -------
    places_m : float64 (T, 2)
    yaw_rad : float64 (T,), facing the way
    """
    legs = np.diff(floor_m, axis=0)
    # a body at yaw 0 faces the camera, against the second axis, and its left is at +x
    headings = np.unwrap(np.arctan2(legs[:, 0], -legs[:, 1]))
    ease = round(EASE_S * FPS / 2)
    seconds = np.arange(-ease, frames + ease) / FPS
    leg = np.clip(np.searchsorted(times_s, seconds, side="right") - 1, 0, len(legs) - 1)
    share = (seconds - times_s[leg]) / np.diff(times_s)[leg]  # beyond both ends the legs go on
    dense = np.column_stack([floor_m[leg] + share[:, None] * legs[leg], headings[leg]])
    window = np.lib.stride_tricks.sliding_window_view(dense, 2 * ease + 1, axis=0).mean(axis=-1)
    return window[:, :2], window[:, 2]
