"""The section of a recipe about clothing: what people wear and hold."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import check_flag, check_section, shown


@dataclass(frozen=True, slots=True)
class ClothingRecipe:
    """What people wear and hold.

    Raises
    ------
    ValueError
        For an unknown wardrobe, or a share outside [0, 1].
    """

    clothes: bool = True
    wardrobe: str = "plain"  #: "plain", close-fitting; or "full", with skirts, coats, hats and long hair
    held_object_share: float = 0.0  #: people with a bag, cup, stick or ball in one hand

    def __post_init__(self) -> None:
        check_flag("clothes", self.clothes)
        if self.wardrobe not in ("plain", "full"):
            raise ValueError(f"recipe: wardrobe must be plain or full, got {shown(self.wardrobe)}")
        check_section(self)
