"""Addresses of clusters: what users may write, and which of them cross a network unprotected."""

from __future__ import annotations

import os

import pytest

from posepipe.cluster.address import ClusterAddress, parse_address


def test_local_means_one_worker_for_each_core():
    assert parse_address("local") == ClusterAddress(workers=os.cpu_count())
    assert parse_address("local:3") == ClusterAddress(workers=3)
    assert str(parse_address("local:3")) == "local:3"


@pytest.mark.parametrize(
    ("text", "scheduler"),
    [
        ("head:8786", "tcp://head:8786"),
        ("tcp://10.0.0.5:8786", "tcp://10.0.0.5:8786"),
        ("tls://head.example.org:8786", "tls://head.example.org:8786"),
        ("tls://[::1]:8786", "tls://[::1]:8786"),
    ],
)
def test_a_scheduler_is_named_by_host_and_port(text, scheduler):
    assert parse_address(text) == ClusterAddress(scheduler=scheduler)


@pytest.mark.parametrize(
    "text",
    ["", "local:0", "local:", "local:x", "local:²", "local:99999", "head", "http://head:8786", "tcp://head", ":8786"],
)
def test_other_addresses_are_refused(text):
    with pytest.raises(ValueError, match="wanted"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("local:2", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("localhost:8786", False),
        ("tls://10.0.0.5:8786", False),
        ("tcp://10.0.0.5:8786", True),
        ("head:8786", True),
    ],
)
def test_plain_messages_to_another_machine_are_open(text, is_open):
    assert parse_address(text).is_open == is_open
