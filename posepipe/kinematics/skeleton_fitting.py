"""Fit a skeleton of rigid bones to measured joints: constant bone lengths and joint rotations, as animation needs.

The fit minimises the sum of squared distances to the measured joints. Each rotation has a closed form (Kabsch) while
the others are fixed. A first pass from the root outwards aims every bone at its end joint; further sweeps refine each
rotation for all joints below it. Positions do not define the rotation of a bone about its own axis. It is that of the
measured rotation of the joint, if there is one, else it is inherited from the parent joint.

References
----------
Kabsch, A solution for the best rotation to relate two sets of vectors, Acta Cryst. A32, 1976.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.body import HUMAN, BodyDefinition

_TEMPLATE_ITERATIONS = 50  # at most, for the constant shape where bones branch; three suffice for rigid joints
_TEMPLATE_STEP_M = 1e-5  # a smaller change ends them
_SWEEPS = 4  # more sweeps change the RMS distance by about a millimetre
_PARENT_WEIGHT = 1e-8  # small: decides only the rotation that the bones do not define

_LEFT, _UP, _DOWN, _FORWARD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, -0.42, 0.91)
_LIMBS_AT_REST = {
    **dict.fromkeys(("shoulder", "elbow", "wrist", "hand", "hip"), _LEFT),
    **dict.fromkeys(("knee", "ankle"), _DOWN),
    "foot": _FORWARD,  # the ankle is above the ball of the foot
}
T_POSE = {
    **dict.fromkeys(("torso", "neck", "head"), _UP),
    **{f"left_{limb}": direction for limb, direction in _LIMBS_AT_REST.items()},
    **{f"right_{limb}": (-x, y, z) for limb, (x, y, z) in _LIMBS_AT_REST.items()},
}
"""Direction from the parent to each joint in a person's rest pose: y up, facing +z, left = +x."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedSkeleton:
    """Rigid bones and their motion: J joints, parents before children; T times."""

    joints: tuple[str, ...]
    parents: tuple[int, ...]  #: row of the parent joint, -1 for the root
    offsets_m: np.ndarray  #: float64 (J, 3), from the parent, in the rest pose
    root_m: np.ndarray  #: float64 (T, 3), position of the root
    rotations: np.ndarray  #: float64 (T, J, 3, 3), of each joint from the rest pose

    def positions_m(self) -> np.ndarray:
        """Joint positions, float64 (T, J, 3), metres."""
        positions = np.empty((*self.rotations.shape[:2], 3))
        for joint, parent in enumerate(self.parents):
            offset = self.rotations[:, parent] @ self.offsets_m[joint] if parent >= 0 else 0.0
            positions[:, joint] = (positions[:, parent] if parent >= 0 else self.root_m) + offset
        return positions

    def local_rotations(self) -> np.ndarray:
        """Rotation of each joint relative to its parent, float64 (T, J, 3, 3)."""
        local = self.rotations.copy()
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                local[:, joint] = self.rotations[:, parent].transpose(0, 2, 1) @ self.rotations[:, joint]
        return local


def bone_lengths(joints_m: np.ndarray) -> np.ndarray:
    """Median distance between every two joints over the frames with both, float64 (J, J), metres; NaN = no frame.

    Parameters
    ----------
    joints_m : float (T, J, 3), metres, as found; NaN = absent. Positions that fill gaps would count as measured
    """
    joints = joints_m.shape[1]
    lengths = np.full((joints, joints), np.nan)
    for one in range(joints):
        distances = np.linalg.norm(joints_m - joints_m[:, [one]], axis=-1)
        seen = np.isfinite(distances)
        for other in np.flatnonzero(seen.any(axis=0)):
            lengths[one, other] = np.median(distances[seen[:, other], other])
    return lengths


