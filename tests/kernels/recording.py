"""Kernels that decode depth."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.recording.codecs.rvl import decode_rvl
from tests.kernels.kernel import Kernel
from tests.reference.recording import rvl as naive_rvl
from tests.support import random_inputs
from tests.support.recordings import ros_writers


def _rvl_stream(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    grey = np.rint(depth_m * mask * 1000).astype(np.uint16)
    return SimpleNamespace(stream=ros_writers.rvl(grey)[8:], shape=grey.shape)


KERNELS = (
    Kernel(
        "decode_rvl",
        lambda i: decode_rvl(i.stream, *i.shape),
        lambda i: naive_rvl.decode_rvl(i.stream, *i.shape),
        _rvl_stream,
        size=48,
    ),
)
