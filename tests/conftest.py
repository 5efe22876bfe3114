"""Settings of all tests: examples without a clock, threads that do not spin, shipped models that are read once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# before libgomp is loaded: two workers share the cores, and a thread that spins while it waits takes one from the other
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
settings.register_profile("posepipe", deadline=None, derandomize=True, max_examples=40)  # a first call compiles
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "posepipe"))


def pytest_configure() -> None:
    """Compile what the cache lacks in several processes, once: commands would say that they do, and tests read that."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    import posepipe.pipeline  # noqa: F401 - its kernels declare their types
    from posepipe.precompilation import Precompilation

    with Precompilation() as compiling:
        compiling.wait()


@pytest.fixture(scope="session", autouse=True)
def shipped_models_are_read_once() -> Iterator[None]:
    """Let commands share the shipped models, which are immutable; all other model files are read every time."""
    from posepipe.models import header, model_file, pose_model, registry

    def once(read):
        kept: dict[tuple[Path, int], object] = {}

        def read_once(path):
            path = Path(path)
            if path.parent != registry.models_dir():
                return read(path)
            version = path, path.stat().st_mtime_ns
            if version not in kept:
                kept[version] = read(path)
            return kept[version]

        return read_once

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pose_model, "read_model", once(model_file.read_model))
        patch.setattr(registry, "answer_hash", once(header.answer_hash))
        yield
