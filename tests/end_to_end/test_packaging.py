"""What is built for others to install: sdist and wheel hold what they must, and the wheel runs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from posepipe import __version__
from tests.support.paths import ROOT

NEEDED = (
    "apps/data/demo.mcap",
    "apps/data/cut_out.mcap",
    "synth/data/body.npz",
    "synth/recipes/train.toml",
    "posepipe/body_model/human.npz",
    "posepipe/py.typed",
)
"""Files that commands read, beside their code."""
REALSENSE_WHEELS = {
    ("linux", "x86_64", "3.11"): True,
    ("linux", "aarch64", "3.12"): True,
    ("linux", "aarch64", "3.11"): False,
    ("linux", "armv7l", "3.12"): False,
    ("win32", "AMD64", "3.13"): True,
    ("win32", "ARM64", "3.13"): False,
    ("darwin", "x86_64", "3.12"): False,
    ("darwin", "arm64", "3.12"): False,
}
"""System, processor and Python version; whether the maker of RealSense cameras builds a package."""


@pytest.mark.parametrize(("platform", "has_wheel"), REALSENSE_WHEELS.items())
def test_the_realsense_extra_installs_where_there_is_a_package(platform, has_wheel):
    markers = pytest.importorskip("packaging.requirements")
    with open(ROOT / "pyproject.toml", "rb") as file:
        extra = tomllib.load(file)["project"]["optional-dependencies"]["realsense"]
    system, machine, python = platform
    here = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    chosen = [line for line in extra if markers.Requirement(line).marker.evaluate(here)]
    assert len(chosen) == has_wheel


@pytest.mark.slow
def test_wheel_and_sdist_are_whole_and_run(tmp_path):
    """The wheel is built from the sdist, as an index would; dependencies are those of this environment."""
    backend = pytest.importorskip("hatchling.build")
    code = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"

    def built(what: str, source: Path) -> Path:
        command = [sys.executable, "-c", code, what, str(tmp_path)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True, timeout=300)
        return tmp_path / done.stdout.split()[-1]

    assert backend
    sdist = built("build_sdist", ROOT)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    source = tmp_path / "source" / f"posepipe-{__version__}"
    assert (source / "tests" / "end_to_end" / "test_packaging.py").is_file()
    wheel = built("build_wheel", source)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {*NEEDED, "posepipe/_models/person.npz"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True, timeout=300)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "posepipe", "info", "person"]
    told = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=300
    ).stdout
    assert told.startswith("model person sha256:")
