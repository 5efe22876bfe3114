"""Folders in the format of libfreenect's fakenect-record (fakenect/record.c)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

START_NS = 1_290_000_000_123_456_000


def write_dump(folder: Path, images: np.ndarray, step_ns: int = 33_333_000) -> list[str]:
    """Write depth between colour and acceleration; return the names of the depth files."""
    folder.mkdir(parents=True)
    names, depth_names = [], []
    for k, image in enumerate(images):
        time = f"{(START_NS + k * step_ns) // 10**9}.{(START_NS + k * step_ns) % 10**9 // 1000:06d}"
        depth_names.append(f"d-{time}-{200 + k}.pgm")
        names += [f"r-{time}-{199 + k}.ppm", depth_names[-1], f"a-{time}-{200 + k}.dump"]
        height, width = image.shape
        (folder / depth_names[-1]).write_bytes(b"P5 %d %d 65535\n" % (width, height) + image.astype("<u2").tobytes())
        (folder / names[-3]).write_bytes(b"P6 640 480 255\n" + bytes(640 * 480 * 3))
        (folder / names[-1]).write_bytes(bytes(20))
    (folder / "INDEX.txt").write_text("".join(f"{name}\n" for name in names))
    return depth_names


def device_json(plane: dict, shift: float) -> str:
    return json.dumps({"reg_info": {"zero_plane_info": plane}, "const_shift": shift})