def fit_skeleton(
    body: BodyDefinition,
    joints_m: np.ndarray,
    lengths_m: np.ndarray,
    turns: np.ndarray | None = None,
    absent: np.ndarray | None = None,
) -> FittedSkeleton:
    """Fit rigid bones to measured joints.

    The rest pose of a person is a T-pose (`T_POSE`); that of any other body is its first pose.

    Parameters
    ----------
    body : BodyDefinition, joints and parents
    joints_m : float (T, J, 3), T > 0, right-handed axes with y up, metres; each joint is finite at all times or at
        none. A joint without positions is left out, and its children are attached to its nearest known ancestor
    lengths_m : float (J, J), length of the bone between two joints, metres, as `bone_lengths`; NaN = the
        median over ``joints_m``
    turns : float (T, J, 3, 3), measured rotation of each joint from any rest pose of its own; None = not measured
    absent : bool (T, J), joints whose position only fills a gap: it does not count, and the bones around keep their
        last rotation to each other. Without any joint the skeleton stays as it was. None = all are measured

    Returns
    -------
    FittedSkeleton

    Raises
    ------
    ValueError
        If no joint has positions, or if the parents form a cycle.
    """
    joints_m = np.asarray(joints_m, float)
    known = np.isfinite(joints_m).all(axis=(0, 2))
    rows, parents = _hierarchy(body, known)
    measured = joints_m[:, rows]
    seen = np.ones(measured.shape[:2], bool) if absent is None else ~absent[:, rows]
    last = _last_rows(np.any(seen, axis=1))
    fitted, last = np.unique(last, return_inverse=True)  # frames without any joint repeat another one
    measured, seen, turns = measured[fitted], seen[fitted], None if turns is None else turns[fitted]
    names = tuple(body.joints[row] for row in rows)
    rest = _rest_directions(body, names, parents, measured)
    for joint, parent in enumerate(parents):
        length = lengths_m[rows[joint], rows[parent]] if parent >= 0 else 0.0
        if not np.isfinite(length):
            both = seen[:, joint] & seen[:, parent]
            bones = (measured[:, joint] - measured[:, parent])[both if both.any() else ...]
            length = np.median(np.linalg.norm(bones, axis=-1))
        rest[joint] *= length
    offsets = _fit_branches(rest, parents, measured, seen)
    defaults = None if turns is None else _turned(rest, parents, measured, seen, turns[:, rows])
    positions, rotations = _aim(offsets, parents, measured, seen, defaults)
    for _ in range(_SWEEPS):
        _sweep(offsets, parents, measured, seen, positions, rotations, defaults)
    return FittedSkeleton(names, tuple(parents), offsets, positions[last, 0], rotations[last])


