"""Rooms with real furniture: walls at any angle to the camera, and models along them, on them and between people.

People are there first. Everything else is put where it has space: not in a wall, a person, the camera or each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.recipe import SceneRecipe
from synth.scene.placement import rotation_about
from synth.scene.room_kinds import HOSTS, ROOM_KINDS, SOFT_HOSTS
from synth.scene.room_plan import BODY_GAP_M, CAMERA_GAP_M, Placed, RoomPlan, thinned
from synth.scene.seats.furnishings import Furnishings
from synth.scene.things_on_furniture import HARD_M, SOFT_M, put_cushions, put_on, put_things

WALL_M = 0.1
"""Thickness of walls and floor."""
TRIES = 6
"""Places tried for each thing."""
WALL_PIECES_PER_M = 0.75
"""Pieces along each metre of wall, in a room as full as can be."""
FLOOR_PIECES_PER_M2 = 0.8
MAX_PIECES = 28
"""Of each: along walls, and in the room."""
FITTINGS_PER_M = 0.4
"""Doors, windows, pictures and screens on each metre of wall that has any."""
MAX_PILLARS, MAX_LARGE, MAX_CLUTTER, MAX_DOLLS, MAX_DRAPED_CHAIRS = 3, 5, 2, 4, 3
"""Of a room: tried, where they have space."""
MAX_MORE_M = 2.5
"""By which rooms with clutter are wider on each side, at most: sofas and beds need space."""
LARGE = ("sofa", "armchair", "bed", "desk", "cabinet")
CLUTTER = ("coat stand", "drying rack")
SEATS = ("chair", "armchair", "sofa")
MAX_NEAR_M = 1.2
"""Distance from the camera to the middle of a near seat, at most, beyond half its diagonal."""
NEAR_SPREAD_DEG = 20.0
"""Standard deviation of its direction from that of the people who have left."""


def build_furnished_room(
    body_m: np.ndarray,
    taken: Sequence[np.ndarray],
    camera_m: np.ndarray,
    recipe: SceneRecipe,
    furnishings: Furnishings,
    rng: np.random.Generator,
    deserted: bool = False,
) -> tuple[Mesh, Mesh | None]:
    """Draw a room around some people and a camera, and furnish it.

    Parameters
    ----------
    body_m : float (N, 3), metres, world axes
        Points on all people, dense enough that nothing fits between them.
    taken : sequence of float (V, 3), metres
        Vertices of what people rest on.
    camera_m : float (3,), metres
    recipe : SceneRecipe
        Its density and shares.
    furnishings : Furnishings
    rng : numpy.random.Generator
    deserted : bool
        The people have left: furniture may stand where they were.

    Returns
    -------
    Mesh, Mesh or None
        Walls, floor and ceiling; and all that stands and hangs in between, None where there is nothing. World axes.
    """
    is_cluttered = recipe.clutter_share > 0 and rng.random() < recipe.clutter_share
    plan, turn = _draw_plan(body_m, taken, camera_m, rng, MAX_MORE_M if is_cluttered else 0.0)
    kind = ROOM_KINDS[str(rng.choice(list(ROOM_KINDS)))]
    density = rng.uniform(*recipe.density)
    if deserted:
        _leave(plan, recipe.near_seat_share, furnishings, rng)
    if is_cluttered:
        _stand_pillars(plan, furnishings, rng)
        _stand_large(plan, kind.along_walls, furnishings, rng)
    if rng.random() < recipe.wall_fitting_share:
        _fit_walls(plan, kind.on_walls, furnishings, rng)
    if rng.random() < recipe.hanging_clothes_share:
        _hang(plan, furnishings.draw("clothes", rng), rng)
    if recipe.draped_chair_share > 0 and rng.random() < recipe.draped_chair_share:
        _drape_chairs(plan, furnishings, rng)
    if is_cluttered:
        _stand_clutter(plan, furnishings, rng)
    _stand_along_walls(plan, kind.along_walls, density, furnishings, rng)
    _stand_in_the_room(plan, kind.in_the_room, density, furnishings, rng)
    if rng.random() < recipe.things_share:
        put_things(plan, density, furnishings, rng)
    if is_cluttered:
        put_cushions(plan, furnishings, rng)
    if rng.random() < recipe.pet_share:
        _stand_free(plan, furnishings.draw("pet", rng), rng)
    if recipe.doll_share > 0 and rng.random() < recipe.doll_share:
        _put_dolls(plan, furnishings, rng)
    if rng.random() < 0.5 and furnishings.has("ceiling lamp"):
        _hang_from_ceiling(plan, furnishings.draw("ceiling lamp", rng), rng)
    contents = _contents(plan.placed)
    shell = _shell(plan, rng)
    return _turned(shell, turn.T), None if contents is None else _turned(contents, turn.T)


def _draw_plan(
    body_m: np.ndarray,
    taken: Sequence[np.ndarray],
    camera_m: np.ndarray,
    rng: np.random.Generator,
    max_more_m: float = 0.0,
) -> tuple[RoomPlan, np.ndarray]:
    """An empty room at any angle to the camera, wider by up to ``max_more_m``, and the turn from world to room axes."""
    turn = rotation_about("y", rng.normal(0, math.radians(25)))
    bodies, camera = thinned(body_m) @ turn.T, turn @ camera_m
    solids = [vertices @ turn.T for vertices in taken]
    inside = np.concatenate([bodies - BODY_GAP_M, bodies + BODY_GAP_M, *solids])
    low, high = inside.min(axis=0), inside.max(axis=0)
    sides = rng.uniform(0.15, rng.uniform(0.3, 3.0), 4)
    if max_more_m:
        sides += rng.uniform(0, max_more_m, 4)
    before_camera = rng.uniform(0.3, 1.5, 4)
    low_m = np.array([low[0] - sides[0], 0, low[2] - sides[1]])
    high_m = np.array([high[0] + sides[2], rng.uniform(2.3, 3.2), high[2] + sides[3]])
    low_m = np.minimum(low_m, camera - [before_camera[0], -np.inf, before_camera[1]])
    high_m = np.maximum(high_m, camera + [before_camera[2], 0.1, before_camera[3]])
    high_m[1] = max(high_m[1], high[1] + 0.02)
    boxes = [(vertices.min(axis=0), vertices.max(axis=0)) for vertices in solids]
    return RoomPlan(low_m, high_m, bodies, boxes, camera), turn


def _shell(plan: RoomPlan, rng: np.random.Generator) -> Mesh:
    """Floor, walls and, in most rooms, a ceiling: slabs, because rounding would open gaps between sheets."""
    (left, _, back), (right, top, front) = plan.low_m, plan.high_m
    corners = [
        ((left, -WALL_M, back), (right, 0, front)),
        ((left, 0, back - WALL_M), (right, top, back)),
        ((left - WALL_M, 0, back), (left, top, front)),
        ((right, 0, back), (right + WALL_M, top, front)),
        ((left, 0, front), (right, top, front + WALL_M)),
    ]
    if rng.random() < 0.7:
        corners.append(((left, top, back), (right, top + WALL_M, front)))
    return Mesh.join([box(low, high, BACKGROUND) for low, high in corners])


def _turned(mesh: Mesh, rotation: np.ndarray) -> Mesh:
    return replace(mesh, vertices_m=mesh.vertices_m @ rotation.T)


def _contents(placed: Sequence[Placed]) -> Mesh | None:
    if not placed:
        return None
    mesh = Mesh.join([replace(each.model.mesh(), vertices_m=each.vertices_m) for each in placed])
    counts = [len(each.model.triangles) for each in placed]
    return replace(mesh, objects=np.repeat(np.arange(1, len(placed) + 1, dtype=np.uint16), counts))


def _at_wall(
    plan: RoomPlan, model: FurnitureModel, height_m: float, gap_m: float, rng: np.random.Generator
) -> Placed | None:
    """Put a model somewhere along a wall, its back to it; longer walls are drawn more often."""
    extent = plan.high_m - plan.low_m
    lengths = extent[[0, 2, 0, 2]]
    for _ in range(TRIES):
        wall = int(rng.choice(4, p=lengths / lengths.sum()))
        share, deep = rng.random(), model.size_m[2] / 2 + gap_m
        half = model.size_m[0] / 2
        along = plan.low_m + half + share * np.maximum(extent - 2 * half, 0)
        x, z, yaw = (
            (along[0], plan.low_m[2] + deep, 0.0),
            (plan.low_m[0] + deep, along[2], math.pi / 2),
            (along[0], plan.high_m[2] - deep, math.pi),
            (plan.high_m[0] - deep, along[2], -math.pi / 2),
        )[wall]
        if (placed := plan.add(model, np.array([x, height_m, z]), yaw)) is not None:
            return placed
    return None


def _fit_walls(
    plan: RoomPlan, weights: Mapping[str, float], furnishings: Furnishings, rng: np.random.Generator
) -> None:
    perimeter_m = 2 * (plan.high_m - plan.low_m)[[0, 2]].sum()
    for _ in range(rng.poisson(FITTINGS_PER_M * perimeter_m * rng.uniform(0.3, 1))):
        _hang(plan, furnishings.draw(furnishings.draw_kind(weights, rng), rng), rng)


def _hang(plan: RoomPlan, model: FurnitureModel, rng: np.random.Generator) -> None:
    height_m = min(model.elevation_m, plan.high_m[1] - model.size_m[1] - 0.01)
    if height_m >= 0:
        _at_wall(plan, model, height_m, 0.001, rng)


def _stand_along_walls(
    plan: RoomPlan, weights: Mapping[str, float], density: float, furnishings: Furnishings, rng: np.random.Generator
) -> None:
    perimeter_m = 2 * (plan.high_m - plan.low_m)[[0, 2]].sum()
    for _ in range(min(rng.poisson(WALL_PIECES_PER_M * perimeter_m * density), MAX_PIECES)):
        model = furnishings.draw(furnishings.draw_kind(weights, rng), rng)
        _at_wall(plan, model, 0.0, rng.exponential(0.03), rng)


def _stand_in_the_room(
    plan: RoomPlan, weights: Mapping[str, float], density: float, furnishings: Furnishings, rng: np.random.Generator
) -> None:
    area_m2 = float(np.prod((plan.high_m - plan.low_m)[[0, 2]]))
    for _ in range(min(rng.poisson(FLOOR_PIECES_PER_M2 * area_m2 * density), MAX_PIECES)):
        kind = furnishings.draw_kind(weights, rng)
        placed = _stand_free(plan, furnishings.draw(kind, rng), rng)
        if placed is not None and kind in ("table", "desk"):
            _put_chairs(plan, placed, density, furnishings, rng)


def _stand_free(plan: RoomPlan, model: FurnitureModel, rng: np.random.Generator) -> Placed | None:
    """Put a model anywhere on the floor: half of them square to the walls, the others at any angle."""
    for _ in range(TRIES):
        yaw = float(rng.integers(4)) * math.pi / 2 if rng.random() < 0.5 else rng.uniform(-math.pi, math.pi)
        x, z = rng.uniform(plan.low_m[[0, 2]], plan.high_m[[0, 2]])
        if (placed := plan.add(model, np.array([x, 0.0, z]), yaw)) is not None:
            return placed
    return None


def _leave(plan: RoomPlan, near_seat_share: float, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Let everybody leave, and in a share of the rooms put a seat where they stood, but closer to the camera."""
    ahead_m = plan.body_m.mean(axis=0) - plan.camera_m
    plan.body_m = plan.body_m[:0]
    if near_seat_share > 0 and rng.random() < near_seat_share:
        _stand_near(plan, ahead_m, furnishings, rng)


