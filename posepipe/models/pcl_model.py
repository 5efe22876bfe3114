"""Model made of a forest of the Point Cloud Library's people detector: its parts, and joints by our own prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posepipe.joints.joint_parameters import JointParameters
from posepipe.landmarks import landmark_names
from posepipe.learn.interchange.pcl_body import PART_PLACES, PCL_BODY
from posepipe.learn.interchange.pcl_tree_file import read_pcl_forest
from posepipe.models.pose_model import PoseModel

SURFACE_SIGMA_M = 0.03
"""Standard deviation of a part's mode, pushed back into the body, from its place between joints."""


def import_pcl_model(paths: Sequence[Path], prior: JointParameters) -> PoseModel:
    """Make a model of tree files; see `read_pcl_forest`.

    Parameters
    ----------
    paths : one file a tree
    prior : of a model with the joints of `PCL_BODY`, whose Gaussian over joints is used

    Returns
    -------
    PoseModel, without votes; joint parameters are untrained but for the prior
    """
    forest = read_pcl_forest(paths)
    model = PoseModel(forest, _joint_parameters(prior))
    return model.with_metadata(
        name="pcl",
        imported={"format": "Point Cloud Library tree files", "files": [path.name for path in paths]},
    )


def _joint_parameters(prior: JointParameters) -> JointParameters:
    """Parameters whose Gaussian has each landmark at the mean of the joints that it lies between."""
    n_joints = len(PCL_BODY.joints)
    mean_m = prior.mean_m[:, -n_joints:].astype(np.float64)
    covariance_m2 = prior.covariance_m2[:, -n_joints:, -n_joints:].astype(np.float64)
    between = _landmark_weights()
    whole = np.concatenate([between, np.eye(n_joints)])
    joint = whole @ covariance_m2 @ whole.T
    n_landmarks = len(between)
    joint[:, range(n_landmarks), range(n_landmarks)] += SURFACE_SIGMA_M**2
    return replace(
        JointParameters.default(PCL_BODY),
        mean_m=(mean_m @ whole.T).astype(np.float32),
        covariance_m2=joint.astype(np.float32),
        calibration=prior.calibration,
    )


def _landmark_weights() -> np.ndarray:
    """Weight of each joint in the place of each landmark: float64 (L, J), rows sum to 1."""
    names = landmark_names(PCL_BODY)
    weights = np.zeros((len(names), len(PCL_BODY.joints)))
    for row, name in enumerate(names):
        joints = PART_PLACES.get(name, (name,))
        weights[row, [PCL_BODY.joint_index(joint) for joint in joints]] = 1 / len(joints)
    return weights
