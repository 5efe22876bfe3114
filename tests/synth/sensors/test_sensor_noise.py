"""Sensor noise: what the cameras are known to do."""

import cv2
import numpy as np
import pytest
from scipy.stats import kstest

from synth.sensors import stereo, structured_light, triangulation
from synth.sensors.noise_fields import NoiseFields, Window
from synth.sensors.sensor_noise import PRESETS, add_sensor_noise, sensor_preset
from tests.reference.synth.sensors import structured_light as naive_structured_light
from tests.support.random_inputs import boxes_before_wall

KINECT = sensor_preset("kinect-v1-320")
NOISY = [name for name in PRESETS if name != "ideal"]


def _flat(preset, depth_m):
    return np.full((preset.height, preset.width), depth_m, np.float32)


def _middle(image):
    """Without the borders, which see less than a window."""
    return image[20:-20, 20:-20]


def test_windows_passed_over_hold_one_surface():
    """What `rough_windows` leaves out has neighbours within its bound: no jump in or beside the window."""
    depth_m = boxes_before_wall(np.random.default_rng(3), 40, 60)
    disparity = np.divide(np.float32(42.84), depth_m, out=np.zeros_like(depth_m), where=depth_m > 0)
    rough = triangulation.rough_windows(disparity, 2)
    for row, col in np.argwhere(~rough):
        window = disparity[max(row - 2, 0) : row + 3, max(col - 2, 0) : col + 3]
        steps = [np.abs(np.diff(window, axis=axis)).max() for axis in (0, 1)]
        assert max(steps) <= triangulation.FLAT_PX


def test_white_noise_is_normal_even_and_without_memory():
    window = Window(0, 400, 0, 500)
    normal = NoiseFields((400, 500), window, np.random.default_rng(0)).normal()
    uniform = NoiseFields((400, 500), window, np.random.default_rng(1)).uniform()
    assert kstest(normal.ravel(), "norm").pvalue > 0.001
    assert kstest(uniform.ravel(), "uniform").pvalue > 0.001
    for field in (normal, uniform - 0.5):
        for down, across in ((0, 1), (0, 4), (1, 0), (1, 1)):
            shifted = field[down:, across:] * field[: 400 - down, : 500 - across]
            assert abs(shifted.mean()) < 4 * field.var() / np.sqrt(shifted.size)


def test_patchy_noise_has_unit_variance_and_its_patch_size():
    for patch_px in (1, 2, 4, 7):
        fields = np.array(
            [
                NoiseFields((140, 210), Window(0, 140, 0, 210), np.random.default_rng(seed)).patchy(patch_px)
                for seed in range(40)
            ]
        )
        assert fields.std() == pytest.approx(1, abs=0.02)
        assert np.abs((fields[:, :, : -2 * patch_px] * fields[:, :, 2 * patch_px :]).mean()) < 0.05


def test_smooth_noise_has_unit_variance_and_its_size():
    for sigma_px in (2.0, 6.0):
        rngs = [np.random.default_rng(seed) for seed in range(40)]
        fields = np.array([NoiseFields((140, 210), Window(0, 140, 0, 210), rng).smooth(sigma_px) for rng in rngs])
        step = round(2 * sigma_px)
        assert fields.std() == pytest.approx(1, abs=0.03)
        assert (fields[:, :, step:] * fields[:, :, :-step]).mean() == pytest.approx(np.exp(-1), abs=0.05)


