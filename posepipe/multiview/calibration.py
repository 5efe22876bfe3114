"""The poses of several cameras in one world, from what their pipelines find of a person who walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Extrinsics, Plane
from posepipe.errors import PosepipeError
from posepipe.multiview.frame_sets import FrameSet
from posepipe.multiview.joint_tracks import TrackCollector
from posepipe.multiview.walk_calibration import WalkCalibration, calibrate_walk
from posepipe.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedCamera:
    """Pose of one camera in the world of the first."""

    extrinsics: Extrinsics
    walk: WalkCalibration | None = None  #: how it was found; None = the first camera


class CameraCalibration:
    """Gathers the people and floors of several cameras, and finds the poses of the cameras.

    World axes are those of the first camera's floor, as `Extrinsics.above_floor` has them.

    Parameters
    ----------
    cameras : pipelines that track, one for each camera
    world : pose of the first camera; None = from its floor
    """

    def __init__(self, cameras: Sequence[Pipeline], world: Extrinsics | None = None) -> None:
        self._cameras = cameras
        self._world = world
        self._floors: list[Plane] = []  # of the first camera
        self._views = [TrackCollector(camera.classifier.body) for camera in cameras]

    def add(self, frame_set: FrameSet, shifts_s: Sequence[float]) -> None:
        """Add the frames of one frame set; ``shifts_s`` bring their times to the clock of the first camera."""
        for camera, frame in enumerate(frame_set.frames):
            if frame is None:
                continue
            result = self._cameras[camera].step(frame)
            self._views[camera].add(frame.timestamp_s + shifts_s[camera], result.people)
            if camera == 0 and result.floor is not None:
                self._floors.append(result.floor)

    def find(self, max_offset_s: float = 0.0) -> list[CalibratedCamera]:
        """Find the pose of every camera; ``max_offset_s`` as in `calibrate_walk`.

        Raises
        ------
        PosepipeError
            When the first camera sees no floor, or a person does not walk through both views of a pair.
        """
        world = self._world or self._world_of_floor()
        first = self._views[0].tracks()
        found = [CalibratedCamera(world)]
        for number, view in enumerate(self._views[1:], start=2):
            try:
                walk = calibrate_walk(first, view.tracks(), max_offset_s)
            except PosepipeError as error:
                raise PosepipeError(f"cameras 1 and {number}: {error}") from None
            rotation = world.rotation @ walk.motion.rotation
            pose = Extrinsics(rotation, world.world_points(walk.motion.translation_m))
            found.append(CalibratedCamera(pose, walk))
        return found

    def _world_of_floor(self) -> Extrinsics:
        if not self._floors:
            raise PosepipeError(
                "camera 1 sees no floor, and world axes need one: tilt it, name another camera first, or give its"
                " --extrinsics FILE"
            )
        normal = np.median([floor.normal for floor in self._floors], axis=0)
        distance_m = float(np.median([floor.distance_m for floor in self._floors]))
        x, y, z = (normal / np.linalg.norm(normal)).tolist()
        return Extrinsics.above_floor(Plane((x, y, z), distance_m))
