"""Processes of a local cluster, which tests kill and look at."""

from __future__ import annotations

import os
import signal

import psutil

from posepipe.cluster.cluster import Cluster


def worker_processes(cluster: Cluster) -> list[int]:
    """Process ids of the workers that are connected now."""
    return sorted(cluster._client.run(os.getpid).values())


def kill_a_worker(cluster: Cluster) -> None:
    """Kill one worker, as the kernel does when memory is short."""
    os.kill(worker_processes(cluster)[0], signal.SIGKILL)


def listening_addresses() -> set[str]:
    """Addresses at which this process and its children accept connections."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    connections = [each for process in family for each in process.net_connections("inet")]
    return {each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN}


class KillingWorkers:
    """Workers of a cluster, one of which is killed just after some calls of a function were handed out.

    Parameters
    ----------
    cluster : Cluster
    function : name of the function
    moments : numbers of its calls, from 1
    """

    def __init__(self, cluster: Cluster, function: str, moments: set[int]) -> None:
        self._cluster = cluster
        self._function, self._moments = function, moments
        self._calls, self.kills = 0, 0
        self.submit_reporting, self.result = cluster.submit_reporting, cluster.result

    @property
    def count(self) -> int:
        return self._cluster.count

    def submit(self, function, *args):
        handle = self._cluster.submit(function, *args)
        self._calls += function.__name__ == self._function
        if self._calls in self._moments:
            self._moments.discard(self._calls)
            kill_a_worker(self._cluster)
            self.kills += 1
        return handle
