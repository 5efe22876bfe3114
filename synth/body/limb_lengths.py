"""Limbs of other lengths: arms and legs of a rest body are stretched along their bones.

Girths stay, and so do hands and feet, which move with the end of the limb. Skin near a joint follows the pieces of the
limb by its weights, as in skinning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody

LIMBS = tuple((bones, side) for side in "lr" for bones in (("upperarm", "lowerarm", "hand"), ("thigh", "calf", "foot")))
"""The bones of each limb: two that are stretched, and the one at its end."""


class LimbScales(NamedTuple):
    """Factors of bone lengths, of both sides."""

    upper_arm: float = 1.0
    forearm: float = 1.0
    thigh: float = 1.0
    shank: float = 1.0

    @classmethod
    def drawn(cls, ranges: Iterable[tuple[float, float]], rng: np.random.Generator) -> LimbScales:
        """Draw each factor evenly between its min and max; where they are the same, nothing is drawn."""
        return cls(*(rng.uniform(low, high) if low < high else low for low, high in ranges))


def scale_limbs(asset: BodyAsset, rest: RestBody, scales: LimbScales) -> RestBody:
    """Change the limb lengths of a person.

    Parameters
    ----------
    asset : BodyAsset, of which the person was made
    rest : RestBody
    scales : LimbScales, above 0; 1 = as they are

    Returns
    -------
    RestBody, soles at y = 0
    """
    points_m = np.concatenate([rest.vertices_m, rest.bone_heads_m, rest.bone_tails_m])
    weights = _limb_weights(asset)
    start_m, per_m, stretch_m, shift_m = _moves(asset, rest, scales)
    share = points_m @ per_m.T - (start_m * per_m).sum(1)
    points_m += (weights * share) @ stretch_m + weights @ shift_m
    vertices, heads = len(rest.vertices_m), len(rest.bone_heads_m)
    low, high = points_m[:vertices, 1].min(), points_m[:vertices, 1].max()
    points_m[:, 1] -= low
    vertices_m, heads_m, tails_m = np.split(points_m, [vertices, vertices + heads])
    return replace(rest, vertices_m=vertices_m, bone_heads_m=heads_m, bone_tails_m=tails_m, height_m=float(high - low))


def _moves(asset: BodyAsset, rest: RestBody, scales: LimbScales) -> np.ndarray:
    """How each piece of the limbs moves the points p that it carries: by ``shift + share(p) * stretch``.

    Returns float32 (4, P, 3): start, metres, where the share is 0; the direction of the bone divided by its length, so
    that the share is 1 at its end; stretch and shift, metres.
    """
    moves = np.zeros((4, 3 * len(LIMBS), 3), np.float32)
    factors = {"upperarm": scales.upper_arm, "lowerarm": scales.forearm, "thigh": scales.thigh, "calf": scales.shank}
    for limb, (bones, side) in enumerate(LIMBS):
        heads_m = [rest.bone_heads_m[asset.bone(f"{bone}_{side}")] for bone in bones]
        for k in range(2):
            start, per, stretch, shift = moves[:, 3 * limb + k]
            along_m = heads_m[k + 1] - heads_m[k]
            start[:], per[:], stretch[:] = heads_m[k], along_m / (along_m @ along_m), (factors[bones[k]] - 1) * along_m
            moves[3, 3 * limb + k + 1] = shift + stretch
    return moves


@lru_cache(maxsize=4)
def _limb_weights(asset: BodyAsset) -> np.ndarray:
    """Weight of every piece of the limbs on every point: float32 (V + 2 B, P)."""
    piece_of = np.full(len(asset.bone_names), -1)
    for limb, (bones, side) in enumerate(LIMBS):
        for k, bone in enumerate(bones):
            piece_of[asset.bone(f"{bone}_{side}")] = 3 * limb + k
    for row, parent in enumerate(asset.bone_parents):  # fingers and toes; a parent is always before its children
        if piece_of[row] < 0 <= parent:
            piece_of[row] = piece_of[parent]
    pieces = np.eye(3 * len(LIMBS), dtype=np.float32)[piece_of] * (piece_of >= 0)[:, None].astype(np.float32)
    of_vertices = np.einsum("vk,vkp->vp", asset.weights, pieces[asset.weight_bones])
    return np.concatenate([of_vertices, pieces, pieces])
