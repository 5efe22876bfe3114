"""Coverage of the kernels: their tests run without the compiler, and the statements inside kernels are counted.

``python -m tests.kernels.interpreted`` prints the kernels with statements that no test reached, and the share of all.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import coverage

from tests.kernels.kernel_functions import is_kernel
from tests.support.paths import ROOT

TESTS = (
    "tests/test_kernels.py",
    "tests/body_model/test_capsules.py",
    "tests/body_model/test_normal_equations.py",
    "tests/learn/test_pruning.py",
    "tests/learn/test_growing.py",
    "tests/learn/depth/votes/test_fit_votes.py",
    "tests/learn/tables/estimators/test_category_sets.py",
    "tests/learn/tables/splitting/test_sorted_growth.py",
    "tests/learn/tables/test_rounding.py",
    "tests/segmentation/evidence",
    "tests/segmentation/person_classifier",
    "tests/segmentation/room_geometry/test_plane_detection.py",
)
WANTED = (
    "agrees or naive or twin or rule or samples or batches or body_model or evidence or person_classifier"
    " or plane_detection or category_sets or sorted_growth or rounding or test_pruning"
)
"""Words in the names of tests, and of their files, that are quick without the compiler."""


@dataclass(frozen=True)
class KernelCoverage:
    """Statements of one kernel, and how many of them ran."""

    name: str
    statements: int
    reached: int


def measure() -> list[KernelCoverage]:
    """Run the tests of the kernels in a process of its own, without the compiler; a few minutes."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "coverage"
        settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "COVERAGE_FILE": str(data)}
        command = [sys.executable, "-m", "coverage", "run", "--source", "posepipe,synth", "-m", "pytest"]
        subprocess.run([*command, "-q", "-n", "0", "-k", WANTED, *TESTS], cwd=ROOT, env=settings, check=True)
        recorded = coverage.CoverageData(str(data))
        recorded.read()
        return [each for path in _sources() for each in _kernels_of(path, set(recorded.lines(str(path)) or ()))]


def _sources() -> list[Path]:
    return sorted(path for package in ("posepipe", "synth") for path in (ROOT / package).rglob("*.py"))


def _kernels_of(path: Path, ran: set[int]) -> list[KernelCoverage]:
    found = []
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if is_kernel(function):
            inside = [node for part in function.body for node in ast.walk(part) if isinstance(node, ast.stmt)]
            lines = {node.lineno for node in inside if not _is_docstring(node)}
            found.append(KernelCoverage(f"{path.stem}.{function.name}", len(lines), len(lines & ran)))
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def share(kernels: list[KernelCoverage]) -> float:
    """Share of the statements of all kernels that ran."""
    return sum(each.reached for each in kernels) / sum(each.statements for each in kernels)


if __name__ == "__main__":
    measured = measure()
    for kernel in measured:
        if kernel.reached < kernel.statements:
            print(f"{kernel.name}: {kernel.reached} of {kernel.statements} statements")
    print(f"{share(measured):.1%} of {sum(each.statements for each in measured)} statements in {len(measured)} kernels")
