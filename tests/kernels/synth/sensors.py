"""Kernels of sensor noise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from synth.sensors import noise_fields, structured_light, time_of_flight, triangulation
from synth.sensors.incidence import squared_tangents
from synth.sensors.noise_fields import NoiseFields, Window
from tests.kernels.kernel import Kernel
from tests.reference.synth.sensors import incidence as naive_incidence
from tests.reference.synth.sensors import noise_fields as naive_noise_fields
from tests.reference.synth.sensors import structured_light as naive_structured_light
from tests.reference.synth.sensors import time_of_flight as naive_time_of_flight
from tests.reference.synth.sensors import triangulation as naive_triangulation
from tests.support import random_inputs

FX, FY = np.float32(285), np.float32(290)
FOCAL_BASELINE = 42.84  #: matching pixels x metres, of a Kinect
PIXELS_PER_MATCH = 0.5
RADIUS_PX = 2
WINDOWS = Window(0, 9, 0, 13), Window(7, 12, 5, 31), Window(30, 40, 59, 60)
PATCHES_PX = (2, 3, 4, 12)


def _view(rng, size):
    """Boxes before a wall, and all that a camera draws at random for each pixel."""
    depth_m = random_inputs.boxes_before_wall(rng, size, size * 3 // 2)
    shape = depth_m.shape
    return SimpleNamespace(
        depth_m=depth_m,
        disparity=np.divide(np.float32(FOCAL_BASELINE), depth_m, out=np.zeros_like(depth_m), where=depth_m > 0),
        needed_share=rng.uniform(0.2, 0.5, shape).astype(np.float32),
        shifts=tuple(rng.standard_normal((2, *shape), np.float32)),
        tangents=rng.exponential(4, shape).astype(np.float32) ** 2,
        jitter=rng.standard_normal(shape, np.float32),
        light=(
            rng.exponential(2, shape).astype(np.float32),
            rng.uniform(0.01, 1, shape).astype(np.float32),
            rng.standard_normal(shape, np.float32),
            rng.random(shape, np.float32),
        ),
    )


def _filled(fill, depth_m, *more):
    """What a kernel writes in place."""
    out = np.empty_like(depth_m)
    fill(depth_m, *more, out)
    return out


def _relative(squared):
    """So that an absolute difference of 1e-4 is a relative one, or 1e-6 of small numbers."""
    return np.log(squared + 0.01)


def _read_out(inputs):
    given = inputs.tangents, inputs.jitter, np.float32(0.9), np.float32(FOCAL_BASELINE)
    return _filled(structured_light._read_out, inputs.disparity, *given)


def _read_out_naively(inputs):
    given = inputs.disparity, inputs.tangents, inputs.jitter, 0.9, FOCAL_BASELINE
    return naive_structured_light.read_out(*given, structured_light.STEPS_PER_PX, structured_light.GRAZING_TANGENT)


def _steps(readings_m):
    """Whole steps of disparity, 0 = no reading."""
    steps = FOCAL_BASELINE * structured_light.STEPS_PER_PX
    return np.rint(np.divide(steps, readings_m, out=np.zeros(readings_m.shape), where=readings_m > 0))


def _seed(rng, size):
    return SimpleNamespace(seed=int(rng.integers(2**32)), shape=(size, size * 3 // 2))


def _fields(inputs, draw):
    """One field in every window, as ``draw`` draws it."""
    fields = [NoiseFields(inputs.shape, window, np.random.default_rng(inputs.seed)) for window in WINDOWS]
    return np.concatenate([draw(each).ravel() for each in fields])


def _fields_naively(inputs, draw):
    """The same from key, rows and columns."""
    key = int(np.random.default_rng(inputs.seed).integers(2**64, dtype=np.uint64))
    places = [(range(window.top, window.bottom), range(window.left, window.right)) for window in WINDOWS]
    return np.concatenate([draw(key, *each).ravel() for each in places])


def _normal_naively(key, rows, cols):
    count = 2**noise_fields.NORMAL_BITS
    return naive_noise_fields.normal(naive_noise_fields.words(key, rows, cols) % count, count)


def _signs_and_logarithms(values):
    return np.sign(values), np.log(np.abs(values, dtype=np.float64))


def _patchy(inputs):
    return np.concatenate([_fields(inputs, lambda fields, px=px: fields.patchy(px)) for px in PATCHES_PX])


def _patchy_naively(inputs):
    def draw(px):
        quantiles = noise_fields._patch_quantiles(px)
        return lambda key, *places: naive_noise_fields.patchy(key, px, *places, quantiles)

    return np.concatenate([_fields_naively(inputs, draw(px)) for px in PATCHES_PX])


KERNELS = (
    Kernel(
        "squared_tangents",
        lambda i: _relative(_filled(squared_tangents, i.depth_m, FX, FY)),
        lambda i: _relative(naive_incidence.squared_tangents(i.depth_m, FX, FY)),
        _view,
        size=40,
        tolerance=1e-4,
        reason="of differences of float32 metres",
    ),
    Kernel(
        "disparity_seen_twice",
        lambda i: _filled(triangulation.disparity_seen_twice, i.depth_m, FOCAL_BASELINE, PIXELS_PER_MATCH),
        lambda i: naive_triangulation.seen_twice(i.depth_m, FOCAL_BASELINE, PIXELS_PER_MATCH, triangulation.BRIDGED_PX),
        _view,
        size=40,
        tolerance=1e-4,
        reason="float32 disparities up to 60 pixels",
    ),
    Kernel(
        "match_windows",
        lambda i: _filled(
            triangulation.match_windows, i.disparity, np.ones(i.disparity.shape, bool), i.needed_share, RADIUS_PX
        ),
        lambda i: naive_triangulation.windows(i.disparity, i.needed_share, RADIUS_PX, triangulation.SAME_SURFACE_PX),
        _view,
        size=40,
        tolerance=1e-4,
        reason="float32 sums of disparities up to 60 pixels",
    ),
    Kernel(
        "look_up_shifted",
        lambda i: _filled(structured_light._look_up_shifted, i.disparity, i.shifts, 0.7),
        lambda i: naive_structured_light.look_up_shifted(i.disparity, i.shifts, 0.7),
        _view,
        size=40,
    ),
    Kernel(
        "read_out",
        lambda i: _read_out(i).ravel(),
        lambda i: _read_out_naively(i).ravel(),
        _view,
        size=40,
        tolerance=1e-5,
        may_differ=0.005,
        reason="float32 metres; a short form of the arc tangent shifts some readings by a step",
    ),
    Kernel(
        "read_out_steps",
        lambda i: _steps(_read_out(i)),
        lambda i: _steps(_read_out_naively(i)),
        _view,
        size=40,
        tolerance=1,
        reason="a short form of the arc tangent shifts some readings by a step",
    ),
    Kernel(
        "measure_time_of_flight",
        lambda i: _filled(time_of_flight._measure, i.depth_m, *i.light, 0.4),
        lambda i: naive_time_of_flight.measure(i.depth_m, *i.light, 0.4, time_of_flight),
        _view,
        size=40,
        tolerance=1e-5,
        reason="float32 metres",
    ),
    Kernel(
        "uniform_noise",
        lambda i: _fields(i, NoiseFields.uniform),
        lambda i: _fields_naively(i, naive_noise_fields.words) / 2**16,
        _seed,
        size=40,
    ),
    Kernel(
        "normal_noise",
        lambda i: _signs_and_logarithms(_fields(i, NoiseFields.normal)),
        lambda i: _signs_and_logarithms(_fields_naively(i, _normal_naively)),
        _seed,
        size=40,
        tolerance=(0, 1e-5),
        reason="float32",
    ),
    Kernel(
        "patchy_noise",
        _patchy,
        _patchy_naively,
        _seed,
        size=40,
        tolerance=1e-5,
        reason="float32 values up to 6",
    ),
)
