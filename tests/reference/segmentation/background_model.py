"""Naive twin of posepipe/segmentation/room_geometry/background_model.py: one pixel at a time, with its readings."""

import numpy as np


def learn(depths_m, people, doubtful, tolerance_of, seen_frames, stands_frames, follow):
    """Background (H, W) after frames (T, H, W); ``tolerance_of`` a depth is twice that of a plane."""
    background_m = np.zeros(depths_m.shape[1:])
    for place in np.ndindex(background_m.shape):
        known_m, waiting_m = 0.0, []
        for frame in range(len(depths_m)):
            z = float(depths_m[frame][place])
            if people[frame][place]:
                waiting_m = []
            elif z > 0 and known_m > 0 and abs(z - known_m) <= tolerance_of(z):
                known_m, waiting_m = known_m + follow * (z - known_m), []
            elif z > 0:
                is_constant = len(waiting_m) > 0 and abs(z - np.mean(waiting_m)) <= tolerance_of(z)
                waiting_m = [*waiting_m, z] if is_constant else [z]
                is_slow = doubtful[frame][place] or z < known_m
                if len(waiting_m) >= max(2, stands_frames if is_slow else seen_frames):
                    known_m, waiting_m = float(np.mean(waiting_m)), []
        background_m[place] = known_m
    return background_m


def before(depth_m, background_m, tolerance_of):
    """Readings (H, W) that are nearer than a known background."""
    known = (background_m > 0) & (depth_m >= background_m - tolerance_of(background_m))
    return (depth_m > 0) & ~known
