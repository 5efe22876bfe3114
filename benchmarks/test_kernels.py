"""Every kernel against its naive twin on the same inputs, in the same run: `just bench`.

The inputs are those of tests/kernels. A group is one kernel; its two rows are fast and naive. The first call compiles
and is not counted. Nothing here passes or fails by a time.
"""

import numpy as np
import pytest

from tests.kernels.registry import KERNELS


@pytest.mark.parametrize("side", ["fast", "naive"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_kernel(kernel, side, benchmark):
    benchmark.group = f"{kernel.name}, size {kernel.size}"
    inputs = kernel.make_inputs(np.random.default_rng(0), kernel.size)
    run = getattr(kernel, side)
    run(inputs)
    benchmark(run, inputs)
