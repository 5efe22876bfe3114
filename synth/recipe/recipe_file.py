"""Recipes as TOML: those that come with posepipe, by name, and users' own files."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import is_absent
from posepipe.io.toml_file import read_toml
from synth.recipe.recipe import OLD_NAMES, SECTIONS, Recipe
from synth.sensors.sensor_file import find_sensor

RECIPES_DIR = Path(__file__).parents[1] / "recipes"
_log = logging.getLogger(__name__)


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that come with posepipe."""
    return tuple(sorted(path.stem for path in RECIPES_DIR.glob("*.toml")))


def read_recipe(recipe: str | Path, **instead: Any) -> Recipe:
    """Read a recipe by its name, or from a TOML file; ``instead`` are general fields that replace its own.

    The path of a sensor file is relative to the recipe's folder. Former names of fields are accepted. For a user's
    file, each former name is logged once.

    Raises
    ------
    PosepipeError
        When it is neither, or the file does not make a recipe.
    """
    named = RECIPES_DIR / f"{recipe}.toml"
    is_named = str(recipe) in recipe_names()
    path = named if is_named else Path(recipe)
    if is_absent(path):
        raise PosepipeError(f"no recipe {str(recipe)!r}: give a TOML file or one of {', '.join(recipe_names())}")
    data = read_toml(path) | instead  # before they are checked: frames make whole sequences
    try:
        if isinstance(data.get("sensor"), str):
            data["sensor"] = find_sensor(data["sensor"], path.parent)
        read = Recipe.from_dict(data)
    except ValueError as error:
        raise FormatError(path, str(error)) from None
    if not is_named:
        tables = [data, *(data[section] for section in SECTIONS if section in data)]
        for name in sorted({name for table in tables for name in table} & set(OLD_NAMES)):
            _hint_at_new_name(name)
    return read


@cache  # once for each name
def _hint_at_new_name(old: str) -> None:
    _log.warning("recipe: %s is now called %s; the former name works for one release", old, OLD_NAMES[old])