@pytest.mark.parametrize("name", PRESETS)
def test_the_same_generator_state_gives_the_same_frame(name):
    preset = sensor_preset(name)
    depth_m = boxes_before_wall(np.random.default_rng(0), preset.height, preset.width)
    before = depth_m.copy()
    first, second = (add_sensor_noise(depth_m, preset, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(depth_m, before)
    assert first.dtype == np.float32
    if name in NOISY:
        assert (add_sensor_noise(depth_m, preset, np.random.default_rng(6)) != first).any()


@pytest.mark.parametrize("name", PRESETS)
def test_nothing_in_view_is_nothing_read(name):
    preset = sensor_preset(name)
    assert not add_sensor_noise(_flat(preset, 0), preset, np.random.default_rng(0)).any()


@pytest.mark.parametrize("name", NOISY)
def test_out_of_range_is_no_reading(name):
    preset = sensor_preset(name)
    for depth_m in (preset.min_range_m * 0.8, preset.max_range_m * 1.3):
        readings_m = add_sensor_noise(_flat(preset, depth_m), preset, np.random.default_rng(0))
        assert (_middle(readings_m) > 0).mean() < 0.1


def test_the_ideal_sensor_changes_nothing():
    preset = sensor_preset("ideal")
    depth_m = boxes_before_wall(np.random.default_rng(0), preset.height, preset.width)
    np.testing.assert_array_equal(add_sensor_noise(depth_m, preset, np.random.default_rng(0)), depth_m)


@pytest.mark.parametrize(("depth_m", "step_mm"), [(2.0, 11.7), (4.0, 46.7)])
def test_kinect_depth_comes_in_steps_of_an_eighth_of_a_pixel(depth_m, step_mm):
    """z^2 / (8 f b) with f = 571.2 and b = 0.075 m: a little below the raw 11-bit step of 12 and 49 mm."""
    readings_m = _middle(add_sensor_noise(_flat(KINECT, depth_m), KINECT, np.random.default_rng(2)))
    levels = np.unique(readings_m[readings_m > 0])
    middle = np.argmin(np.abs(levels - depth_m))
    around = levels[middle - 1 : middle + 2]
    assert np.diff(around).mean() * 1000 == pytest.approx(step_mm, rel=0.05)


@pytest.mark.parametrize("depth_m", [1.0, 2.0, 3.0, 4.0])
def test_kinect_sigma_follows_nguyen(depth_m):
    """Over many frames, as each has its own strength; where rounding alone is more than the law, rounding rules."""
    errors = []
    for seed in range(30):
        shifted = depth_m + 0.002 * seed  # so that steps are met everywhere
        readings_m = _middle(add_sensor_noise(_flat(KINECT, shifted), KINECT, np.random.default_rng(seed)))
        errors.append(readings_m[readings_m > 0] - shifted)
    expected = structured_light.AXIAL_SHARE * naive_structured_light.nguyen_sigma_m(depth_m, 0.0)
    assert np.std(np.concatenate(errors)) == pytest.approx(expected, rel=0.25)


@pytest.mark.parametrize(
    ("name", "sigma_at_2_m"), [("kinect-v2", 0.0046), ("azure-nfov", 0.0046), ("d435", 4 * 0.08 / 385 / 0.05)]
)
def test_other_sigmas_follow_their_law(name, sigma_at_2_m):
    preset = sensor_preset(name)
    for depth_m in (2.0, 3.0):
        readings_m = _middle(add_sensor_noise(_flat(preset, depth_m), preset, np.random.default_rng(1)))
        sigma = np.std(readings_m[readings_m > 0])
        assert sigma == pytest.approx(sigma_at_2_m * (depth_m / 2) ** 2, rel=0.3)
        assert np.abs(np.median(readings_m) - depth_m) < 0.02


def _box_before_wall(preset, box_m=1.5, wall_m=3.5):
    depth_m = _flat(preset, wall_m)
    depth_m[80:160, 120:200] = box_m
    return depth_m


def test_kinect_shadow_is_to_the_left_as_wide_as_the_disparity():
    readings_m = add_sensor_noise(_box_before_wall(KINECT), KINECT, np.random.default_rng(0))
    shadow = (readings_m[100:140, 90:125] == 0).sum(1).mean()
    expected = 285.6 * 0.075 * (1 / 1.5 - 1 / 3.5)
    assert shadow == pytest.approx(expected, abs=2.0)  # windows and ragged edges take a pixel each way
    assert (readings_m[100:140, 205:235] == 0).mean() < 0.02


def test_kinect_silhouettes_are_ragged_within_a_few_pixels():
    """Nothing before nothing: what was empty is still empty, but for shifted look-ups."""
    depth_m = np.where(_box_before_wall(KINECT, 2.0, 9.0) < 5, np.float32(2), np.float32(0))
    readings_m = add_sensor_noise(depth_m, KINECT, np.random.default_rng(1))
    grown = (readings_m > 0) & (depth_m == 0)
    assert 0 < grown.sum() < 320  # the outline has 320 pixels
    assert not readings_m[:76].any()
    assert not readings_m[:, 204:].any()
    outlines = (readings_m[85:155] > 0).argmax(1)
    assert len(np.unique(outlines)) > 1
    assert (readings_m[90:150, 130:190] > 0).all()


def test_kinect_loses_what_is_thinner_than_half_a_window():
    depth_m = _flat(KINECT, 3.5)
    depth_m[:, 100:101] = 1.5
    depth_m[:, 200:208] = 1.5
    near = add_sensor_noise(depth_m, KINECT, np.random.default_rng(0)) < 2
    readings = add_sensor_noise(depth_m, KINECT, np.random.default_rng(0)) > 0
    assert (near & readings)[20:-20, 98:103].sum() < 0.3 * 200
    assert (near & readings)[20:-20, 202:206].mean() > 0.98


def test_time_of_flight_mixes_and_blanks_edges_and_nothing_else():
    preset = sensor_preset("kinect-v2")
    depth_m = _box_before_wall(preset)
    readings_m = add_sensor_noise(depth_m, preset, np.random.default_rng(0))
    between = (readings_m > 1.7) & (readings_m < 3.2)
    edge = np.zeros_like(between)
    edge[79:161, 119:201] = True
    edge[81:159, 121:199] = False
    assert 0.05 < between[edge].mean() < 0.4
    assert not between[~edge].any()
    assert 0.1 < (readings_m[edge] == 0).mean() < 0.4


def test_stereo_shadow_is_to_the_left_and_foreground_fattened():
    preset = sensor_preset("d435")
    depth_m = _flat(preset, 3.5)
    depth_m[160:320, 240:400] = 1.2
    readings_m = add_sensor_noise(depth_m, preset, np.random.default_rng(0))
    shadow_px = 385 * 0.05 * (1 / 1.2 - 1 / 3.5)
    filled_px = triangulation.BRIDGED_PX + stereo.FAT_PX  # half the fattening from either side
    assert (readings_m[170:310, 200:240] == 0).sum(1).mean() == pytest.approx(shadow_px - filled_px, abs=1.5)
    assert (readings_m[170:310, 403:440] == 0).mean() < 0.02
    near = (readings_m > 0) & (readings_m < 2)
    grown = near & (depth_m > 2)
    assert 0.2 * 640 < grown.sum() < 1.2 * 640  # the outline has 640 pixels; half of it grows by two
    assert not near[:, 402:].any()
    assert not near[:158].any()


def test_stereo_errors_are_smooth_and_holes_in_surfaces_patches():
    preset = sensor_preset("d435")
    error_m = _middle(add_sensor_noise(_flat(preset, 1.5), preset, np.random.default_rng(1)))
    holes = error_m == 0
    assert 0 < holes.mean() < 0.02
    eroded = cv2.erode(holes.astype(np.uint8), np.ones((3, 3), np.uint8))
    assert (cv2.dilate(eroded, np.ones((5, 5), np.uint8)) > 0)[holes].mean() > 0.9  # none is a crack
    error_m = np.where(holes, 0, error_m - 1.5)
    near, far = ((error_m[:, step:] * error_m[:, :-step]).mean() / (error_m * error_m).mean() for step in (3, 30))
    assert near > 0.8
    assert abs(far) < 0.15


def test_an_unknown_sensor_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"kinect-v3.*kinect-v1-320.*d435"):
        sensor_preset("kinect-v3")


def test_depth_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"\(240, 320\)"):
        add_sensor_noise(np.ones((480, 640), np.float32), KINECT, np.random.default_rng(0))
    with pytest.raises(ValueError, match="float32"):
        add_sensor_noise(np.ones((240, 320)), KINECT, np.random.default_rng(0))


