"""The recipe: everything that decides what a dataset shows. One file for each of its sections."""

from synth.recipe.background_recipe import BackgroundRecipe
from synth.recipe.camera_recipe import CameraRecipe
from synth.recipe.clothing_recipe import ClothingRecipe
from synth.recipe.image_recipe import ImageRecipe
from synth.recipe.material_recipe import MaterialRecipe
from synth.recipe.pose_recipe import PoseRecipe
from synth.recipe.proportion_recipe import MAKEHUMAN_PROPORTIONS, MEASURED_PROPORTIONS, ProportionRecipe
from synth.recipe.recipe import FPS, SECTIONS, Recipe, flat_fields
from synth.recipe.recipe_file import RECIPES_DIR, read_recipe, recipe_names
from synth.recipe.scene_recipe import SceneRecipe

__all__ = [
    "FPS",
    "MAKEHUMAN_PROPORTIONS",
    "MEASURED_PROPORTIONS",
    "RECIPES_DIR",
    "SECTIONS",
    "BackgroundRecipe",
    "CameraRecipe",
    "ClothingRecipe",
    "ImageRecipe",
    "MaterialRecipe",
    "PoseRecipe",
    "ProportionRecipe",
    "Recipe",
    "SceneRecipe",
    "flat_fields",
    "read_recipe",
    "recipe_names",
]
