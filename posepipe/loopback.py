"""Addresses that this machine alone can reach: where pages, streams and cameras listen unless a user names another."""

from __future__ import annotations

import ipaddress

LOOPBACK = "127.0.0.1"


def is_loopback(host: str) -> bool:
    """Whether a host, an address or "localhost", is of this machine alone; an empty host and other names are not."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
