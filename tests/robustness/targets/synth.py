"""Targets of the renderer: recipes, creatures, sensors, bone maps and motion capture."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np

from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from synth.backgrounds.background_bank import read_backgrounds
from synth.body.creatures import read_creature
from synth.dataset_writer import _recorded_recipe
from synth.furniture.catalogues.build_bank import build_bank
from synth.furniture.model_bank import read_bank, write_bank
from synth.motion.mocap import read_mocap
from synth.motion.mocap.bone_maps import read_bone_map
from synth.motion.motions import Motion
from synth.motion.poses.clips import (
    PoseBank,
    embedded_pose_bank,
    is_pose_bank,
    read_motions,
    write_motions,
    write_pose_bank,
)
from synth.recipe import RECIPES_DIR, Recipe, read_recipe
from synth.sensors.sensor_file import read_sensor
from synth.sensors.sensor_presets import PRESETS
from tests.robustness.targets.described import describe
from tests.robustness.targets.target import Target
from tests.support.furniture_catalogue import write_catalogue
from tests.support.paths import EXAMPLES, ROOT
from tests.support.recordings.mocap_writers import CMU, MIXAMO, SourceSkeleton, asf_amc_text, bvh_text
from tests.support.toy_person import toy_frames


@cache
def _poses() -> np.ndarray:
    """A standing pose and two others, float32 (3, 20, 4)."""
    standing = np.tile(np.array([0, 0, 0, 1], np.float32), (1, 20, 1))
    return np.concatenate([standing, embedded_pose_bank().rotations[:2]])


def _recipe(folder: Path) -> None:
    shutil.copy(RECIPES_DIR / "train.toml", folder / "recipe.toml")
    text = (folder / "recipe.toml").read_text(encoding="utf-8")
    (folder / "recipe.toml").write_text(text + "\n# a sensor of one's own lies beside a recipe\n", encoding="utf-8")
    shutil.copy(RECIPES_DIR / "backgrounds.toml", folder / "backgrounds.toml")


def _read_recipes(folder: Path) -> None:
    for path in sorted(folder.glob("*.toml")):
        read_recipe(path)


def _creature(folder: Path) -> None:
    shutil.copy(EXAMPLES / "quadruped.toml", folder / "creature.toml")


def _use_creature(folder: Path) -> None:
    creature = read_creature(folder / "creature.toml")
    creature.draw(np.random.default_rng(0))
    str((creature.body, creature.mesh()))


def _sensor(folder: Path) -> None:
    fields = PRESETS["kinect-v1-320"].to_dict()
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in fields.items() if value is not None]
    (folder / "sensor.toml").write_text("".join(lines))


def _bone_map(folder: Path) -> None:
    shutil.copy(ROOT / "synth" / "data" / "bone_maps" / "cmu_asf.toml", folder / "map.toml")


def _bvh(folder: Path) -> None:
    (folder / "walk.bvh").write_text(bvh_text(SourceSkeleton(MIXAMO), _poses()))


def _asf_amc(folder: Path) -> None:
    asf, amc = asf_amc_text(SourceSkeleton(CMU), _poses())
    (folder / "07.asf").write_text(asf)
    (folder / "07_01.amc").write_text(amc)


def _pose_bank(folder: Path) -> None:
    bank = embedded_pose_bank()
    write_pose_bank(PoseBank(bank.rotations[:4], bank.bones, bank.clips[:4]), folder / "bank.npz")


def _read_pose_bank(folder: Path) -> None:
    is_pose_bank(folder / "bank.npz")
    read_mocap(folder / "bank.npz")
    describe(folder / "bank.npz")


def _motions(folder: Path) -> None:
    still = np.zeros((3, 3), np.float32)
    write_motions({"walk": Motion(_poses(), still, 30.0)}, folder / "motions.npz")


def _begun_dataset(folder: Path) -> None:
    manifest = {"recipe": {**Recipe().to_dict(), "frames": 3}}
    (folder / "dataset.json").write_text(json.dumps(manifest, default=str))


def _furniture_bank(folder: Path) -> None:
    write_catalogue(folder / "one.sh3f")
    write_bank(build_bank([folder / "one.sh3f"]), folder / "bank.npz")
    (folder / "one.sh3f").unlink()


def _backgrounds(folder: Path) -> None:
    frames = [frame.depth for frame in toy_frames(2)]
    write_npz_pack(folder / "room.npz", frames)
    write_png_folder(folder / "rooms", frames)


def _use_furniture_bank(folder: Path) -> None:
    for model in read_bank(folder / "bank.npz").models:
        model.mesh()


SYNTH_TARGETS = (
    Target("recipe", _recipe, _read_recipes, ("synth.recipe.recipe", "synth.recipe.recipe_file")),
    Target("creature", _creature, _use_creature, ("synth.body.creatures",)),
    Target("sensor", _sensor, lambda f: read_sensor(f / "sensor.toml"), ("synth.sensors.sensor_file",)),
    Target("bone-map", _bone_map, lambda f: read_bone_map(f / "map.toml"), ("synth.motion.mocap.bone_maps",)),
    Target(
        "bvh",
        _bvh,
        lambda f: read_mocap(f / "walk.bvh"),
        ("synth.motion.mocap.bvh", "synth.motion.mocap.capture"),
    ),
    Target("asf-amc", _asf_amc, lambda f: read_mocap(f / "07_01.amc"), ("synth.motion.mocap.asf_amc",)),
    Target("pose-bank", _pose_bank, _read_pose_bank, ("synth.motion.poses.clips",)),
    Target("motions", _motions, lambda f: read_motions(f / "motions.npz"), ()),
    Target("furniture-bank", _furniture_bank, _use_furniture_bank, ("synth.furniture.model_bank",)),
    Target(
        "furniture-catalogue",
        lambda f: write_catalogue(f / "one.sh3f"),
        lambda f: build_bank([f / "one.sh3f"]),
        ("synth.furniture.catalogues.catalogue",),
    ),
    Target("backgrounds", _backgrounds, lambda f: read_backgrounds([f / "room.npz", f / "rooms"]).digest(), ()),
    Target("begun-dataset", _begun_dataset, lambda f: _recorded_recipe(f / "dataset.json"), ("synth.dataset_writer",)),
)
