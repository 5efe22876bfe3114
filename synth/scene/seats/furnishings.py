"""Where models come from when a room is furnished: a bank, and what code makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from synth.furniture import clutter, household, openings, walking_aids
from synth.furniture.dolls import make_doll
from synth.furniture.model_bank import FurnitureBank, FurnitureModel, embedded_bank
from synth.furniture.pets import make_pet
from synth.recipe import SceneRecipe

Maker = Callable[[np.random.Generator], FurnitureModel]

MAKERS: dict[str, Maker] = {
    "bag": household.make_bag,
    "bedding": household.make_bedding,
    "box": household.make_carton,
    "cable": household.make_cable,
    "clothes": openings.make_hanging_clothes,
    "coat stand": clutter.make_coat_stand,
    "crutch": walking_aids.make_crutch,
    "curtain": openings.make_curtain,
    "cushion": clutter.make_cushion,
    "doll": make_doll,
    "door": openings.make_door,
    "draped chair": clutter.make_draped_chair,
    "drying rack": clutter.make_drying_rack,
    "lamp": household.make_floor_lamp,
    "pet": make_pet,
    "pillar": clutter.make_pillar,
    "screen": openings.make_screen,
    "shelf": household.make_filled_shelf,
    "thing": household.make_pile,
    "vase": household.make_vase,
    "walking frame": walking_aids.make_walking_frame,
    "wall thing": openings.make_picture,
    "wheelchair": walking_aids.make_wheelchair,
    "window": openings.make_window,
}
"""Kind -> what makes a model of it."""
MADE_SHARE = 0.5
"""Of models of a kind that a bank has as well, those that code makes."""
VARIANTS = 64
"""Number of models of a kind that code makes."""
SCALES = (0.92, 1.08)
"""Models are scaled by a factor in this range, along each axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Furnishings:
    """Draws models of any kind."""

    bank: FurnitureBank

    def has(self, kind: str) -> bool:
        """Whether there are models of a kind."""
        return kind in MAKERS or kind in self.bank.by_kind

    def draw_kind(self, weights: Mapping[str, float], rng: np.random.Generator) -> str:
        """Draw one of some kinds by their weights, among those that there are models of."""
        kinds = [kind for kind in weights if self.has(kind)]
        shares = np.array([weights[kind] for kind in kinds], float)
        return str(rng.choice(kinds, p=shares / shares.sum()))

    def draw(self, kind: str, rng: np.random.Generator) -> FurnitureModel:
        """Draw a model of a kind. Raises KeyError where there is none."""
        in_bank = self.bank.by_kind.get(kind, ())
        if kind in MAKERS and (not in_bank or rng.random() < MADE_SHARE):
            return varied(_made(kind, int(rng.integers(VARIANTS))), rng)
        if not in_bank:
            raise KeyError(kind)
        return varied(in_bank[int(rng.integers(len(in_bank)))], rng)


@lru_cache(maxsize=len(MAKERS) * VARIANTS)
def _made(kind: str, variant: int) -> FurnitureModel:
    """Make a variant of a kind, kept because making is slower than drawing a frame."""
    return MAKERS[kind](np.random.default_rng([variant, *kind.encode()]))


def varied(model: FurnitureModel, rng: np.random.Generator) -> FurnitureModel:
    """Return a model scaled a little, and every other one mirrored."""
    scale = rng.uniform(*SCALES, 3)
    mirror = -1.0 if rng.random() < 0.5 else 1.0
    return replace(
        model,
        size_m=model.size_m * scale,
        vertices_m=model.vertices_m * (scale * [mirror, 1, 1]),
        top_m=None if model.top_m is None else model.top_m * float(scale[1]),
    )


def uses_models(recipe: SceneRecipe) -> bool:
    """Whether a recipe asks for models of furniture."""
    return max(recipe.model_share, recipe.model_seat_share, recipe.walking_aid_share) > 0


def furnishings_of(recipe: SceneRecipe, bank: FurnitureBank | None = None) -> Furnishings | None:
    """Return what a recipe's rooms are furnished with; None where it asks for no models.

    Parameters
    ----------
    recipe : SceneRecipe
    bank : FurnitureBank, optional
        None = the models that come with the project.
    """
    return Furnishings(bank or embedded_bank()) if uses_models(recipe) else None


def describe_furnishings(furnishings: Furnishings | None) -> dict[str, Any]:
    """Return the digest of the bank, plain data for a dataset's manifest; nothing where no models are used."""
    return {} if furnishings is None else {"furniture_bank": furnishings.bank.digest()}
