"""Clothes and hair: the rest mesh displaced along its normals, region by region.

Loose trousers join the legs into one surface, sleeves hide the elbow, hair widens the head and hides the neck. Labels
and joints are unchanged. Skirts and coats hang free of the skin and are meshes of their own
(`synth.clothing.skirt_mesh`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from synth.body.body_asset import BodyAsset
from synth.clothing.skirt_mesh import Skirt, sample_skirt
from synth.clothing.wrinkles import push_out


class Garment(NamedTuple):
    """Region of a garment, and its distance from the skin, centimetres."""

    covers: tuple[str, ...]  #: prefixes of bones, or one region of the head
    stand_off_cm: tuple[float, float]


_LEGS, _TRUNK = ("thigh_", "calf_", "pelvis"), ("spine_", "clavicle_", "pelvis")
GARMENTS = {
    "leggings": Garment(_LEGS, (0.0, 0.8)),
    "trousers": Garment(_LEGS, (0.5, 3.5)),
    "wide trousers": Garment(("thigh_", "calf_"), (3.0, 7.0)),
    "shorts": Garment(("thigh_", "pelvis"), (0.5, 4.0)),
    "vest": Garment(_TRUNK, (0.0, 1.0)),
    "shirt": Garment((*_TRUNK, "upperarm_"), (0.5, 3.0)),
    "jumper": Garment(_TRUNK, (0.8, 3.5)),
    "jacket": Garment(_TRUNK, (1.5, 5.0)),
    "sleeves": Garment(("upperarm_", "lowerarm_"), (0.5, 2.8)),
    "shoes": Garment(("foot_", "ball_"), (0.3, 2.0)),
    "hair": Garment(("hair",), (0.3, 4.0)),
    "long hair": Garment(("long hair",), (1.0, 4.5)),
    "hat": Garment(("crown",), (1.5, 8.0)),
    "brim": Garment(("brim",), (3.0, 7.0)),
}
WARDROBE: tuple[tuple[tuple[tuple[str, ...], float], ...], ...] = (
    # of each line one entry is worn: garments and their share; () = none
    ((("leggings",), 0.25), (("trousers",), 0.35), (("wide trousers",), 0.2), (("shorts",), 0.12), ((), 0.08)),
    ((("vest",), 0.2), (("shirt",), 0.35), (("jumper", "sleeves"), 0.2), (("jacket", "sleeves"), 0.2), ((), 0.05)),
    ((("shoes",), 0.8), ((), 0.2)),
    ((("hair",), 0.45), (("long hair",), 0.2), (("hat",), 0.08), (("hat", "brim"), 0.07), ((), 0.2)),
)
_CUMULATED = tuple(np.cumsum([share for _, share in line]) for line in WARDROBE)
PLAIN = {
    # the wardrobe of the validation set: each garment, and the share of people who wear it
    "plain trousers": (Garment(_LEGS, (0.0, 4.0)), 0.8),
    "plain top": (Garment(_TRUNK, (0.0, 3.0)), 0.8),
    "short sleeves": (Garment(("upperarm_",), (0.0, 2.5)), 0.7),
    "long sleeves": (Garment(("lowerarm_",), (0.0, 2.0)), 0.4),
    "plain shoes": (Garment(("foot_", "ball_"), (0.0, 1.5)), 0.8),
    "plain hair": (Garment(("head",), (0.0, 3.0)), 0.6),
}
SKIRT_SHARE, COAT_SHARE = 0.12, 0.3
"""Share of people who wear a skirt, and of those in a jacket, whose jacket is a coat."""
N_WAVES = 6
"""Number of waves whose sum makes the wrinkles."""
WAVES_RAD_M = 25.0
"""Standard deviation along each axis, radians a metre: wrinkles about 25 cm apart."""


@dataclass(frozen=True, slots=True)
class Outfit:
    """Distance of each garment from the skin, metres; a garment that is not worn is absent."""

    stand_off_m: dict[str, float]
    skirt: Skirt | None = None


def sample_outfit(wardrobe: str, rng: np.random.Generator) -> Outfit:
    """Draw what a person wears, from the "plain" or the "full" wardrobe."""
    if wardrobe == "plain":
        return Outfit({name: _draw_m(g, rng) for name, (g, share) in PLAIN.items() if rng.random() < share})
    worn: list[str] = []
    for line, cumulated in zip(WARDROBE, _CUMULATED, strict=True):
        worn += line[int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))][0]
    with_skirt = rng.random() < (COAT_SHARE if "jacket" in worn else SKIRT_SHARE)
    stand_off_m = {name: _draw_m(GARMENTS[name], rng) for name in worn}
    return Outfit(stand_off_m, sample_skirt(rng) if with_skirt else None)


def _draw_m(garment: Garment, rng: np.random.Generator) -> float:
    """Distance from the skin in metres: mostly close-fitting, sometimes loose."""
    low, high = garment.stand_off_cm
    return float((low + rng.beta(1.2, 2.0) * (high - low)) / 100)


def garment_weights(asset: BodyAsset) -> dict[str, np.ndarray]:
    """Return the coverage of each vertex by each garment: float32 (V,) in [0, 1]."""
    regions = _head_regions(asset)
    return {
        name: regions[garment.covers[0]] if garment.covers[0] in regions else _on_bones(asset, garment.covers)
        for name, garment in (GARMENTS | {name: garment for name, (garment, _) in PLAIN.items()}).items()
    }


def _on_bones(asset: BodyAsset, prefixes: tuple[str, ...]) -> np.ndarray:
    """Sum of the skin weights of some bones: float32 (V,)."""
    covered = np.array([name.startswith(prefixes) for name in asset.bone_names])
    return (covered[asset.weight_bones] * asset.weights).sum(axis=1).astype(np.float32)


def _head_regions(asset: BodyAsset) -> dict[str, np.ndarray]:
    """Coverage by hair and hats on the mean person: float32 (V,) each, with smooth borders."""
    skin_m = asset.mean_m[: asset.n_vertices]
    head = _on_bones(asset, ("head",))
    base = asset.mean_m[asset.n_vertices + asset.bone("head")]
    crown_m = float((skin_m[head > 0.9, 1]).max())
    height = (skin_m[:, 1] - base[1]) / (crown_m - base[1])  # 0 at the base of the skull, 1 at the crown
    behind = base[2] + 0.03 - skin_m[:, 2]  # metres behind the ears
    scalp = np.maximum(_soft(behind, 0.02), _soft(height - 0.68, 0.05))
    neck = _on_bones(asset, ("neck", "head")) * _soft(behind, 0.02)
    back = (
        _on_bones(asset, ("spine_03", "clavicle_"))
        * _soft(behind + 0.03, 0.02)
        * _soft(skin_m[:, 1] - base[1] + 0.28, 0.05)
    )
    return {
        "hair": head * scalp,
        "long hair": np.maximum.reduce([head * scalp, neck, back]),
        "crown": head * _soft(height - 0.6, 0.03),
        "brim": head * _soft(height - 0.58, 0.02) * _soft(0.72 - height, 0.02),
    }


def _soft(distance: np.ndarray, width: float) -> np.ndarray:
    """0 below -width, 1 above width, linear between: float32."""
    return np.clip(0.5 + distance / (2 * width), 0, 1).astype(np.float32)


def dress(
    vertices_m: np.ndarray,
    normals: np.ndarray,
    weights: dict[str, np.ndarray],
    outfit: Outfit,
    rng: np.random.Generator,
) -> np.ndarray:
    """Displace the rest mesh by an outfit.

    Parameters
    ----------
    vertices_m : float32 (V, 3), metres
        Rest mesh.
    normals : float32 (V, 3)
        Unit, outward.
    weights : dict
        From `garment_weights`.
    outfit : Outfit
    rng : numpy.random.Generator
        Draws the wrinkles.

    Returns
    -------
    float32 (V, 3), metres
    """
    stand_off = np.zeros(len(vertices_m), np.float32)
    for garment, metres in outfit.stand_off_m.items():
        np.maximum(stand_off, weights[garment] * np.float32(metres), out=stand_off)
    waves = (rng.normal(0, WAVES_RAD_M, (3, N_WAVES)) / (2 * np.pi)).astype(np.float32)
    phases = rng.uniform(0, 1, N_WAVES).astype(np.float32)
    out = np.empty_like(vertices_m)
    push_out(vertices_m, normals, stand_off, waves, phases, out)
    return out
