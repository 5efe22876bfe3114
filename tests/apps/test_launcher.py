"""The console command finds its own packages where the user's folder holds others of the same names."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from posepipe import __version__
from posepipe.__main__ import OWN_FOLDER, path_with_own_packages_first
from tests.support.paths import ROOT, WALK

SHORT_SEQUENCES = 'frames = 4\nsequence_frames = 2\nposes = "all"\nnoise = false\n'
"""Two recordings: one for each of two workers."""
SCRIPT = "posepipe.exe" if os.name == "nt" else "posepipe"


@pytest.fixture
def others(tmp_path):
    """A folder with packages ``apps`` and ``synth`` that have nothing to do with us."""
    for name in ("apps", "synth"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'raise ImportError("{name} of the user")\n')
    (tmp_path / "short.toml").write_text(SHORT_SEQUENCES)
    return tmp_path


def run_there(folder: Path, *command: str | Path) -> str:
    """Run a command in a folder that is first on the module search path; what it printed."""
    environment = {**os.environ, "PYTHONPATH": "."}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def console_script(folder: Path) -> Path:
    """The installed command, if it starts the launcher that is tested here."""
    script = folder / SCRIPT
    if not script.exists():
        pytest.skip("posepipe is not installed in this environment")
    return script


def test_the_command_runs_beside_other_apps_and_synth(others):
    script = console_script(Path(sysconfig.get_path("scripts")))
    assert run_there(others, script, "--version") == f"posepipe {__version__}\n"
    assert run_there(others, script, "info", WALK).startswith("60 depth frames")


def test_workers_find_our_synth_as_well(others):
    script = console_script(Path(sysconfig.get_path("scripts")))
    command = ["synth", "data", "--recipe", "short.toml", "--workers", "2"]
    assert run_there(others, script, *command) == "4 labelled frames -> data\n"
    assert len(list((others / "data").glob("*.mcap"))) == 2


def test_python_m_posepipe_is_the_same_command(others):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", str(ROOT)])}
    words = [sys.executable, "-m", "posepipe", "--version"]
    done = subprocess.run(words, cwd=others, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"posepipe {__version__}\n"), done.stderr


def test_folders_that_hide_our_packages_come_after_ours(others, tmp_path_factory):
    plain, own = tmp_path_factory.mktemp("plain"), OWN_FOLDER
    before = [str(plain), str(others), "stdlib", str(own), "more"]
    assert path_with_own_packages_first(before, own) == [str(plain), "stdlib", str(own), str(others), "more"]
    assert path_with_own_packages_first([str(others)], own) == [str(own), str(others)]
    assert path_with_own_packages_first(["stdlib", str(own), "more"], own) == ["stdlib", str(own), "more"]


@pytest.mark.slow
def test_an_installed_wheel_runs_beside_other_apps_and_synth(others, tmp_path_factory):
    """Dependencies are those of this environment: only the wheel is new."""
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", ROOT], check=True, timeout=600)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    assert run_there(others, scripts / SCRIPT, "--version") == f"posepipe {__version__}\n"
    found = run_there(others, python, "-c", "import posepipe.__main__ as m; print(m.OWN_FOLDER)")
    assert Path(found.strip()) == site.resolve()
    command = ["synth", "data", "--recipe", "short.toml", "--workers", "2"]
    assert run_there(others, scripts / SCRIPT, *command) == "4 labelled frames -> data\n"
    command[1] = "more"
    assert run_there(others, python, "-m", "posepipe", *command) == "4 labelled frames -> more\n"
