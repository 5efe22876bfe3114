"""The sink for each format of motion, chosen by the suffix. A new format is one line in `MOTION_FORMATS`."""

from __future__ import annotations

from pathlib import Path

from posepipe.body import BodyDefinition
from posepipe.sinks.motion.bvh import bvh_bytes
from posepipe.sinks.motion.c3d import c3d_bytes
from posepipe.sinks.motion.gltf import glb_bytes
from posepipe.sinks.motion.motion_sink import MotionFormat, MotionSink
from posepipe.sinks.motion.trc import trc_bytes

MOTION_FORMATS = {
    ".bvh": MotionFormat(bvh_bytes, rigid_bones=True),
    ".c3d": MotionFormat(c3d_bytes, rigid_bones=False),
    ".trc": MotionFormat(trc_bytes, rigid_bones=False),
    ".glb": MotionFormat(glb_bytes, rigid_bones=True),
}
"""By suffix."""
MOTION_SUFFIXES = tuple(MOTION_FORMATS)


def open_motion_sink(path: str | Path, body: BodyDefinition, whole: bool = False) -> MotionSink:
    """Make the sink for a file of motion, ``whole`` as of `MotionSink`. Raises ValueError for an unknown suffix."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in MOTION_FORMATS:
        raise ValueError(f"{path}: wanted a name that ends in {' or '.join(MOTION_SUFFIXES)}")
    return MotionSink(path, body, MOTION_FORMATS[suffix], whole)
