"""All kernels of the library beside their naive twins: tests and benchmarks walk this table.

Each file of this folder, and of those within it, lists the kernels of one folder of the library.
"""

from __future__ import annotations

from tests.kernels import (
    evaluation,
    learn_depth,
    learn_tables,
    learn_votes,
    recording,
    segmentation,
    tracking,
)
from tests.kernels.body_model import fit, placement
from tests.kernels.joints import facing, modes, poses, second_pass
from tests.kernels.synth import body, motion, render, sensors, surfaces

KERNELS = (
    *segmentation.KERNELS,
    *learn_depth.KERNELS,
    *learn_votes.KERNELS,
    *learn_tables.KERNELS,
    *modes.KERNELS,
    *poses.KERNELS,
    *facing.KERNELS,
    *second_pass.KERNELS,
    *tracking.KERNELS,
    *evaluation.KERNELS,
    *recording.KERNELS,
    *placement.KERNELS,
    *fit.KERNELS,
    *body.KERNELS,
    *surfaces.KERNELS,
    *motion.KERNELS,
    *render.KERNELS,
    *sensors.KERNELS,
)
