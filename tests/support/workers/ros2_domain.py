"""A domain of ROS 2 for a test alone, and other programs in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.paths import ROOT

PEER = ROOT / "tests" / "support" / "workers" / "ros2_peer.py"


def needs_ros2() -> None:
    """Skip a test, or a whole file, where cyclonedds is missing or cannot be kept to this machine."""
    pytest.importorskip("cyclonedds", reason="needs cyclonedds")
    if sys.platform != "linux":
        pytest.skip("needs Linux: elsewhere cyclonedds listens beyond the loopback", allow_module_level=True)


@contextmanager
def peer(task: str) -> Iterator[subprocess.Popen[str]]:
    """Run ros2_peer.py in a domain that other tests hardly have; this process joins the same domain."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ROS_DOMAIN_ID", own_domain())
        program = subprocess.Popen(
            [sys.executable, str(PEER), task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        with program:
            try:
                yield program
            finally:
                program.kill()


def own_domain() -> str:
    """Return the number of a domain for this process; its ports lie below those that systems hand out."""
    return str(1 + os.getpid() % 100)
