"""Place people in a real room: on its floor or its seats, where nothing is in their way and the camera sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from synth.backgrounds.composite import hide_behind
from synth.backgrounds.floor import Floor
from synth.backgrounds.free_space import RoomSpace
from synth.geometry.mesh import Mesh
from synth.motion.poses.pose_kinds import KINDS
from synth.recipe import Recipe
from synth.render.render_frame import RenderedFrame, render_frame
from synth.scene.draw_scene import draw_furniture
from synth.scene.placement import Placement, draw_yaw
from synth.scene.scene import PlacedSubject, Scene, floor_y_m
from synth.scene.seats.furnishings import Furnishings
from synth.scene.seats.furniture import SEAT_RADIUS_M
from synth.scene.subjects import Subject, Subjects
from synth.sensors.sensor_presets import SensorPreset

PLACE_TRIES = 50
"""Places of a room tried for each person of a frame."""
MIN_PIXELS, MIN_SHOWN_SHARE = 200, 0.3
"""Of a person, before noise: what the camera sees, and its share of what it would see in an empty space."""
HEAD = "head"
"""The joint that tells somebody from a pair of legs, of a body that has it."""
MIN_JOINTS_SHARE = 0.3
"""Of a person's joints, those in view and not behind the room; a lone hand at the border teaches nothing."""
MAX_CROSSED_M2 = 0.004
"""Maximum area of the room's surfaces inside of a person."""
BONE_RADIUS_M, TRUNK_RADIUS_M = 0.07, 0.12
"""Radii of the capsules that stand for limbs and trunk."""
RESTING_RADIUS_SHARE = 0.6
"""Of these radii, for people who rest on a surface: flesh gives way."""
NEAR_WALL_M = 0.5
"""Maximum distance, of joints in the middle, from what is behind people near a wall."""
MIN_GAP_M = 0.3
"""Minimum distance between joints of two people, along the floor."""
FEET_M = 0.3
"""Where no floor is seen, nothing of a person below this height may show."""
SEAT_TOLERANCE_M = 0.06
"""Maximum difference of a seat's height from that of a seated pose."""
BED_HEIGHT_M, BED_TOLERANCE_M = (0.2, 0.8), 0.08
MIN_BEDDED_SHARE = 0.7
"""Of a lying person's joints, those above the surface that they lie on."""
NO_ROOM = Mesh(np.zeros((1, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros(0, np.uint8))
"""Lets furniture be rendered without a room around it."""


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A real room before a sensor."""

    space: RoomSpace
    floor: Floor
    sensor: SensorPreset
    furnishings: Furnishings | None = None  #: of real furniture that people bring; None = theirs is of boxes


@dataclass(frozen=True, slots=True, eq=False)
class WantedPerson:
    """Somebody who is to be in a frame, drawn before any room is seen.

    Were people and distances drawn until they fit, hardly anybody would be far, or lie: near the camera, space is free
    and in view more often, and whoever stands needs less of it.
    """

    subject: Subject
    distance_m: tuple[float, float]  #: min and max, along the floor
    near_wall: bool = False  #: True = something of the room is close behind them


def draw_wanted(recipe: Recipe, subjects: Subjects, rng: np.random.Generator) -> list[WantedPerson]:
    """Draw the people of one frame, and how far from the camera each is to be, or that they are to be near a wall."""
    low, high = recipe.scene.people
    drawn_m = rng.uniform(*recipe.camera.distance_m, size=int(rng.integers(low, high + 1)))
    wanted = []
    for distance_m in drawn_m.tolist():
        subject, near_wall = subjects.draw(rng), rng.random() < recipe.background.near_wall_share
        own_m = recipe.camera.distance_m if near_wall else (distance_m, distance_m)
        wanted.append(WantedPerson(subject, own_m, near_wall))
    return wanted


def draw_people(
    room: Room,
    body: BodyDefinition,
    recipe: Recipe,
    wanted: Sequence[WantedPerson],
    rng: np.random.Generator,
    with_head: bool = True,
) -> list[PlacedSubject]:
    """Draw free places of a room for the people of one frame; nobody if the first finds none.

    Others who find none are left out. ``with_head`` asks for heads in view: people who are seen as legs alone teach the
    person filter to take legs of tables.
    """
    placed: list[PlacedSubject] = []
    for each in wanted:
        person = _place(each, room, body, recipe, placed, rng, with_head)
        if person is not None:
            placed.append(person)
        if not placed:
            return []
    return placed


def _place(
    wanted: WantedPerson,
    room: Room,
    body: BodyDefinition,
    recipe: Recipe,
    others: Sequence[PlacedSubject],
    rng: np.random.Generator,
    with_head: bool,
) -> PlacedSubject | None:
    """Draw a free place for somebody, None after PLACE_TRIES without one."""
    subject = wanted.subject
    resting = _resting_kind(subject, body)
    on_surface = resting is not None and rng.random() < recipe.background.surface_share
    furniture = None if on_surface else draw_furniture(subject, body, recipe.scene, rng, room.furnishings)
    for _ in range(PLACE_TRIES):
        if on_surface:
            person = _on_surface(subject, room, resting, recipe, rng)
        else:
            person = _on_floor(subject, furniture, wanted.distance_m, room, recipe, rng)
        if person is None or not _shows_body(person, room, body, with_head):
            continue
        if wanted.near_wall and not _is_near_wall(person, room):
            continue
        if _is_free(person, room, body, others, on_surface) and _is_seen(person, room):
            return person
    return None


def _resting_kind(subject: Subject, body: BodyDefinition) -> str | None:
    """Whether a person sits or lies."""
    if body != HUMAN:
        return None
    return next((kind for kind in ("seated", "lying") if KINDS[kind](subject.joints_m[None])[0]), None)


def _on_floor(
    subject: Subject,
    furniture: Mesh | None,
    distances_m: tuple[float, float],
    room: Room,
    recipe: Recipe,
    rng: np.random.Generator,
) -> PlacedSubject:
    """Draw a place within distances; the lowest point stands on the floor there."""
    camera, lens = room.floor.camera, room.sensor.intrinsics
    floor_m = floor_y_m(subject, furniture)
    distance_m = rng.uniform(*distances_m)
    drop_m = camera.camera_height_m - (float(subject.root_m[1]) - floor_m)
    depth_m = distance_m * np.cos(camera.pitch_rad) + drop_m * np.sin(camera.pitch_rad)
    lateral_m = rng.uniform(*recipe.camera.lateral_offset) * room.sensor.width / lens.fx * max(depth_m, 0.0)
    placement = _placement(camera, np.array([lateral_m, -distance_m]), draw_yaw(recipe.camera, rng))
    lift_m = room.space.floor_lift_m(placement.floor_place_m) if room.floor.seen else 0.0
    return PlacedSubject(subject, placement, placement.view(subject.root_m, floor_m - lift_m), furniture)


def _on_surface(
    subject: Subject, room: Room, kind: str | None, recipe: Recipe, rng: np.random.Generator
) -> PlacedSubject | None:
    """Draw a place on a seat or bed of the room, None where the drawn one is none."""
    if not room.floor.seen:
        return None
    space, lowest_m = room.space, floor_y_m(subject)
    if kind == "seated":
        height_m, tolerance_m = _seat_m(subject) - lowest_m, SEAT_TOLERANCE_M
    else:
        height_m, tolerance_m = rng.uniform(*BED_HEIGHT_M), BED_TOLERANCE_M
    rows = np.flatnonzero(np.abs(space.heights_m - height_m) < tolerance_m)
    if len(rows) == 0:
        return None
    place_m = space.places_m[rng.choice(rows)]
    surface_m = space.surface_m(place_m, height_m, tolerance_m)
    if surface_m is None:
        return None
    placement = _placement(room.floor.camera, place_m, draw_yaw(recipe.camera, rng))
    rest_m = _seat_m(subject) if kind == "seated" else lowest_m
    person = PlacedSubject(subject, placement, placement.view(subject.root_m, rest_m - surface_m))
    return person if kind == "seated" or _bedded_share(person, space, surface_m) >= MIN_BEDDED_SHARE else None


def _placement(camera: Placement, place_m: np.ndarray, yaw_rad: float) -> Placement:
    x, z = map(float, place_m)
    return replace(camera, yaw_rad=yaw_rad, lateral_offset_m=x, distance_m=-z)


def _seat_m(subject: Subject) -> float:
    """Height at which a seated person rests on a seat, in the person's axes."""
    beside_m = np.hypot(*(subject.skin_m - subject.root_m)[:, [0, 2]].T)
    return float(subject.skin_m[beside_m < SEAT_RADIUS_M, 1].min())


def _bedded_share(person: PlacedSubject, space: RoomSpace, surface_m: float) -> float:
    """Share of a person's joints that have the surface below them."""
    places_m = _floor_places(person)
    return float(np.mean([space.surface_m(place, surface_m, BED_TOLERANCE_M) is not None for place in places_m]))


def _floor_places(person: PlacedSubject) -> np.ndarray:
    """Places of all joints along the floor, float (J, 2), world axes."""
    return _world_points(person, person.view.camera_points(person.subject.joints_m))[:, [0, 2]]


def _world_points(person: PlacedSubject, points_m: np.ndarray) -> np.ndarray:
    """Camera points (N, 3) in world axes."""
    world = person.placement.world_view()
    return (points_m - world.translation_m) @ world.rotation


def _is_free(
    person: PlacedSubject, room: Room, body: BodyDefinition, others: Sequence[PlacedSubject], on_surface: bool
) -> bool:
    """Whether a person passes through nothing of the room and keeps clear of the others."""
    places_m = _floor_places(person)
    for other in others:
        gaps_m = np.linalg.norm(places_m[:, None] - _floor_places(other)[None], axis=2)
        if gaps_m.min() < MIN_GAP_M:
            return False
    bones_m, radii_m = _bones(person.subject, body)
    if on_surface:
        radii_m = [RESTING_RADIUS_SHARE * radius for radius in radii_m]
    if room.space.crossed_m2(person.view.camera_points(bones_m), radii_m) > MAX_CROSSED_M2:
        return False
    if person.furniture is None:
        return True
    corners_m = person.furniture.vertices_m
    return room.space.inside_m2(person.view, corners_m.min(axis=0), corners_m.max(axis=0)) <= MAX_CROSSED_M2


def _bones(subject: Subject, body: BodyDefinition) -> tuple[np.ndarray, list[float]]:
    """Bones of a subject, float (B, 2, 3), its own axes, and their radii; a person's trunk is one more."""
    rows = body.bones() or [(joint, joint) for joint in range(len(body.joints))]  # without bones, spheres
    radii_m = [BONE_RADIUS_M] * len(rows)
    if body == HUMAN:
        rows.append((body.joint_index("neck"), body.joint_index("pelvis")))
        radii_m.append(TRUNK_RADIUS_M)
    return subject.joints_m[np.array(rows)], radii_m


def _is_seen(person: PlacedSubject, room: Room) -> bool:
    """Whether enough of a person shows, and not the feet where no floor is seen."""
    alone = render_frame(Scene((person,)), room.sensor)
    alone = hide_behind(alone, np.where(room.space.filled_m > 0, np.float32(np.inf), np.float32(0)))
    seen = hide_behind(alone, room.space.filled_m)
    pixels, possible = (np.count_nonzero(each.depth_m) for each in (seen, alone))
    if pixels < max(MIN_PIXELS, MIN_SHOWN_SHARE * possible):
        return False
    if room.floor.seen:
        return True
    points_m = room.sensor.intrinsics.deproject(seen.depth_m)[seen.depth_m > 0]
    return float(_world_points(person, points_m)[:, 1].min()) > FEET_M


def _shows_body(person: PlacedSubject, room: Room, body: BodyDefinition, with_head: bool) -> bool:
    """Whether enough joints are in view, the head among them if it is asked for."""
    in_view = _in_view(person.view.camera_points(person.subject.joints_m), room)
    if with_head and HEAD in body.joints and not in_view[body.joint_index(HEAD)]:
        return False
    return bool(in_view.mean() >= MIN_JOINTS_SHARE)


def _is_near_wall(person: PlacedSubject, room: Room) -> bool:
    """Whether the room is close behind most of a person's joints, along the rays of the camera."""
    points_m = person.view.camera_points(person.subject.joints_m)
    points_m = points_m[_in_view(points_m, room)]
    rows, cols = np.rint(room.sensor.intrinsics.project(points_m)).astype(int).T
    return bool(np.median(room.space.filled_m[rows, cols] - points_m[:, 2]) < NEAR_WALL_M)


def _in_view(points_m: np.ndarray, room: Room) -> np.ndarray:
    """Which camera points, float (N, 3), project into the image before the room: bool (N,)."""
    in_view = points_m[:, 2] > 0
    rows, cols = np.rint(room.sensor.intrinsics.project(points_m[in_view])).astype(int).T
    inside = (rows >= 0) & (rows < room.sensor.height) & (cols >= 0) & (cols < room.sensor.width)
    in_view[in_view] = inside
    in_view[in_view] = points_m[in_view, 2] < room.space.filled_m[rows[inside], cols[inside]]
    return in_view


def render_people(placed: Sequence[PlacedSubject], room: Room) -> RenderedFrame:
    """Render people and their furniture, without what the room hides of them."""
    return hide_behind(render_frame(Scene(tuple(placed), NO_ROOM), room.sensor), room.space.filled_m)
