"""All kernels of the library beside their naive twins: tests and benchmarks walk this table.

Each file of this folder lists the kernels of one folder of the library.
"""

from __future__ import annotations

from tests.kernels import (
    evaluation,
    joints_modes,
    joints_poses,
    learn_depth,
    learn_tables,
    learn_votes,
    recording,
    segmentation,
    tracking,
)

KERNELS = (
    *segmentation.KERNELS,
    *learn_depth.KERNELS,
    *learn_votes.KERNELS,
    *learn_tables.KERNELS,
    *joints_modes.KERNELS,
    *joints_poses.KERNELS,
    *tracking.KERNELS,
    *evaluation.KERNELS,
    *recording.KERNELS,
)
