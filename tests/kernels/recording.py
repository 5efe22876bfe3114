"""Kernels that decode depth."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.recording.codecs.primesense_16z import decode_16z
from posepipe.recording.codecs.rvl import decode_rvl
from tests.kernels.kernel import Kernel
from tests.reference.recording import primesense_16z as naive_16z
from tests.reference.recording import rvl as naive_rvl
from tests.support import random_inputs
from tests.support.recordings import ros_writers


def _rvl_stream(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    grey = np.rint(depth_m * mask * 1000).astype(np.uint16)
    return SimpleNamespace(stream=ros_writers.rvl(grey)[8:], shape=grey.shape)


def _16z_stream(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    depth_mm = np.rint(depth_m * mask * 1000).astype(np.uint16)
    return SimpleNamespace(stream=naive_16z.encode_16z(depth_mm), shape=depth_mm.shape)


KERNELS = (
    Kernel(
        "decode_16z",
        lambda i: decode_16z(i.stream, *i.shape),
        lambda i: naive_16z.decode_16z(i.stream, *i.shape),
        _16z_stream,
        size=48,
    ),
    Kernel(
        "decode_rvl",
        lambda i: decode_rvl(i.stream, *i.shape),
        lambda i: naive_rvl.decode_rvl(i.stream, *i.shape),
        _rvl_stream,
        size=48,
    ),
)