def _hierarchy(body: BodyDefinition, known: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows of the known joints in depth-first order, and the index of each one's parent in that order."""
    ancestors = {
        joint: _known_ancestor(body, joint, known) for joint, found in zip(body.joints, known, strict=True) if found
    }
    if not ancestors:
        raise ValueError("a skeleton needs at least one joint, got none")
    root = next((joint for joint, parent in ancestors.items() if parent is None), "")
    order, parents, stack = [], [], [(root, -1)] if root else []
    while stack:
        joint, parent = stack.pop()
        order.append(joint)
        parents.append(parent)
        # a joint without a known ancestor is attached to the root
        children = [c for c, p in ancestors.items() if c != root and (p or root) == joint]
        stack.extend((child, len(order) - 1) for child in reversed(children))
    if len(order) < len(ancestors):
        raise ValueError(f"body {body.name!r}: the parents of {(ancestors.keys() - order).pop()!r} form a cycle")
    return [body.joint_index(joint) for joint in order], parents


def _known_ancestor(body: BodyDefinition, joint: str, known: np.ndarray) -> str | None:
    parent = body.parents.get(joint)
    for _ in body.joints:
        if parent is None or known[body.joint_index(parent)]:
            return parent
        parent = body.parents.get(parent)
    raise ValueError(f"body {body.name!r}: the parents of {joint!r} form a cycle")  # among joints without positions


def _rest_directions(
    body: BodyDefinition, names: Sequence[str], parents: Sequence[int], measured: np.ndarray
) -> np.ndarray:
    """Unit vectors from the parent in the rest pose, float64 (J, 3); the root's is 0."""
    human = all(HUMAN.parents.get(name, "") == body.parents.get(name) for name in names)
    directions = np.zeros((len(names), 3))
    for joint, parent in enumerate(parents):
        if parent >= 0:
            first = T_POSE.get(names[joint], _UP) if human else measured[0, joint] - measured[0, parent]
            length = np.linalg.norm(first)
            directions[joint] = np.asarray(first) / length if length > 0 else _UP
    return directions


def _children(parents: Sequence[int], joint: int) -> list[int]:
    return [child for child, parent in enumerate(parents) if parent == joint]


def _fit_branches(rest: np.ndarray, parents: Sequence[int], measured: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Offsets whose angles between bones that share a joint are the mean over all times."""
    offsets = rest.copy()
    lengths = np.linalg.norm(rest, axis=-1, keepdims=True)
    for joint in range(len(parents)):
        children = _children(parents, joint)
        if len(children) < 2:
            continue
        counts = seen[:, children] & seen[:, [joint]]
        counts &= counts.sum(axis=1, keepdims=True) > 1  # one bone tells nothing of angles
        bones, shape = (measured[:, children] - measured[:, [joint]]) * counts[..., None], rest[children]
        for _ in range(_TEMPLATE_ITERATIONS):
            rotations = _kabsch(shape, bones, np.eye(3))
            mean = np.einsum("tba,tkb->ka", rotations, bones)
            sizes = np.linalg.norm(mean, axis=-1, keepdims=True)
            before, shape = shape, np.where(sizes > 0, mean * lengths[children] / np.where(sizes > 0, sizes, 1), shape)
            if np.abs(shape - before).max() < _TEMPLATE_STEP_M:
                break
        offsets[children] = shape @ _kabsch(shape, rest[None, children], np.eye(3))[0].T
    return offsets


def _turned(
    rest: np.ndarray, parents: Sequence[int], measured: np.ndarray, seen: np.ndarray, turns: np.ndarray
) -> np.ndarray:
    """Measured rotations (T, J, 3, 3), from the rest pose of the skeleton instead of their own.

    A joint's bone is the one to its first child; the last joint of a limb turns with the bone that ends there.
    """
    found = turns.copy()
    for joint, parent in enumerate(parents):
        end, start = (children[0], joint) if (children := _children(parents, joint)) else (joint, parent)
        if start < 0:
            continue
        bones = (measured[:, end] - measured[:, start]) * (seen[:, end] & seen[:, start])[:, None]
        own = np.einsum("tab,ta->b", turns[:, start], bones)[None, None]  # in the axes of the joint at its own rest
        aligned = _kabsch(rest[None, end], own, np.eye(3))[0]
        found[:, joint] = turns[:, joint] @ aligned
    return found


def _aim(
    offsets: np.ndarray,
    parents: Sequence[int],
    measured: np.ndarray,
    seen: np.ndarray,
    defaults: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (T, J, 3) and rotations (T, J, 3, 3) that aim every bone at its end; the root stays as measured."""
    positions = measured.copy()
    rotations = np.broadcast_to(np.eye(3), (*measured.shape[:2], 3, 3)).copy()
    placed = seen[:, :1]  # without its root a body is not placed yet: only bones with both ends have a direction
    for joint, parent in enumerate(parents):
        if parent >= 0:
            positions[:, joint] = positions[:, parent] + rotations[:, parent] @ offsets[joint]
        children = _children(parents, joint)
        starts = np.where(placed, positions[:, joint], measured[:, joint])
        counts = seen[:, children] & (placed | seen[:, [joint]])
        aims = (measured[:, children] - starts[:, None]) * counts[..., None]
        _rotate(rotations, joint, parent, offsets[children], aims, seen[:, [joint, *children]], defaults)
    return positions, rotations


def _sweep(
    offsets: np.ndarray,
    parents: Sequence[int],
    measured: np.ndarray,
    seen: np.ndarray,
    positions: np.ndarray,
    rotations: np.ndarray,
    defaults: np.ndarray | None,
) -> None:
    """Replace every rotation, from the root outwards, by the best one while the others are fixed; in place."""
    subtrees = _subtrees(parents)
    counts = seen.astype(float) @ subtrees.T  # (T, J), measured joints of each subtree
    pulls = (measured - positions) * seen[..., None]
    positions += (pulls.sum(axis=1) / np.maximum(counts[:, :1], 1))[:, None]
    for joint, parent in enumerate(parents):
        children = _children(parents, joint)
        # a child moves its whole subtree: its target is the mean of what the joints of the subtree ask for
        pulls = (measured - positions) * seen[..., None]
        asked = np.einsum("tja,cj->tca", pulls, subtrees[children].astype(float))
        aims = asked + (positions[:, children] - positions[:, [joint]]) * counts[:, children, None]
        _rotate(rotations, joint, parent, offsets[children], aims, seen[:, [joint, *children]], defaults)
        for child in children:
            shift = positions[:, joint] + rotations[:, joint] @ offsets[child] - positions[:, child]
            positions[:, subtrees[child]] += shift[:, None]


def _rotate(
    rotations: np.ndarray,
    joint: int,
    parent: int,
    bones: np.ndarray,
    aims: np.ndarray,
    seen: np.ndarray,
    defaults: np.ndarray | None,
) -> None:
    """Replace the rotation of a joint by the best one for its bones, in place.

    ``defaults``, else the parent, decides what the bones leave undefined. Where joints are not measured, that is the
    last local rotation that was.

    Parameters
    ----------
    aims : float (T, K, 3), weighted; 0 = the bone does not count
    seen : bool (T, 1 + K), whether the joint and the ends of its bones are measured
    """
    before = rotations[:, parent] if parent >= 0 else np.broadcast_to(np.eye(3), rotations[:, joint].shape)
    default = before if defaults is None else defaults[:, joint]
    found = _kabsch(bones, aims, default) if len(bones) else default.copy()
    whole = np.all(seen, axis=1) if defaults is None else seen[:, 0]
    lost, last = np.flatnonzero(~whole), _last_rows(whole if whole.any() else np.any(seen[:, 1:], axis=1))[~whole]
    if len(lost):
        kept = before[lost] @ before[last].transpose(0, 2, 1) @ found[last]
        found[lost] = _kabsch(bones, aims[lost], kept)
    rotations[:, joint] = found


def _last_rows(seen: np.ndarray) -> np.ndarray:
    """Last row up to each row of bool (T,) that is True, before the first one that one; int (T,)."""
    rows = np.maximum.accumulate(np.where(seen, np.arange(len(seen)), -1))
    return np.where(rows < 0, seen.argmax(), rows)


def _subtrees(parents: Sequence[int]) -> np.ndarray:
    """Whether joint k is joint j or below it, at [j, k]: bool (J, J)."""
    subtrees = np.eye(len(parents), dtype=bool)
    for joint in range(len(parents) - 1, 0, -1):
        subtrees[parents[joint]] |= subtrees[joint]
    return subtrees


def _kabsch(shape: np.ndarray, aims: np.ndarray, default: np.ndarray) -> np.ndarray:
    """Rotations (T, 3, 3) that best map vectors (K, 3) onto aims (T, K, 3).

    ``default``, (3, 3) or (T, 3, 3), decides what the vectors leave undefined.
    """
    covariance = np.einsum("tka,kb->tab", aims, shape)
    size = np.linalg.norm(covariance, axis=(1, 2), keepdims=True)
    u, _, vt = np.linalg.svd(covariance + _PARENT_WEIGHT * np.where(size > 0, size, 1.0) * default)
    u[..., 2] *= np.linalg.det(u @ vt)[:, None]  # a rotation, never a reflection
    return u @ vt
