"""Mutated files of every kind end in frames or in an error of one line: some new ones, and all that once did not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from posepipe.sources import FORMATS
from posepipe.sources.cameras import CAMERAS
from synth.motion.mocap import READERS
from tests.robustness.fuzz import missing_extras
from tests.robustness.targets.registry import TARGETS
from tests.robustness.watchdog import Watchdog
from tests.support.paths import ROOT

CASES = sorted(path for path in (Path(__file__).parent / "cases").glob("*/*") if path.is_dir())
SEEDS = range(8)
COVERED = {module for target in TARGETS.values() for module in target.covers}
READ_FUNCTIONS = {"open_regular", "read_regular", "read_json_object", "read_toml", "read_npz"}
"""Every file of a user is opened by one of these (tests/test_architecture.py)."""
NO_FILES_OF_STRANGERS = {
    "synth.body.body_asset": "reads the package's own body",
    "posepipe.learn.interchange.c_header": "reads the package's own evaluator",
    "posepipe.evaluation.forest_curves.measure": "reads what the same command wrote before it was interrupted",
    "posepipe.evaluation.labelled.reference_joints": "reads names of a pack that LabelledPack's target reads, too",
    **dict.fromkeys(
        (f"posepipe.sources.cameras.{name}" for name in ("realsense", "orbbec", "oak", "kinect_v1", "opencv_device")),
        "reads a device by its maker's library",
    ),
}


@pytest.fixture(scope="module")
def watchdog(tmp_path_factory) -> Iterator[Watchdog]:
    with Watchdog(tmp_path_factory.mktemp("failures")) as child:
        yield child


@pytest.mark.parametrize("name", TARGETS)
def test_a_mutated_file_ends_in_frames_or_one_line(watchdog, name):
    if missing := missing_extras(name):
        pytest.skip(f"needs {', '.join(missing)}")
    failures = [str(failure) for seed in SEEDS if (failure := watchdog.run({"target": name, "seed": seed}))]
    assert failures == []


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_file_that_once_broke_a_reader_no_longer_does(watchdog, case):
    if missing := missing_extras(case.parent.name):
        pytest.skip(f"needs {', '.join(missing)}")
    failure = watchdog.run({"target": case.parent.name, "case": str(case)})
    assert failure is None, str(failure)


def test_every_registered_reader_has_a_target():
    registered = {each.open.__module__ for each in FORMATS} | {read.__module__ for read in READERS.values()}
    registered |= {kind.make.__module__ for kind in CAMERAS.values()}
    assert registered - COVERED - NO_FILES_OF_STRANGERS.keys() == set()


def test_every_module_that_opens_files_has_a_target():
    opening = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        for package in ("posepipe", "synth", "apps")
        for path in (ROOT / package).rglob("*.py")
        if (ROOT / "posepipe" / "io") not in path.parents and READ_FUNCTIONS & called_in(path)
    }
    assert opening - COVERED - NO_FILES_OF_STRANGERS.keys() == set()


def test_the_exceptions_are_needed():
    assert not NO_FILES_OF_STRANGERS.keys() & COVERED


def called_in(path: Path) -> set[str]:
    """Names of the functions that a file calls."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return {func.id for func in calls if isinstance(func, ast.Name)}


def test_mutations_depend_on_the_seed_alone(tmp_path):
    target = TARGETS["camera-file"]
    good = target.good_files(tmp_path)
    assert target.mutant(good, 3) == target.mutant(good, 3)
    assert len({str(target.mutant(good, seed)) for seed in range(20)}) > 15
