"""Where joints were in the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.results import Track
from posepipe.viewer.scene.palette import PAPER, Palette

MOST_S = 10.0
"""Longer nothing is remembered."""
GAP_S = 0.5
"""Who was away for longer begins a new trail."""
USUAL = ("left_hand", "right_hand", "pelvis")
"""What moves most, and what everything hangs on."""


def usual_trails(body: BodyDefinition) -> set[str]:
    """Joints that leave trails until others are asked for: `USUAL`; of a body without those, its ends."""
    ends = set(body.joints) - set(body.parents.values())
    return set(USUAL) & set(body.joints) or ends


class Trails:
    """Remembers joints, camera axes; what a source that started over knew is forgotten."""

    def __init__(self, body: BodyDefinition, palette: Palette) -> None:
        self._rows = {name: row for row, name in enumerate(body.joints)}
        self._colours = palette.joints
        self._seen: deque[tuple[float, dict[int, np.ndarray]]] = deque()

    def add(self, people: Sequence[Track], timestamp_s: float) -> None:
        """Remember a frame; a time that is not after the last takes the place of what came after it."""
        while self._seen and self._seen[-1][0] >= timestamp_s:
            self._seen.pop()
        while self._seen and timestamp_s - self._seen[0][0] > MOST_S:
            self._seen.popleft()
        self._seen.append((timestamp_s, {track.id: self._places(track) for track in people}))

    def forget(self) -> None:
        """What comes next does not follow."""
        self._seen.clear()

    def segments(self, joints: Sequence[str], last_s: float, world: Extrinsics) -> tuple[np.ndarray, np.ndarray]:
        """Pieces of trail: float32 (S, 2, 3), world metres, and colours, uint8 (S, 2, 3), fainter the older."""
        rows = [self._rows[name] for name in joints if name in self._rows]
        if not self._seen or not rows:
            return np.zeros((0, 2, 3), np.float32), np.zeros((0, 2, 3), np.uint8)
        now_s = self._seen[-1][0]
        recent = [(t, people) for t, people in self._seen if now_s - t <= last_s]
        times_s = np.array([t for t, _ in recent])
        fresh = 1 - (now_s - times_s) / max(last_s, 1e-9)
        ids = sorted({id for _, people in recent for id in people})
        places_m = np.full((len(ids), len(recent), len(rows), 3), np.nan)
        for k, (_, people) in enumerate(recent):
            for id, places in people.items():
                places_m[ids.index(id), k] = places[rows]
        ends_m = np.stack([places_m[:, :-1], places_m[:, 1:]], axis=3)  # person, time, joint, end, axis
        whole = np.isfinite(ends_m).all(axis=(3, 4)) & (np.diff(times_s) <= GAP_S)[None, :, None]
        faded = np.stack([fresh[:-1], fresh[1:]], axis=1)[:, None, :, None] * (
            self._colours[rows, None] - np.array(PAPER)
        )
        colours = np.broadcast_to(PAPER + faded, ends_m.shape)[whole]
        return world.world_points(ends_m[whole]).astype(np.float32), colours.astype(np.uint8)

    def _places(self, track: Track) -> np.ndarray:
        """Joints of a track: float64 (J, 3), NaN = not found."""
        places = np.full((len(self._rows), 3), np.nan)
        for name, joint in track.pose.joints.items():
            if name in self._rows:
                places[self._rows[name]] = joint.xyz_m
        return places