@pytest.mark.parametrize("patch_px", [1, 2, 3, 4, 12])
def test_a_window_of_a_field_is_that_part_of_the_whole(patch_px):
    shape, rng = (61, 83), np.random.default_rng
    whole = NoiseFields(shape, Window(0, 61, 0, 83), rng(5))
    for window in (Window(0, 61, 0, 83), Window(7, 30, 12, 55), Window(0, 9, 60, 83), Window(40, 61, 0, 1)):
        part = NoiseFields(shape, window, rng(5))
        # interpolation is exact for powers of two, and else within rounding
        np.testing.assert_allclose(part.patchy(patch_px), window.of(whole.patchy(patch_px)), atol=1e-5)
        np.testing.assert_allclose(part.smooth(patch_px), window.of(whole.smooth(patch_px)), atol=1e-5)
        np.testing.assert_array_equal(part.uniform(), window.of(whole.uniform()))
        np.testing.assert_array_equal(part.normal(), window.of(whole.normal()))
        whole = NoiseFields(shape, Window(0, 61, 0, 83), rng(5))


@pytest.mark.parametrize("sensor", [name for name in PRESETS if name != "ideal"])
def test_noise_does_not_depend_on_the_window_it_is_worked_out_in(sensor, monkeypatch):
    preset = sensor_preset(sensor)
    depth_m = np.zeros((preset.height, preset.width), np.float32)
    depth_m[60:160, 90:150] = 2.0
    depth_m[100:140, 110:120] = 1.6
    near = add_sensor_noise(depth_m, preset, np.random.default_rng(3))
    monkeypatch.setattr("synth.sensors.sensor_noise.margin_px", lambda preset: 2000)
    np.testing.assert_allclose(near, add_sensor_noise(depth_m, preset, np.random.default_rng(3)), atol=2e-3)
