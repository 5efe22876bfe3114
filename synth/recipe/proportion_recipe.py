"""The section of a recipe about proportions: lengths of arms and legs beside those of the body file."""

from __future__ import annotations

from dataclasses import dataclass, fields

from synth.recipe.recipe_values import as_range


@dataclass(frozen=True, slots=True)
class ProportionRecipe:
    """Factors of limb lengths: ranges (min, max), drawn evenly for each person, the same on both sides.

    MakeHuman's people, of whom the body file is made, differ in the shares of arm and leg by one to four percent, and
    have shorter arms than measured people: upper arm and forearm are 0.146 and 0.142 of the height, where de Leva
    (1996) gives 0.160 and 0.153. Off by default.

    Raises
    ------
    ValueError
        For a range whose min exceeds its max, or outside [0.5, 2].
    """

    upper_arm_scale: tuple[float, float] = (1.0, 1.0)
    forearm_scale: tuple[float, float] = (1.0, 1.0)
    thigh_scale: tuple[float, float] = (1.0, 1.0)
    shank_scale: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, as_range(each.name, getattr(self, each.name)))


MAKEHUMAN_PROPORTIONS = ProportionRecipe()
"""Limbs as the body file has them."""
MEASURED_PROPORTIONS = ProportionRecipe((0.98, 1.26), (0.95, 1.19), (0.93, 1.07), (0.93, 1.07))
"""Limbs of measured people and their spread, beside those of the body file. Authors differ in where a limb begins: the
upper arm is 0.16 of the height with de Leva (1996), 0.186 with Drillis and Contini (1966)."""
