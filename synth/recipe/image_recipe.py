"""The section of a recipe about images: what drivers and stereo cameras make of readings in whole rooms."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import check_section

REACH_M = 1.2, 3.5
"""Min and max range, metres, of cameras of short reach, and of recordings that were clipped."""


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """How depth images of rooms are changed after they are read. Off by default. In sequences, shares are of sequences.

    Raises
    ------
    ValueError
        For a share outside [0, 1].
    """

    registered_share: float = 0.0  #: frames in rooms, registered to a colour camera: black borders, doubled edges
    stereo_defects_share: float = (
        0.0  #: of a stereo sensor, frames in rooms with holes in floors and a smeared distance
    )
    filled_share: float = 0.0  #: frames in rooms, or on backgrounds, whose narrow holes were filled, and edges smoothed
    limited_range_share: float = 0.0  #: frames in rooms, without readings beyond a range of REACH_M

    def __post_init__(self) -> None:
        check_section(self)
