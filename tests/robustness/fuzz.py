"""``python -m tests.robustness.fuzz``: mutated files of every kind that posepipe reads, for some minutes.

Failures are printed with target and seed, and their files lie in ``.fuzz``. A folder of these, moved to
``tests/robustness/cases``, is replayed by the tests from then on.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.robustness.targets.registry import TARGETS
from tests.robustness.watchdog import Failure, Watchdog

MAX_SHOWN = 2
"""Failures of one place of the program that are printed with their traceback."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz for some time; exit code 1 if there were failures."""
    args = _parse(arguments)
    names = [name for name in args.target or TARGETS if not missing_extras(name)]
    if args.coverage:
        from tests.robustness.coverage_guided import fuzz_by_coverage

        return fuzz_by_coverage(names, args.minutes, args.seed)
    failures = list(_failures(_jobs(args, names), args.minutes))
    return 1 if failures else 0


def missing_extras(name: str) -> list[str]:
    """Packages that a target needs and that are not installed."""
    return [package for package in TARGETS[name].extras if find_spec(package) is None]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.fuzz", description="mutate every kind of file")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000, help="first seed (default: by the clock)")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this kind; may be repeated")
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FOLDER", help="try saved cases, TARGET/NAME, again")
    parser.add_argument(
        "--coverage", action="store_true", help="guide mutations by coverage; needs `atheris`; minutes of the processor"
    )
    return parser.parse_args(arguments)


def _jobs(args: argparse.Namespace, names: Sequence[str]) -> Iterator[dict]:
    if args.replay:
        return ({"target": path.parent.name, "case": str(path.resolve())} for path in args.replay)
    print(f"{len(names)} targets, from seed {args.seed}", flush=True)
    return ({"target": name, "seed": seed} for seed in itertools.count(args.seed) for name in names)


def _failures(jobs: Iterator[dict], minutes: float) -> Iterator[Failure]:
    """Run jobs until time is up; print and yield failures."""
    places: Counter[str] = Counter()
    count, end = 0, time.monotonic() + 60 * minutes
    with Watchdog() as watchdog:
        for job in jobs:
            if time.monotonic() > end:
                break
            count += 1
            if failure := watchdog.run(job):
                places[failure.place] += 1
                if places[failure.place] <= MAX_SHOWN:
                    print(f"{failure.trace}\nFAILED {failure}\n", flush=True)
                yield failure
    print(f"{count} cases, {places.total()} failures in {len(places)} places")
    for place, number in places.most_common():
        print(f"  {number:6d}  {place}")


if __name__ == "__main__":
    sys.exit(main())
