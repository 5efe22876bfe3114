"""What ``import posepipe`` offers."""

from __future__ import annotations

import pytest

import posepipe
import posepipe.learn


@pytest.mark.parametrize("package", [posepipe, posepipe.learn])
def test_names_that_load_on_first_use_are_listed(package):
    assert set(package.__all__) <= set(dir(package))
    assert "__doc__" in dir(package)
