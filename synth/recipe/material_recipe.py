"""The section of a recipe about infrared reflectance: dark surfaces, screens and glass, whose readings are missing."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import check_section


@dataclass(frozen=True, slots=True)
class MaterialRecipe:
    """What people and things show in infrared light. Off by default. In sequences, shares are of sequences.

    Raises
    ------
    ValueError
        For a share outside [0, 1].
    """

    dark_share: float = 0.0  #: of hair, tops, trousers and shoes, drawn for each: infrared-dark, with holes in them
    infrared_share: float = 0.0  #: frames whose furniture, screens and glass have materials, drawn for each thing
    false_near_share: float = 0.0  #: frames in rooms, whose readings beside holes are too near

    def __post_init__(self) -> None:
        check_section(self)
