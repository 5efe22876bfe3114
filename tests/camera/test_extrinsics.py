"""Heights over planes, of points in any form; poses of cameras from matrices."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Extrinsics, Intrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from tests.support.shipped_model import shipped_model

FLOOR = Plane((0.0, -0.6, -0.8), 2.5)


@pytest.mark.parametrize("points_m", [(1, 0, 2), [1.0, 0.0, 2.0], np.array([1, 0, 2]), np.array([1, 0, 2], np.float32)])
def test_three_numbers_of_any_kind_have_a_height(points_m):
    assert FLOOR.height_m(points_m) == pytest.approx(0.9)


def test_heights_are_as_exact_as_the_points():
    for dtype in (np.float32, np.float64):
        assert FLOOR.height_m(np.zeros((4, 3), dtype)).dtype == dtype


def test_a_matrix_becomes_a_pose_with_an_exact_rotation():
    matrix = np.array([[1, 0, 0, 0.5], [0, 0, 1, 1], [0, -1, 0, 1.4], [0, 0, 0, 1]])
    pose = Extrinsics.of_matrix((matrix + 1e-5).tolist())
    np.testing.assert_allclose(pose.matrix, matrix, atol=1e-4)
    np.testing.assert_allclose(pose.rotation @ pose.rotation.T, np.eye(3), atol=1e-12)


def test_a_transposed_matrix_is_refused():
    matrix = np.eye(4)
    matrix[3, 2] = 1.4
    with pytest.raises(ValueError, match=r"wanted 0 0 0 1, .*; is it transposed\?"):
        Extrinsics.of_matrix(matrix)


def test_a_pipeline_refuses_a_bare_matrix():
    pipeline = Pipeline.from_model(shipped_model(), fit=False)
    pipeline.extrinsics = np.eye(4)
    frame = DepthFrame(np.zeros((24, 32), np.uint16), Intrinsics(30.0, 30.0, 15.5, 11.5))
    with pytest.raises(TypeError, match=r"extrinsics of a matrix are Extrinsics.of_matrix\(matrix\), got array"):
        pipeline.step(frame)
