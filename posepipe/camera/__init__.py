"""The camera: pinhole model, position in the world, lens distortion, presets by name."""

from posepipe.camera.extrinsics import Extrinsics, Plane
from posepipe.camera.gravity import CAMERA_UP, UpVector, unit_up, up_of
from posepipe.camera.intrinsics import FINEST_PX, Intrinsics, check_lens

__all__ = ["CAMERA_UP", "FINEST_PX", "Extrinsics", "Intrinsics", "Plane", "UpVector", "check_lens", "unit_up", "up_of"]
