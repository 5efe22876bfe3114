"""Mutations guided by coverage, by `atheris` (libFuzzer), which is no dependency: ``pip install atheris``.

Every target runs in a process of its own, that imports posepipe with counters in its branches. Functions that Numba
compiles bear no counters. New inputs mix libFuzzer's mutations with those of `structured`. Time is that of the
processor: a busy machine tries as many inputs as an idle one. `structured` opens inputs by libraries without any of
posepipe's checks; an input that ends the process there is none of posepipe's failures, and is tried no more.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.robustness.watchdog import SAVED, place_of
from tests.robustness.worker import ACCEPTED
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from tests.robustness.targets.target import Target

PACKAGES = ("posepipe", "synth", "apps")
_MAX_MEMORY_MB = 3000  # of the whole process, with the counters and the corpus
_MIN_SECONDS = 5
_MAX_WALL_SECONDS = 60.0  # of one input, on a machine with other work
_MAX_FAILURES = 20  # of one target, that is then left
_CASES, _MUTATED = "cases", "mutated"  #: files that tell how many inputs were read, and which is being mutated


def fuzz_by_coverage(names: Sequence[str], minutes: float, seed: int) -> int:
    """Try each target for an equal share of the processor's time; return 1 if there were failures."""
    results = [_fuzz_target(name, 60 * minutes / len(names), seed) for name in names]
    return int(any(results))


def _fuzz_target(name: str, seconds: float, seed: int) -> bool:
    """Try one target; libFuzzer ends at a hang, at too much memory and at a crash, and is started again."""
    until, cases, unmutated, failures = _children_s() + seconds, 0, 0, []
    while (left := until - _children_s()) > 0 and len(failures) < _MAX_FAILURES:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", __name__, name, str(max(_MIN_SECONDS, round(left))), str(seed % (1 << 31))]
            ran = subprocess.run(
                [*command, folder], cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
            )
            failures += re.findall("^FAILED.*", ran.stdout, re.MULTILINE)
            cases += _number(Path(folder) / _CASES)
            if ran.returncode and (mutated := Path(folder) / _MUTATED).exists():
                _forget(name, mutated.read_bytes())
                unmutated += 1
            elif ran.returncode:
                saved = SAVED / name / f"end-{seed}"
                shutil.copytree(Path(folder) / "files" / "whole", saved, dirs_exist_ok=True)
                failures.append(f"{name} ended with status {ran.returncode} ({saved}):\n{ran.stderr[-1000:]}")
        seed += 1
    print(f"{name}: {cases} cases, {unmutated} that could not be mutated, {len(failures)} failures")
    print("\n".join(failures), end="\n" * bool(failures), flush=True)
    return bool(failures)


def _number(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0


def _forget(name: str, data: bytes) -> None:
    """Remove an input from the corpus of a target."""
    for path in (SAVED / "corpus" / name).iterdir():
        if path.read_bytes() == data:
            path.unlink()


def _children_s() -> float:
    """Time of the processor that ended child processes took, seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _kernel_modules() -> list[str]:
    """Modules with functions that Numba compiles from their bytecode."""
    found = []
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "@njit" in path.read_text(encoding="utf-8"):
                found.append(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
    return found


class _Input:
    """Inputs of one target: the number of a file of its, and the content of that file."""

    def __init__(self, target: Target, folder: Path, seconds: float) -> None:
        self.target, self.folder, self.cases = target, folder, 0
        (folder / "whole").mkdir(parents=True)
        self.good = target.good_files(folder / "whole")
        self.names = list(self.good)
        self.places: set[str] = set()
        target.read(folder / "whole")
        self.until_s = time.process_time() + seconds
        self._mutated = folder.parent / _MUTATED
        self._count = (folder.parent / _CASES).open("w")

    def write_corpus(self, folder: Path) -> None:
        """Write the good files as first inputs, beside those that earlier runs found."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(self.names):
            (folder / str(number)).write_bytes(bytes([number]) + self.good[name])

    def mutated(self, data: bytes, max_size: int, seed: int) -> bytes:
        """Return another input: by libFuzzer, or inside the container of the file."""
        import atheris

        from tests.robustness.structured import mutate_file

        rng = Random(seed)
        if rng.random() < 0.5:
            return atheris.Mutate(data, max_size)
        self._mutated.write_bytes(data)
        try:
            return (data[:1] + mutate_file(rng, data[1:]))[:max_size]
        except Exception:  # an earlier mutation broke the container
            return atheris.Mutate(data, max_size)
        finally:
            self._mutated.unlink()

    def try_one(self, data: bytes) -> None:
        """Read the files with one of them replaced, and save what ends in another error than it may.

        Ends the process when its time is over; libFuzzer knows no time but that of the clock.
        """
        from tests.robustness.targets.target import write_files

        if time.process_time() > self.until_s:
            os._exit(0)
        self.cases += 1
        os.pwrite(self._count.fileno(), str(self.cases).encode(), 0)
        name = self.names[data[0] % len(self.names)] if data else self.names[0]
        write_files(self.folder / "whole", {**self.good, name: data[1:]})
        try:
            self.target.read(self.folder / "whole")
        except ACCEPTED:
            return
        except Exception as error:
            place = place_of(traceback.format_exc())
            if place not in self.places:
                self.places.add(place)
                saved = SAVED / self.target.name / hashlib.sha256(data).hexdigest()[:8]
                write_files(saved, {name: data[1:]})
                print(
                    f"FAILED {self.target.name}: {type(error).__name__}: {error!s:.200} (at {place}; {saved})",
                    flush=True,
                )


def main(arguments: Sequence[str]) -> None:
    """Try one target: its name, seconds, a seed, and an empty folder."""
    import atheris

    name, seconds, seed, folder = arguments
    with atheris.instrument_imports(include=list(PACKAGES), exclude=_kernel_modules()):
        from tests.robustness.targets.registry import TARGETS
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)
    tried = _Input(TARGETS[name], Path(folder) / "files", float(seconds))
    corpus = SAVED / "corpus" / name
    tried.write_corpus(corpus)
    options = [
        f"-seed={seed}",
        f"-timeout={_MAX_WALL_SECONDS:.0f}",
        f"-rss_limit_mb={_MAX_MEMORY_MB}",
        f"-artifact_prefix={folder}/",
        "-max_len=200000",
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], tried.try_one, custom_mutator=tried.mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
