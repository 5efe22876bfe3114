"""The camera: pinhole model, position in the world, lens distortion, presets by name."""

from posepipe.camera.extrinsics import Extrinsics, Plane
from posepipe.camera.intrinsics import Intrinsics, check_lens

__all__ = ["Extrinsics", "Intrinsics", "Plane", "check_lens"]
