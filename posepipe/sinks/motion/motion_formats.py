"""The sink for each format of motion, chosen by the suffix. A new format is one line in `MOTION_FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posepipe.body import BodyDefinition
from posepipe.sinks.files.bvh import BvhSink
from posepipe.sinks.motion.c3d import c3d_bytes
from posepipe.sinks.motion.gltf import glb_bytes
from posepipe.sinks.motion.motion_sink import MotionSink
from posepipe.sinks.motion.person_motion import PersonMotion
from posepipe.sinks.motion.trc import trc_bytes

MOTION_FORMATS: dict[str, Callable[[PersonMotion], bytes]] = {
    ".c3d": c3d_bytes,
    ".trc": trc_bytes,
    ".glb": glb_bytes,
}
"""Suffix -> function that makes the content of one person's file."""

MOTION_SUFFIXES = (".bvh", *MOTION_FORMATS)
"""Suffixes of all formats of motion."""


def open_motion_sink(path: str | Path, body: BodyDefinition, whole: bool = False) -> BvhSink | MotionSink:
    """Make the sink for a file of motion, ``whole`` as of both sinks. Raises ValueError for an unknown suffix."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".bvh":
        return BvhSink(path, body, whole)
    if suffix not in MOTION_FORMATS:
        raise ValueError(f"{path}: wanted a name that ends in {' or '.join(MOTION_SUFFIXES)}")
    return MotionSink(path, body, MOTION_FORMATS[suffix], whole)
