"""The section of a recipe about infrared reflectance: dark hair and cloth, whose readings are missing."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe_values import check_section


@dataclass(frozen=True, slots=True)
class MaterialRecipe:
    """Which materials people show in infrared light. Off by default.

    Raises
    ------
    ValueError
        For a share outside [0, 1].
    """

    dark_share: float = 0.0  #: of hair, tops, trousers and shoes, drawn for each: infrared-dark, with holes in them
    false_near_share: float = 0.0  #: frames in rooms, whose readings beside holes are too near

    def __post_init__(self) -> None:
        check_section(self)
