"""Workers that compute at once in this process: a cluster without one, for what does not depend on processes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class InlineWorkers:
    """`posepipe.learn.shards.sharded_growth.Workers`; a handle is the result itself."""

    count: int

    def submit(self, function, *args):
        return function(*args)

    def submit_reporting(self, function, *args, on_progress):
        return function(*args, on_progress)

    def result(self, handle):
        return handle
