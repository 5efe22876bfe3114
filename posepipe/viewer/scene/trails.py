"""Trails: the paths of joints in the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.results import Track
from posepipe.viewer.scene.palette import PAGE, Palette

MAX_TRAIL_S = 10.0
"""Time for which positions are kept, seconds."""
MAX_GAP_S = 0.5
"""Longest gap within a trail, seconds; after a longer one a new trail begins."""
DEFAULT_JOINTS = ("left_hand", "right_hand", "pelvis")
"""Joints with trails on a new page, for a human body."""


def default_trail_joints(body: BodyDefinition) -> set[str]:
    """Joints with trails on a new page: DEFAULT_JOINTS, or the end joints of a body that has none of those."""
    ends = set(body.joints) - set(body.parents.values())
    return set(DEFAULT_JOINTS) & set(body.joints) or ends


class Trails:
    """Keeps joint positions of the last seconds, in camera axes.

    Parameters
    ----------
    body : joints that may leave trails
    palette : their colours
    """

    def __init__(self, body: BodyDefinition, palette: Palette) -> None:
        self._rows = {name: row for row, name in enumerate(body.joints)}
        self._colours = palette.joints
        self._seen: deque[tuple[float, dict[int, np.ndarray]]] = deque()

    def add(self, people: Sequence[Track], timestamp_s: float) -> None:
        """Add a frame. Frames with the same or a later time are removed: the source has started over."""
        while self._seen and self._seen[-1][0] >= timestamp_s:
            self._seen.pop()
        while self._seen and timestamp_s - self._seen[0][0] > MAX_TRAIL_S:
            self._seen.popleft()
        self._seen.append((timestamp_s, {track.id: self._positions(track) for track in people}))

    def clear(self) -> None:
        """Remove all trails."""
        self._seen.clear()

    def segments(self, joints: Sequence[str], last_s: float, world: Extrinsics) -> tuple[np.ndarray, np.ndarray]:
        """Line segments of the trails.

        Parameters
        ----------
        joints : names of joints
        last_s : float, length of the trails, seconds
        world : camera pose

        Returns
        -------
        ends_m : float32 (S, 2, 3), world axes, metres
        colours : uint8 (S, 2, 3), RGB, fading with age
        """
        rows = [self._rows[name] for name in joints if name in self._rows]
        if not self._seen or not rows:
            return np.zeros((0, 2, 3), np.float32), np.zeros((0, 2, 3), np.uint8)
        now_s = self._seen[-1][0]
        recent = [(t, people) for t, people in self._seen if now_s - t <= last_s]
        times_s = np.array([t for t, _ in recent])
        freshness = 1 - (now_s - times_s) / max(last_s, 1e-9)
        ids = sorted({id for _, people in recent for id in people})
        positions_m = np.full((len(ids), len(recent), len(rows), 3), np.nan)
        for k, (_, people) in enumerate(recent):
            for id, positions in people.items():
                positions_m[ids.index(id), k] = positions[rows]
        ends_m = np.stack([positions_m[:, :-1], positions_m[:, 1:]], axis=3)  # person, time, joint, end, axis
        known = np.isfinite(ends_m).all(axis=(3, 4)) & (np.diff(times_s) <= MAX_GAP_S)[None, :, None]
        faded = np.stack([freshness[:-1], freshness[1:]], axis=1)[:, None, :, None] * (
            self._colours[rows, None] - np.array(PAGE)
        )
        colours = np.broadcast_to(PAGE + faded, ends_m.shape)[known]
        return world.world_points(ends_m[known]).astype(np.float32), colours.astype(np.uint8)

    def _positions(self, track: Track) -> np.ndarray:
        """Joint positions of a track: float64 (J, 3), NaN = absent."""
        positions = np.full((len(self._rows), 3), np.nan)
        for name, joint in track.pose.joints.items():
            if name in self._rows:
                positions[self._rows[name]] = joint.xyz_m
        return positions
