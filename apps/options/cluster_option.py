"""The option ``--cluster``: workers of this machine or of many, instead of this process alone."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from posepipe.cluster.address import ClusterAddress, parse_address

if TYPE_CHECKING:
    from posepipe.cluster.cluster import Cluster


def add_cluster_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option; ``what`` says what the workers do."""
    parser.add_argument(
        "--cluster",
        type=cluster_address,
        metavar="ADDRESS|local[:N]",
        help=f"{what} on the workers of the dask scheduler at ADDRESS, or on N processes of this machine (local: one"
        " for each core); results are the same. Peers of a cluster run each other's code: read docs/guides/cluster.md",
    )


def cluster_address(text: str) -> ClusterAddress:
    """Return the address of a cluster."""
    try:
        return parse_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@contextmanager
def opened_cluster(args: argparse.Namespace) -> Iterator[Cluster | None]:
    """Open the cluster of the arguments; None without the option."""
    if args.cluster is None:
        yield None
        return
    from posepipe.cluster.cluster import open_cluster

    with open_cluster(args.cluster) as cluster:
        yield cluster
