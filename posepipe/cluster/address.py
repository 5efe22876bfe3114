"""Names of clusters, as users write them: ``local``, ``local:4``, or the address of a dask scheduler."""

from __future__ import annotations

import os
from dataclasses import dataclass

from posepipe.loopback import is_loopback

LOCAL = "local"
MAX_LOCAL_WORKERS = 1024


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Either a number of processes of this machine, or the scheduler of a cluster that runs."""

    workers: int = 0  #: processes to start here; 0 = none, the cluster runs already
    scheduler: str = ""  #: such as tcp://10.0.0.5:8786 or tls://head:8786

    def __str__(self) -> str:
        return self.scheduler or f"{LOCAL}:{self.workers}"

    @property
    def is_open(self) -> bool:
        """Whether its messages cross a network unprotected: neither this machine's own, nor under TLS."""
        protocol, _, place = self.scheduler.rpartition("://")
        host = place.rpartition(":")[0].strip("[]")
        return bool(self.scheduler) and protocol != "tls" and not is_loopback(host)


def parse_address(text: str) -> ClusterAddress:
    """Parse ``local``, ``local:N``, ``HOST:PORT``, ``tcp://HOST:PORT`` or ``tls://HOST:PORT``.

    Raises
    ------
    ValueError
        For anything else.
    """
    name, _, count = text.partition(":")
    if name == LOCAL:
        workers = os.cpu_count() or 1 if text == LOCAL else int(count) if count.isascii() and count.isdigit() else 0
        if not 1 <= workers <= MAX_LOCAL_WORKERS:
            raise ValueError(f"wanted {LOCAL} or {LOCAL}:N with 1 to {MAX_LOCAL_WORKERS} workers, got {text!r}")
        return ClusterAddress(workers=workers)
    protocol, _, place = text.rpartition("://")
    host, _, port = place.rpartition(":")
    if protocol not in ("", "tcp", "tls") or not host or not (port.isascii() and port.isdigit()):
        raise ValueError(f"wanted local[:N], tcp://HOST:PORT or tls://HOST:PORT, got {text!r}")
    return ClusterAddress(scheduler=text if protocol else f"tcp://{text}")
