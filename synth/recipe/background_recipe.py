"""The section of a recipe about real empty rooms: how their frames are varied, and how many stay empty."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import as_range, check_section


@dataclass(frozen=True, slots=True)
class BackgroundRecipe:
    """How people are composited into frames of real empty rooms. Needs backgrounds: ``posepipe synth --backgrounds``.

    Raises
    ------
    ValueError
        For a share outside [0, 1], a negative spread, or a range whose min exceeds its max or that leaves its bounds.
    """

    empty_share: float = 0.0  #: frames without people
    surface_share: float = 0.0  #: of people who sit or lie: on level surfaces of the room, where some fit
    near_wall_share: float = 0.0  #: people with a wall or furniture close behind them, at any distance
    mirrored_room_share: float = 0.0  #: backgrounds with left and right exchanged
    room_scale: tuple[float, float] = (1.0, 1.0)  #: factor on the size of the room, min and max
    room_turn_deg: float = 0.0  #: standard deviation by which the camera is turned about each of its axes

    def __post_init__(self) -> None:
        object.__setattr__(self, "room_scale", as_range("room_scale", self.room_scale))
        check_section(self)
