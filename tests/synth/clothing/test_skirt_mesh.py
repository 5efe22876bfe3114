"""Skirts: around both thighs, painted with the legs beneath."""

import cv2
import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.clothing.skirt_mesh import MAX_STEP_M, Skirt, sample_skirt, skirt_mesh
from tests.support.rendered_people import captured_joints_m

THIGH_M = 0.08


@pytest.fixture(scope="module")
def people():
    return captured_joints_m()


def place(joints_m, name):
    return joints_m[HUMAN.joint_index(name)]


def test_a_skirt_hides_both_thighs(people):
    # in the plane of the ring nearest to it, the middle of each thigh lies inside the ring
    for joints in people:
        mesh = skirt_mesh(Skirt(1.0, 0.0, 0.0), joints, THIGH_M, np.random.default_rng(0))
        rings = mesh.vertices_m.reshape(-1, 28, 3)
        step = np.linalg.norm(place(joints, "left_knee") - place(joints, "right_knee"))
        for side in ("left", "right"):
            thigh = (place(joints, f"{side}_hip") + place(joints, f"{side}_knee")) / 2
            away = [abs(plane_of(ring)[1][2] @ (thigh - ring.mean(axis=0))) for ring in rings]
            ring = rings[int(np.argmin(away))]
            centre, axes = plane_of(ring)
            outline = ((ring - centre) @ axes[:2].T).astype(np.float32)
            inside_m = cv2.pointPolygonTest(outline, tuple(map(float, (thigh - centre) @ axes[:2].T)), True)
            assert inside_m > 0 or step > MAX_STEP_M  # a stride shortens the skirt


def plane_of(ring):
    """Centre of a flat ring (A, 3), and its axes as rows, the last across its plane."""
    centre = ring.mean(axis=0)
    return centre, np.linalg.svd(ring - centre)[2]


def test_a_skirt_is_painted_with_the_legs_beneath(people):
    standing = max(people, key=lambda j: place(j, "head")[1] - place(j, "left_ankle")[1])
    mesh = skirt_mesh(Skirt(1.9, 0.05, 0.0), standing, THIGH_M, np.random.default_rng(0))
    names = {HUMAN.parts[label - 1] for label in np.unique(mesh.labels)}
    wanted = {
        f"{side}_{part}" for side in ("left", "right") for part in ("lower_torso", "upper_leg", "knee", "lower_leg")
    }
    assert names >= wanted
    centres = mesh.vertices_m[mesh.triangles].mean(axis=1)
    left = np.array([HUMAN.parts[label - 1].startswith("left") for label in mesh.labels])
    assert centres[left, 0].mean() > centres[~left, 0].mean()  # the person's left is +x


def test_a_skirt_is_shorter_on_people_who_stride(people):
    for joints in people:
        step = np.linalg.norm(place(joints, "left_knee") - place(joints, "right_knee"))
        mesh = skirt_mesh(Skirt(1.9, 0.0, 0.0), joints, THIGH_M, np.random.default_rng(0))
        if step > MAX_STEP_M:
            assert HUMAN.part_code("left_lower_leg") not in mesh.labels


def test_drawn_skirts_differ():
    skirts = [sample_skirt(np.random.default_rng(k)) for k in range(50)]
    assert min(d.hem for d in skirts) < 0.8
    assert max(d.hem for d in skirts) > 1.5
