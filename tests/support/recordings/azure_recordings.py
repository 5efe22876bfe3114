"""Recordings in the layout of k4arecorder, byte by byte: no available muxer writes b16g.

Microsecond time codes; tracks COLOR (MJPEG), DEPTH and IR (b16g) and IMU; ``calibration.json`` attached; a cluster for
every 32 ms, cues for the first track alone; sizes written when the file is closed.

References
----------
Azure-Kinect-Sensor-SDK, src/record/sdk/record.cpp and src/record/internal/matroska_write.cpp.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

UNKNOWN = (1 << 56) - 1
"""Size of the segment after a killed recorder."""
NFOV_PARAMETERS = (0.51297, 0.51692, 0.49278, 0.49290, 0.54794, -0.02097, -0.00265, 0.88968, 0.08613, -0.01391,
             0.0, 0.0, -7.2e-5, 2.1e-5)  # fmt: skip
"""cx cy fx fy k1-k6 codx cody p2 p1, typical of a factory calibration."""
NO_DISTORTION = (0.5, 0.5, 1.25, 1.75, *(0.0,) * 10)
_MJPEG = b"\xff\xd8\xff\xd9"


def element(code: int, content: bytes | int | str | float, size: int | None = None) -> bytes:
    """One EBML element, with a size of 8 bytes, which every reader accepts."""
    if isinstance(content, str):
        content = content.encode()
    elif isinstance(content, int):
        content = content.to_bytes(8, "big")
    elif isinstance(content, float):
        content = struct.pack(">d", content)
    name = code.to_bytes((code.bit_length() + 7) // 8, "big")
    return name + ((1 << 56) | (len(content) if size is None else size)).to_bytes(8, "big") + content


def calibration_json(parameters=NFOV_PARAMETERS, sensor=(1024, 1024), model="BrownConrady") -> bytes:
    """Depth calibration in the format of the factory; another camera comes first."""

    def camera(place: str, values, size) -> dict:
        return {
            "Intrinsics": {
                "ModelParameterCount": len(values),
                "ModelParameters": list(values),
                "ModelType": f"CALIBRATION_LensDistortionModel{model}",
            },
            "Location": f"CALIBRATION_CameraLocation{place}",
            "SensorWidth": size[0],
            "SensorHeight": size[1],
        }

    colour = camera("PV0", (0.5, 0.5, 0.48, 0.64, *(0.0,) * 10), (4096, 3072))
    return json.dumps({"CalibrationInformation": {"Cameras": [colour, camera("D0", parameters, sensor)]}}).encode()


def azure_recording(
    depth_mm: np.ndarray,
    times_us: np.ndarray,
    calibration: bytes | None,
    depth_name: str = "DEPTH",
    fourcc: bytes = b"b16g",
    closed: bool = True,
) -> bytes:
    """Bytes of a recording of uint16 (N, H, W) depth, with other content in IR and colour."""
    height, width = depth_mm.shape[1:]
    head = element(0x1A45DFA3, element(0x4282, "matroska") + element(0x4287, 4) + element(0x4285, 2))
    info = element(
        0x1549A966, element(0x2AD7B1, 1000) + element(0x4461, 700_000_000 * 10**9) + element(0x7BA9, "Azure Kinect")
    )
    tracks = element(0x1654AE6B, b"".join([
        _video(1, "COLOR", 1280, 720, b"MJPG"),
        _video(2, depth_name, width, height, fourcc),
        _video(3, "IR", width, height, b"b16g"),
        _track(4, "IMU", 0x11, "S_K4A/IMU", b"\0" * 8, b""),
    ]))  # fmt: skip
    attached = b"" if calibration is None else element(0x1941A469, element(0x61A7, b"".join([
        element(0x466E, "calibration.json"), element(0x4660, "application/octet-stream"),
        element(0x465C, calibration), element(0x46AE, 77),
    ])))  # fmt: skip
    tags = element(0x1254C367, _tag("K4A_START_OFFSET_NS", "200344000") + _tag("K4A_DEPTH_MODE", "NFOV_UNBINNED", 2))
    clusters, cues = [], []
    place = len(info + tracks + attached + tags)
    for depth, time in zip(depth_mm, times_us, strict=True):
        blocks = [(1, _MJPEG), (2, depth.astype(">u2").tobytes()), (3, (depth // 2).astype(">u2").tobytes())]
        imu = element(0xA0, element(0xA1, b"\x84" + struct.pack(">hB", 5, 0) + b"\0" * 40) + element(0x9B, 30_000))
        content = [element(0xA3, bytes([0x80 | track]) + struct.pack(">hB", 0, 0x80) + data) for track, data in blocks]
        clusters.append(element(0x1F43B675, element(0xE7, int(time)) + b"".join(content) + imu))
        cues.append(element(0xBB, element(0xB3, int(time)) + element(0xB7, element(0xF7, 1) + element(0xF1, place))))
        place += len(clusters[-1])
    content = (
        info + tracks + attached + tags + b"".join(clusters) + (element(0x1C53BB6B, b"".join(cues)) if closed else b"")
    )
    return head + element(0x18538067, content, None if closed else UNKNOWN)


def _video(number: int, name: str, width: int, height: int, fourcc: bytes) -> bytes:
    header = struct.pack("<IiiHH4sIiiII", 40, width, height, 1, 16, fourcc, 2 * width * height, 0, 0, 0, 0)
    size = element(0xE0, element(0xB0, width) + element(0xBA, height))
    return _track(number, name, 1, "V_MS/VFW/FOURCC", header, element(0x23E383, 33_333_333) + size)


def _track(number: int, name: str, kind: int, codec: str, private: bytes, more: bytes) -> bytes:
    fields = element(0xD7, number) + element(0x73C5, 1000 + number) + element(0x83, kind) + element(0x536E, name)
    return element(0xAE, fields + element(0x86, codec) + element(0x63A2, private) + more)


def _tag(name: str, value: str, track: int | None = None) -> bytes:
    target = b"" if track is None else element(0x63CA, "TRACK") + element(0x63C5, 1000 + track)
    return element(0x7373, element(0x63C0, target) + element(0x67C8, element(0x45A3, name) + element(0x4487, value)))


def write_azure_recording(path: str | Path, depth_mm: np.ndarray, calibration: bytes | None, **changes) -> Path:
    """Write a recording of 30 frames per second; the first is 5 ms after that of the colour camera."""
    times_us = 5000 + np.round(np.arange(len(depth_mm)) * 1e6 / 30).astype(int)
    Path(path).write_bytes(azure_recording(depth_mm, times_us, calibration, **changes))
    return Path(path)
