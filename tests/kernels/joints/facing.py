"""Kernels of posepipe/facing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.facing.convolution import convolve
from posepipe.facing.person_picture import person_picture
from tests.kernels.kernel import Kernel
from tests.reference.facing import convolution as naive_convolution
from tests.reference.facing import person_picture as naive_picture


def _person(rng, size):
    """A ragged person, cut off by a border of the image, with holes."""
    depth_m = rng.uniform(1, 3, (size, size + 7)).astype(np.float32)
    mask = np.zeros(depth_m.shape, bool)
    mask[size // 4 :, size // 3 : size - 5] = rng.random((size - size // 4, size - 5 - size // 3)) < 0.7
    return SimpleNamespace(
        depth_m=depth_m, mask=mask, intrinsics=Intrinsics(2.0 * size, 2.0 * size, size / 2, size / 2)
    )


def _layer(rng, size):
    image = np.maximum(rng.normal(0, 1, (size, size + 1, 5)), 0).astype(np.float32)
    weight = rng.normal(0, 0.3, (3, 3, 5, 7)).astype(np.float32)
    return SimpleNamespace(image=image, weight=weight, bias=rng.normal(0, 0.1, 7).astype(np.float32))


def _both_strides(convolution):
    return lambda i: tuple(convolution(i.image, i.weight, i.bias, stride) for stride in (1, 2))


KERNELS = (
    Kernel(
        "person_picture",
        lambda i: person_picture(i.depth_m, i.mask, i.intrinsics),
        lambda i: naive_picture.person_picture(i.depth_m, i.mask, i.intrinsics.fx),
        _person,
        size=110,
        tolerance=2e-5,
        reason="float32 output up to 6",
    ),
    Kernel(
        "person_picture_small",
        lambda i: person_picture(i.depth_m, i.mask, i.intrinsics),
        lambda i: naive_picture.person_picture(i.depth_m, i.mask, i.intrinsics.fx),
        _person,
        size=31,
        tolerance=2e-5,
        reason="float32 output up to 6",
    ),
    Kernel(
        "convolve",
        _both_strides(convolve),
        _both_strides(naive_convolution.convolve),
        _layer,
        size=15,
        tolerance=1e-5,
        reason="float32 sums of 45 terms",
    ),
)