def _stand_near(plan: RoomPlan, ahead_m: np.ndarray, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Stand a seat close before the camera, turned anyhow; on half of them lies a doll or a cushion."""
    kinds = [kind for kind in SEATS if furnishings.has(kind)]
    if not kinds:
        return
    seat = furnishings.draw(str(rng.choice(kinds)), rng)
    direction = math.atan2(ahead_m[0], ahead_m[2])
    for _ in range(TRIES):
        reach_m = math.hypot(seat.size_m[0], seat.size_m[2]) / 2 + rng.uniform(CAMERA_GAP_M, MAX_NEAR_M)
        angle = direction + math.radians(rng.normal(0, NEAR_SPREAD_DEG))
        at_m = plan.camera_m * [1, 0, 1] + reach_m * np.array([math.sin(angle), 0, math.cos(angle)])
        if plan.add(seat, at_m, rng.uniform(-math.pi, math.pi)) is not None:
            if rng.random() < 0.5:
                thing = furnishings.draw(str(rng.choice(["doll", "cushion"])), rng)
                put_on(plan, len(plan.placed) - 1, thing, SOFT_M, rng)
            return


def _put_chairs(
    plan: RoomPlan, table: Placed, density: float, furnishings: Furnishings, rng: np.random.Generator
) -> None:
    """Put chairs at the sides of a table, facing it."""
    if not furnishings.has("chair"):
        return
    chair = furnishings.draw("chair", rng)
    half_w, half_d, reach = table.model.size_m[0] / 2, table.model.size_m[2] / 2, chair.size_m[2] / 2
    turn = rotation_about("y", table.yaw_rad)
    middle = (table.low_m + table.high_m) / 2 * [1, 0, 1]
    for side in range(4):
        if rng.random() > 0.3 + 0.6 * density:
            continue
        away = (half_d if side % 2 == 0 else half_w) + reach + rng.uniform(0.02, 0.35)
        direction = rotation_about("y", side * math.pi / 2) @ np.array([0, 0, 1.0])
        at = middle + turn @ (direction * away + np.array([rng.normal(0, 0.05), 0, 0]))
        plan.add(chair, at, table.yaw_rad + side * math.pi / 2 + math.pi + rng.normal(0, 0.2))


def _drape_chairs(plan: RoomPlan, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Stand chairs that wear jackets anywhere."""
    for _ in range(int(rng.integers(1, MAX_DRAPED_CHAIRS + 1))):
        _stand_free(plan, furnishings.draw("draped chair", rng), rng)


def _stand_pillars(plan: RoomPlan, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Let pillars and ledges of the wall stand out into the room, up to its ceiling."""
    for _ in range(int(rng.integers(0, MAX_PILLARS + 1))):
        model = furnishings.draw("pillar", rng)
        scale = [1, (plan.high_m[1] - 0.002) / model.size_m[1], 1]
        cut = replace(model, size_m=model.size_m * scale, vertices_m=model.vertices_m * scale)
        _at_wall(plan, cut, 0.0, 0.001, rng)


def _stand_large(
    plan: RoomPlan, weights: Mapping[str, float], furnishings: Furnishings, rng: np.random.Generator
) -> None:
    """Stand large pieces along walls before small ones take their space."""
    large = {kind: weight for kind, weight in weights.items() if kind in LARGE and furnishings.has(kind)}
    for _ in range(int(rng.integers(0, MAX_LARGE + 1)) if large else 0):
        _at_wall(plan, furnishings.draw(furnishings.draw_kind(large, rng), rng), 0.0, rng.exponential(0.03), rng)


def _stand_clutter(plan: RoomPlan, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Stand coat stands and drying racks along walls and anywhere."""
    for _ in range(int(rng.integers(0, MAX_CLUTTER + 1))):
        model = furnishings.draw(str(rng.choice(CLUTTER)), rng)
        if rng.random() < 0.5:
            _at_wall(plan, model, 0.0, rng.exponential(0.1), rng)
        else:
            _stand_free(plan, model, rng)


def _put_dolls(plan: RoomPlan, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Put dolls on beds, sofas, armchairs, tables and shelves, and on the floor."""
    hosts = [n for n, each in enumerate(plan.placed) if each.model.kind in (*SOFT_HOSTS, *HOSTS)]
    for _ in range(int(rng.integers(1, MAX_DOLLS + 1))):
        model = furnishings.draw("doll", rng)
        if hosts and rng.random() < 0.7:
            number = int(rng.choice(hosts))
            is_soft = plan.placed[number].model.kind in SOFT_HOSTS
            put_on(plan, number, model, SOFT_M if is_soft else HARD_M, rng)
        else:
            _stand_free(plan, model, rng)


def _hang_from_ceiling(plan: RoomPlan, model: FurnitureModel, rng: np.random.Generator) -> None:
    x, z = rng.uniform(plan.low_m[[0, 2]], plan.high_m[[0, 2]])
    height_m = plan.high_m[1] - model.size_m[1] - 0.001
    if height_m > 1.6:
        plan.add(model, np.array([x, height_m, z]))
