"""The section of a recipe about scenes: how many people a frame shows, and what surrounds them."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import as_count_range, as_range, check_section


@dataclass(frozen=True, slots=True)
class SceneRecipe:
    """How many people a frame shows, and what surrounds them.

    Raises
    ------
    ValueError
        For a number of people outside [1, MAX_PEOPLE], or a share or density outside [0, 1].
    """

    people: tuple[int, int] = (1, 1)  #: in a frame, min and max
    room_share: float = 0.0  #: frames in a furnished room; in the others people are cut out
    furniture_share: float = 0.0  #: of people who sit or lie: on a seat, a bed or the floor; the others float
    model_share: float = 0.0  #: of rooms: furnished with models of real furniture; the others with boxes
    density: tuple[float, float] = (0.0, 1.0)  #: of these rooms, drawn evenly: 0 = empty, 1 = cluttered
    wall_fitting_share: float = 0.0  #: of these rooms: with doors, windows, screens, pictures and curtains
    things_share: float = 0.0  #: of these rooms: with things on tables and shelves, and bedding
    hanging_clothes_share: float = 0.0  #: of these rooms: with clothes on hooks
    draped_chair_share: float = 0.0  #: of these rooms: with jackets over the backs of chairs
    pet_share: float = 0.0  #: of these rooms: with a cat or dog
    doll_share: float = 0.0  #: of these rooms: with dolls and stuffed animals
    clutter_share: float = 0.0  #: of these rooms: wider, with pillars, sofas, coat stands and cushions
    model_seat_share: float = 0.0  #: of seats and beds: models of real ones, or wheelchairs
    walking_aid_share: float = 0.0  #: of people who stand: with a walking frame or crutches
    table_share: float = 0.0  #: of people who bend: over a table, where one fits
    empty_room_share: float = 0.0  #: of rooms: everybody has left, and their seats and tables stay
    near_seat_share: float = 0.0  #: of these empty rooms with models: a chair, armchair or sofa close to the camera

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", as_count_range(self.people))
        object.__setattr__(self, "density", as_range("density", self.density))
        check_section(self)
