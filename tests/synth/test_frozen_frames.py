"""The frames of the frozen recipes stay what they are: every published figure rests on them.

A recipe's frames are random numbers in their order, so a field that draws one more, unasked, changes them all.
"""

import numpy as np

from posepipe.body import HUMAN
from synth.recipe import read_recipe
from tests.support.rendered_people import renderer_of

#: the first frames of `validation`: where the pelvis is, metres, and how many pixels the person has
VALIDATION = (
    (0.810, 0.511, 3.729, 2153),
    (-0.863, -0.106, 2.595, 5993),
    (-0.143, 0.097, 2.228, 6124),
    (0.292, -0.035, 3.682, 3343),
    (1.009, 0.298, 3.015, 4388),
    (1.327, 0.321, 3.424, 2314),
    (0.049, 0.492, 1.384, 8461),
    (0.096, 0.182, 2.619, 2801),
    (-0.505, 0.281, 2.171, 5756),
    (0.622, 0.089, 1.933, 9037),
    (1.075, 0.167, 3.026, 2072),
    (-0.211, 0.111, 2.396, 5908),
    (0.341, 0.309, 3.875, 1931),
    (-0.338, 0.528, 3.518, 2956),
    (0.352, 0.085, 3.198, 3012),
    (-1.264, 0.346, 3.530, 2800),
    (-1.057, 0.283, 3.000, 3158),
    (0.350, 0.147, 2.750, 5256),
    (-0.540, 0.354, 4.021, 1788),
    (-0.393, 0.153, 3.941, 1213),
)

#: the same of `rooms`, the first person's pelvis, the pixels of all people and all that have a reading
ROOMS = (
    (-0.740, 0.186, 2.503, 10287, 75075),
    (-0.429, 0.163, 3.426, 2817, 44224),
    (0.250, 0.304, 1.474, 11041, 61388),
    (-1.086, 0.185, 3.558, 16166, 66467),
    (-0.456, -0.123, 1.723, 10000, 73521),
)


def test_the_first_frames_of_the_validation_set_are_the_frozen_ones():
    renderer = renderer_of(read_recipe("validation"))
    frames = [renderer.render(index) for index in range(len(VALIDATION))]
    wanted = np.array(VALIDATION)
    pelvises_m = [frame.joints_m[0, HUMAN.joint_index("pelvis")] for frame in frames]
    np.testing.assert_allclose(pelvises_m, wanted[:, :3], atol=0.002)  # the table is rounded to a millimetre
    # processors that round otherwise may render other last bits: a pixel here and there
    np.testing.assert_allclose([np.count_nonzero(frame.parts) for frame in frames], wanted[:, 3], rtol=0.01)


def test_the_first_frames_in_rooms_are_the_frozen_ones():
    renderer = renderer_of(read_recipe("rooms"))
    frames = [renderer.render(index) for index in range(len(ROOMS))]
    wanted = np.array(ROOMS)
    pelvises_m = [frame.joints_m[0, HUMAN.joint_index("pelvis")] for frame in frames]
    np.testing.assert_allclose(pelvises_m, wanted[:, :3], atol=0.002)
    np.testing.assert_allclose([np.count_nonzero(frame.parts) for frame in frames], wanted[:, 3], rtol=0.01)
    np.testing.assert_allclose([np.count_nonzero(frame.depth.depth_m) for frame in frames], wanted[:, 4], rtol=0.01)
