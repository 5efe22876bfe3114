"""Tests reach what is written in kernels, which coverage cannot see in compiled code."""

from __future__ import annotations

import pytest

from tests.kernels.interpreted import measure, share


@pytest.mark.slow
def test_nine_tenths_of_all_kernels_are_tested():
    kernels = measure()
    assert len(kernels) > 100
    assert share(kernels) > 0.9
